using System.Diagnostics.CodeAnalysis;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Interleaving.Tests.Exploring;
using ActOp.Mesh;
using ActOp.Runtime.Calls;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>The peers of a node, as entries and cancellations see them.</summary>
internal sealed class PeerTable
{
    internal const long LongestUnlistedMs = 5_000;

    internal NodeChannels Channels { get; } = new();

    internal WaitingBytes Waiting { get; set; } = null!;

    /// <summary>Dials a silo; null if the view does not list it.</summary>
    internal Func<SiloAddress, Peer?> Dialled { get; init; } = static _ => null;

    /// <summary>Gets the frames that are given up.</summary>
    internal Action<byte[]> GivenUp { get; init; } = static _ => { };

    internal Queue<Action> Posted { get; } = new();

    internal long Now { get; set; }

    internal Peer? Dial(SiloAddress address) => Dialled(address);

    internal void GiveUp(SiloAddress address, byte[] frame) => GivenUp(frame);

    internal void Post(Action step)
    {
        Point.Fence("control");
        Posted.Enqueue(step);
    }

    internal bool IsKnown(SiloAddress silo) => !silo.IsClient;

    internal bool IsConnected(SiloAddress silo) => !silo.IsClient;

    /// <summary>The thread of the control stage.</summary>
    internal void RunPosted()
    {
        while (true)
        {
            Interleaver.Current.Block(() => Posted.Count > 0, isLock: false);
            Posted.Dequeue()();
        }
    }
}

/// <summary>None.</summary>
internal sealed class NodeChannels
{
    internal int Count => 0;

    internal int MaxFrameBytesOf(int channel) => 100 + channel;

    internal string LimitOf(int channel) => "limit " + channel;
}

/// <summary>The part of the real one in which other threads may cancel a request. Frames are objects.</summary>
internal sealed class FrameWriter(LocalNode local, Action<SiloAddress, object> send)
{
    internal void SendRequest(Call call, SiloAddress target)
    {
        var ticket = call.Ticket;
        if (call.IsClaimed)
            return;
        var leavesHere = call.Origin != CallOrigin.Local;
        if (!leavesHere)
            Volatile.Write(ref call.Remote, target);
        var cancellation = call.Cancellation!;
        if (!(leavesHere ? cancellation.TryLeave(target, until: 100) : cancellation.TrySend(ticket)))
        {
            if (call.TryClaim(ticket))
            {
                call.Error = Cancellations.NeverRan(call);
                call.Publish();
            }

            return;
        }

        send(target, leavesHere ? (call.Remote, call.ReplyTo) : ((object)local.Address, (ulong)ticket));
        if (!leavesHere && cancellation.EndSend(ticket))
            SendCancel(call, target, ticket);
        if (leavesHere && call.TryClaim())
            call.Recycle();
    }

    internal void SendCancel(Call call, SiloAddress target, long ticket) =>
        SendCancel(target, new CancelFrame(local.Address, (ulong)ticket, call.TargetId, 0, 100));

    internal void SendCancel(SiloAddress target, in CancelFrame frame) => send(target, frame);
}

internal sealed record ForwardedTo(SiloAddress Silo, SiloAddress By)
{
    internal static ForwardedTo? Note(ref object? remote, long ticket) => ticket < 0 ? (ForwardedTo)remote! : null;
}

internal enum FrameKind : byte
{
    Cancel,
}

internal static class Addresses
{
    internal static void Write(ref WireWriter writer, SiloAddress address) => throw new NotSupportedException(address.Name);

    internal static SiloAddress Read(ref WireReader reader) => throw new NotSupportedException(nameof(Read));
}

internal static class GrainIdBytes
{
    internal static void Write(ref WireWriter writer, GrainId id) => throw new NotSupportedException(id.Name);
}

internal sealed class IdIntern
{
    internal static IdIntern Current { get; } = new();

    internal GrainId Read(ref WireReader reader) => throw new NotSupportedException(nameof(Read));
}

internal static class RequestDeadline
{
    internal static void Shorten(byte[] frame, long waited) => ArgumentOutOfRangeException.ThrowIfNegative(waited, frame.Length.ToString());
}

/// <summary>A node as a sender.</summary>
internal sealed class Sender
{
    internal HeldFrames Held { get; } = new();

    internal TypeShare? Types { get; set; }
}

internal sealed class HeldFrames
{
    internal int Cleared { get; private set; }

    internal void Clear() => Cleared++;
}

/// <summary>An item of a send stage.</summary>
internal interface IStageItem
{
    void Execute();
}

/// <summary>A send stage with one thread.</summary>
internal sealed class Stage(bool isAsleep)
{
    [ThreadStatic]
    private static bool t_willPause;

    private readonly Queue<IStageItem> _queue = new();

    /// <summary>The calling thread pauses later: it writes frames itself.</summary>
    internal static bool WillPause
    {
        get => t_willPause;
        set => t_willPause = value;
    }

    internal bool IsAsleep => isAsleep;

    internal void Post(IStageItem item)
    {
        Point.Fence("send stage");
        _queue.Enqueue(item);
    }

    /// <summary>The thread of the stage. It waits at the end of a schedule.</summary>
    internal void Work()
    {
        while (true)
        {
            Interleaver.Current.Block(() => _queue.Count > 0, isLock: false);
            _queue.Dequeue().Execute();
        }
    }
}

/// <summary>Keeps what is observed.</summary>
internal sealed class Meter
{
    internal Func<long> Observed { get; private set; } = static () => 0;

    internal void CreateObservableUpDownCounter(string name, Func<long> observe, string unit) =>
        Observed = name.Length + unit.Length > 0 ? observe : Observed;

    internal Counter<T> CreateCounter<T>(string name, string unit) => new(name + unit);
}

internal sealed class Counter<T>(string name)
{
    internal List<T> Added { get; } = [];

    internal void Add(T value) => Added.Add(name.Length > 0 ? value : default!);
}

/// <summary>Each method is one step.</summary>
internal sealed class ConcurrentDictionary<TKey, TValue>
    where TKey : notnull
{
    private readonly Dictionary<TKey, TValue> _values = [];

    internal int Count => _values.Count;

    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator() => _values.ToList().GetEnumerator();

    internal bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        Point.Fence("table");
        return _values.TryGetValue(key, out value);
    }

    internal TValue GetOrAdd(TKey key, Func<TKey, TValue> make)
    {
        Point.Fence("table");
        if (!_values.TryGetValue(key, out var value))
            _values[key] = value = make(key);
        return value;
    }

    internal bool TryRemove(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        Point.Fence("table");
        return _values.Remove(key, out value);
    }

    internal bool TryRemove(KeyValuePair<TKey, TValue> pair)
    {
        Point.Fence("table");
        return _values.TryGetValue(pair.Key, out var value) && Equals(value, pair.Value) && _values.Remove(pair.Key);
    }
}
