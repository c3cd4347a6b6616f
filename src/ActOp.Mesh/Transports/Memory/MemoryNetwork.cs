using System.Net;

namespace ActOp.Mesh.Transports.Memory;

/// <summary>
/// A network in memory: connects the transports of several nodes in one process, bytes in order as TCP has them, with faults on demand. Has
/// no threads: bytes move when they are sent, or when the clock (<see cref="TimeProvider"/>) fires for a delay.
/// <para>Threads: every member from any thread; one gate guards everything (tests, not throughput).</para>
/// </summary>
public sealed class MemoryNetwork
{
    private readonly TimeProvider _time;
    private readonly int _pipeBytes;
    private readonly Dictionary<EndPoint, MemoryListener> _listeners = [];
    private readonly List<MemoryStreamEnd> _ends = [];
    private readonly HashSet<(EndPoint, EndPoint)> _cut = [];
    private int _nextPort = 50_000;

    /// <summary>Creates a network without nodes.</summary>
    /// <param name="time">The clock of delays.</param>
    /// <param name="pipeBytes">Bytes under way per connection and direction before the sender is blocked.</param>
    public MemoryNetwork(TimeProvider time, int pipeBytes = 64 << 10)
    {
        _time = time;
        _pipeBytes = pipeBytes;
    }

    /// <summary>How long bytes take from one node to another; called per send under the network's gate. Null: no time.</summary>
    public Func<EndPoint, EndPoint, TimeSpan>? Delay { get; set; }

    // Monitor, because readiness waits on it.
    internal object Gate { get; } = new();

    /// <summary>The transport of one node. Its dials come from <paramref name="local"/>, by which faults name it.</summary>
    public Transport CreateTransport(EndPoint local) => new MemoryTransport(this, local);

    /// <summary>Cuts the way between two nodes: bytes sent stay under way, new connections find nobody.</summary>
    public void Partition(EndPoint one, EndPoint other)
    {
        lock (Gate)
        {
            _cut.Add((one, other));
            _cut.Add((other, one));
        }
    }

    /// <summary>Ends a partition; what stayed under way arrives.</summary>
    public void Heal(EndPoint one, EndPoint other)
    {
        lock (Gate)
        {
            _cut.Remove((one, other));
            _cut.Remove((other, one));
            foreach (var end in _ends.ToArray())
                Notice(end);
        }
    }

    /// <summary>Breaks every connection between two nodes; what is under way is lost.</summary>
    /// <returns>Connections broken.</returns>
    public int Break(EndPoint one, EndPoint other)
    {
        lock (Gate)
        {
            var broken = 0;
            foreach (var end in _ends)
            {
                if ((end.Local, end.RemoteEndPoint) is var way && (way == (one, other) || way == (other, one)))
                {
                    end.IsBroken = true;
                    end.Report(ReadyKinds.Read | ReadyKinds.Hangup);
                    broken++;
                }
            }

            return broken / 2;
        }
    }

    internal MemoryListener Listen(EndPoint endPoint, Action<ByteStream> accepted)
    {
        lock (Gate)
        {
            endPoint = endPoint is IPEndPoint { Port: 0 } ip ? new IPEndPoint(ip.Address, _nextPort++) : endPoint;
            var listener = new MemoryListener(this, endPoint, accepted);
            if (!_listeners.TryAdd(endPoint, listener))
                throw new InvalidOperationException($"Another listener is at {endPoint} already.");

            return listener;
        }
    }

    internal void StopListening(MemoryListener listener)
    {
        lock (Gate)
            _listeners.Remove(listener.EndPoint);
    }

    internal ByteStream Dial(EndPoint local, EndPoint endPoint)
    {
        MemoryStreamEnd near;
        MemoryListener? listener;
        MemoryStreamEnd far;
        lock (Gate)
        {
            var isCut = _cut.Contains((local, endPoint));
            listener = isCut ? null : _listeners.GetValueOrDefault(endPoint);
            near = new MemoryStreamEnd(this, local, endPoint, new MemoryPipe(_pipeBytes)) { IsRefused = !isCut && listener is null };
            if (listener is null)
                return near;

            far = new MemoryStreamEnd(this, endPoint, local, new MemoryPipe(_pipeBytes)) { Other = near };
            near.Other = far;
            _ends.Add(near);
            _ends.Add(far);
        }

        listener.Accepted(far);
        return near;
    }

    internal int Carry(MemoryStreamEnd from, MemoryStreamEnd to, ReadOnlySpan<byte> bytes)
    {
        Invariant.Entered(Gate);
        var delay = Delay?.Invoke(from.Local, to.Local) ?? TimeSpan.Zero;
        var taken = to.Inbound.Write(bytes, _time.GetTimestamp() + (long)(delay.TotalSeconds * _time.TimestampFrequency));
        Notice(to);
        return taken;
    }

    /// <summary>Lets arrive at an end what can, and tells its readiness set.</summary>
    internal void Notice(MemoryStreamEnd end)
    {
        Invariant.Entered(Gate);
        if (end.IsDisposed || _cut.Contains((end.RemoteEndPoint, end.Local)))
            return;

        var now = _time.GetTimestamp();
        var next = end.Inbound.Arrive(now);
        if (next is { } due)
            Await(end, _time.GetElapsedTime(now, due));

        var kinds = end.Inbound.HasArrived ? ReadyKinds.Read : 0;
        kinds |= end.Inbound.IsFinished && next is null ? ReadyKinds.Read | ReadyKinds.Hangup : 0;
        if (kinds != ReadyKinds.None)
            end.Report(kinds);
    }

    internal void Forget(MemoryStreamEnd end) => _ends.Remove(end);

    // Apart, because its closure would be allocated by the caller even when there is nothing to wait for.
    private void Await(MemoryStreamEnd end, TimeSpan delay)
    {
        end.Arrival?.Dispose();
        end.Arrival = _time.CreateTimer(_ => Arrived(end), null, delay, Timeout.InfiniteTimeSpan);
    }

    private void Arrived(MemoryStreamEnd end)
    {
        lock (Gate)
            Notice(end);
    }
}

internal sealed class MemoryTransport(MemoryNetwork network, EndPoint local) : Transport
{
    public override ByteStream Dial(EndPoint endPoint) => network.Dial(local, endPoint);

    public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed)
        => network.Listen(endPoint, accepted);

    public override Readiness CreateReadiness() => new MemoryReadiness(network);
}

internal sealed class MemoryListener(MemoryNetwork network, EndPoint endPoint, Action<ByteStream> accepted) : Listener
{
    public override EndPoint EndPoint { get; } = endPoint;

    public void Accepted(ByteStream stream) => accepted(stream);

    public override void Dispose() => network.StopListening(this);
}
