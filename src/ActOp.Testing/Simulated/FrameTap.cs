using System.Buffers.Binary;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using ActOp.Wire;

namespace ActOp.Testing.Simulated;

/// <summary>Sees the frames between the nodes of a run, from the bytes on the wires, and decides which are lost.</summary>
/// <remarks>A frame counts when its last byte is sent.</remarks>
internal abstract class FrameTap : IWireTap
{
    private static readonly WireSession NoReferences = new(null);

    private readonly Dictionary<WireEnd, FrameCutter> _cutters = [];

    /// <summary>Frames are seen while this is set.</summary>
    internal bool IsOn { get; set; }

    public bool Sends(WireEnd from, ReadOnlySpan<byte> bytes)
    {
        if (!_cutters.TryGetValue(from, out var cutter))
            _cutters.Add(from, cutter = new FrameCutter());
        cutter.Add(bytes);
        var isLost = false;
        while (cutter.TryTake(out var frame))
        {
            if (!IsOn || frame.Length <= 2 || from.Other is not { } other)
                continue;
            var reader = new WireReader(frame, NoReferences);
            isLost |= Loses(from, other.Machine, (FrameKind)reader.ReadByte(), ref reader);
        }

        return isLost;
    }

    public virtual TableFate Arrives(Machine machine, TableRequest request) => TableFate.Answered;

    /// <summary>A frame is sent. True if it is lost.</summary>
    /// <param name="from">The end that sends it.</param>
    /// <param name="to">The machine at the other end.</param>
    /// <param name="kind">Its kind.</param>
    /// <param name="reader">Behind the kind.</param>
    private protected abstract bool Loses(WireEnd from, Machine to, FrameKind kind, ref WireReader reader);

    /// <summary>The header of a request, and its interface and method.</summary>
    private protected static (RequestHeader Header, string Kind) ReadRequest(ref WireReader reader)
    {
        var header = RequestHeader.Read(ref reader, out _, out _, out _);
        return (header, TypeManifest.FindMethod(header.MethodId) is { } method ? method.InterfaceType.Name + "." + method.Name : "unknown");
    }
}

/// <summary>Cuts the bytes of one direction of a connection into frames.</summary>
internal sealed class FrameCutter
{
    private const uint KeepAliveMark = 0xFFFF_FFFE;
    private const int PrefixBytes = 4;

    private byte[] _bytes = new byte[1024];
    private int _from;
    private int _until;

    internal void Add(ReadOnlySpan<byte> bytes)
    {
        if (_from > 0)
        {
            _bytes.AsSpan(_from, _until - _from).CopyTo(_bytes);
            (_from, _until) = (0, _until - _from);
        }

        if (_bytes.Length < _until + bytes.Length)
            Array.Resize(ref _bytes, Math.Max(_until + bytes.Length, 2 * _bytes.Length));
        bytes.CopyTo(_bytes.AsSpan(_until));
        _until += bytes.Length;
    }

    /// <summary>The body of the next complete frame, until the next call of this object.</summary>
    internal bool TryTake(out ReadOnlySpan<byte> frame)
    {
        while (_until - _from >= PrefixBytes)
        {
            var length = BinaryPrimitives.ReadUInt32LittleEndian(_bytes.AsSpan(_from));
            if (length == KeepAliveMark)
            {
                _from += PrefixBytes;
                continue;
            }

            if (_until - _from - PrefixBytes < length)
                break;
            frame = _bytes.AsSpan(_from + PrefixBytes, (int)length);
            _from += PrefixBytes + (int)length;
            return true;
        }

        frame = default;
        return false;
    }
}
