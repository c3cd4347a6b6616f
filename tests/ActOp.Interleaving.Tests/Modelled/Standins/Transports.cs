using ActOp.Interleaving.Tests.Exploring;

namespace ActOp.Mesh.Transports;

/// <summary>A stream that takes a few bytes, then waits until the network has taken them: readiness is edge-triggered.</summary>
/// <param name="room">Bytes that it takes before it is full.</param>
internal sealed class ByteStream(int room)
{
    internal const int WouldBlock = -1;
    internal const int Failed = -2;
    internal const int Refused = -3;

    private readonly List<string> _findings = [];
    private readonly int _room = room;
    private int _left = room;
    private int _inside;

    internal bool EndsLater => false;

    /// <summary>All bytes that were taken, in order.</summary>
    internal List<byte> Taken { get; } = [];

    /// <summary>After so many bytes the connection breaks.</summary>
    internal int BreaksAfter { get; init; } = int.MaxValue;

    internal bool IsFinished { get; private set; }

    internal bool IsDisposed { get; private set; }

    internal bool IsFull => _left == 0;

    internal string? Finding => _findings.FirstOrDefault();

    internal int Send(Span<byte> bytes)
    {
        if (_inside++ > 0)
            _findings.Add("two threads send at the same time");
        Point.Fence("stream");
        _inside--;
        if (IsDisposed || IsFinished)
            _findings.Add("bytes were sent after the end of the stream");
        if (Taken.Count >= BreaksAfter)
            return Failed;
        var taken = Math.Min(_left, bytes.Length);
        _left -= taken;
        Taken.AddRange(bytes[..taken].ToArray());
        return taken == 0 ? WouldBlock : taken;
    }

    internal void FinishSending()
    {
        Point.Fence("stream");
        if (IsFinished)
            _findings.Add("the stream was finished twice");
        IsFinished = true;
    }

    internal void Dispose()
    {
        if (_inside > 0)
            _findings.Add("the stream was freed while a thread sends");
        IsDisposed = true;
    }

    /// <summary>The network takes what is there, and reports room: once for each time that the stream was full.</summary>
    internal void RunNetwork(Action report)
    {
        while (true)
        {
            Interleaver.Current.Block(() => _left == 0 && !IsDisposed, isLock: false);
            _left = _room;
            report();
        }
    }
}
