using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.InteropServices;
using ActOp.Calls;
using ActOp.Runtime.Calls;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>What the receivers of a notification or broadcast get: a method with its context, trace and arguments.</summary>
/// <remarks>
/// Belongs to its <see cref="FanoutSender"/>. Keeps the first call with the content: if nobody waits for it, until all is sent; otherwise
/// it is its caller's from the first frame on, and not looked at any more.
/// </remarks>
/// <param name="template">The first call.</param>
/// <param name="number">The place among the contents of the notification.</param>
/// <param name="bytes">What was encoded; null if that may be done later.</param>
internal sealed class FanoutContent(Call template, int number, byte[]? bytes)
{
    internal int Number => number;

    internal Call Template => template;

    internal byte[]? Bytes { get; set; } = bytes;

    internal bool IsOneWay { get; } = template.Origin == CallOrigin.Nobody;

    internal string MethodName { get; } = template.Method.ActivityName;

    /// <summary>The number of the receiver that has got it last.</summary>
    internal int LastReceiver { get; set; }

    /// <summary>Whether a call may have this content, if its arguments are the same.</summary>
    internal bool IsOf(Call call) =>
        ReferenceEquals(template.Method, call.Method) && template.Origin == call.Origin && ReferenceEquals(template.Context, call.Context)
        && ReferenceEquals(template.Trace, call.Trace) && ReferenceEquals(template.Reference!.Shared, call.Reference!.Shared);

    /// <summary>All is sent.</summary>
    internal void Return()
    {
        if (IsOneWay && template.TryClaim())
            template.Recycle();
    }
}

/// <summary>The receivers of one content behind one link.</summary>
/// <remarks>Belongs to its <see cref="FanoutSender"/>. Holds a buffer of the shared pool until <see cref="Return"/>.</remarks>
internal sealed class FanoutList(FanoutContent content)
{
    private byte[] _receivers = ArrayPool<byte>.Shared.Rent(64 * FanoutFrame.DigestBytes);
    private int _length;
    private List<(Call Call, long Ticket)>? _waiting;

    /// <summary>Of grains, where each begins; null for observers, which have all the same length.</summary>
    private List<int>? _starts;

    internal FanoutContent Content => content;

    internal int Count { get; private set; }

    /// <summary>No more may be added.</summary>
    internal bool IsFull => Count == FanoutFrame.MaxReceivers || _length >= GrainFanoutFrame.MaxReceiverBytes;

    /// <summary>The latest deadline: no call is dropped before its caller has given it up.</summary>
    internal long Deadline { get; private set; }

    /// <summary>The header of the request, and who sends it. Valid if <see cref="IsPrepared"/>.</summary>
    internal RequestHeader Header { get; set; }

    /// <inheritdoc cref="Header"/>
    internal GrainId Source { get; set; }

    internal bool IsPrepared { get; set; }

    /// <summary>One of the receivers, for the log; a frame for it alone is an ordinary request.</summary>
    private GrainId First { get; set; }

    /// <summary>Adds an observer.</summary>
    internal void Add(GrainId receiver, ReadOnlySpan<byte> digest)
    {
        if (Count == 0)
            First = receiver;
        EnsureRoom(digest.Length);
        digest.CopyTo(_receivers.AsSpan(_length));
        _length += digest.Length;
        Count++;
    }

    /// <summary>Adds a grain.</summary>
    internal void AddGrain(GrainId receiver)
    {
        if (Count == 0)
            First = receiver;
        EnsureRoom(GrainFanoutFrame.MaxBytesOf(receiver));
        (_starts ??= []).Add(_length);
        _length += GrainFanoutFrame.WriteReceiver(_receivers.AsSpan(_length), receiver);
        Count++;
    }

    /// <summary>How many receivers from one on have no more than so many bytes; 1 at least.</summary>
    internal int CountWithin(int from, int bytes)
    {
        if (_starts is null)
            return Math.Clamp(bytes / FanoutFrame.BytesOf(content.IsOneWay), 1, Count - from);
        var until = from + 1;
        while (until < Count && EndOf(until) - StartOf(from) <= bytes)
            until++;
        return until - from;
    }

    /// <summary>The node owes the answer from here on, so the call ends if the node does.</summary>
    internal void AddWaiting(Call call, SiloAddress node)
    {
        var ticket = call.Ticket;
        EnsureRoom(sizeof(long));
        BinaryPrimitives.WriteUInt64LittleEndian(_receivers.AsSpan(_length), (ulong)ticket);
        _length += sizeof(long);
        Deadline = Math.Max(Deadline, call.Deadline);
        Volatile.Write(ref call.Remote, node);
        (_waiting ??= []).Add((call, ticket));
    }

    /// <summary>Writes a frame up to its content.</summary>
    internal void Write(ref WireWriter writer, ReadOnlySpan<byte> prefix, int from, int count)
    {
        var header = Header;
        if (Count == 1)
        {
            header.ReplyTo = (ulong)(_waiting?[0].Ticket ?? (long)header.ReplyTo);
            header.Write(ref writer, First, Source);
            return;
        }

        var receivers = _receivers.AsSpan(StartOf(from)..EndOf(from + count - 1));
        if (_starts is null)
            FanoutFrame.Write(ref writer, content.IsOneWay, prefix, receivers);
        else
            GrainFanoutFrame.Write(ref writer, content.IsOneWay, First.Type.AsSpan(), count, receivers);
        header.Write(ref writer, default, Source);
    }

    /// <summary>Calls were not sent. Those that somebody waits for end with the reason, others are counted.</summary>
    internal void Fail(CallSender calls, Exception reason, int from, int count)
    {
        if (content.IsOneWay)
            calls.Lost(content.MethodName, First, reason, count);
        foreach (var (call, ticket) in CollectionsMarshal.AsSpan(_waiting).Slice(content.IsOneWay ? 0 : from, content.IsOneWay ? 0 : count))
        {
            if (!call.TryClaim(ticket))
                continue;
            call.Error = reason;
            call.Publish();
        }
    }

    internal void Return()
    {
        ArrayPool<byte>.Shared.Return(_receivers);
        _receivers = [];
    }

    private int StartOf(int index) => _starts is null ? index * FanoutFrame.BytesOf(content.IsOneWay) : _starts[index];

    private int EndOf(int index) => index + 1 < Count ? StartOf(index + 1) : _length;

    private void EnsureRoom(int bytes)
    {
        if (_receivers.Length - _length >= bytes)
            return;
        var larger = ArrayPool<byte>.Shared.Rent(Math.Max(2 * _receivers.Length, _length + bytes));
        _receivers.AsSpan(0, _length).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(_receivers);
        _receivers = larger;
    }
}
