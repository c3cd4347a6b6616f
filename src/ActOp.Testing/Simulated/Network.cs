using System.Net;
using ActOp.Mesh.Transports;

namespace ActOp.Testing.Simulated;

/// <summary>Byte streams between machines: in order, at their speed, with whatever faults are set.</summary>
/// <remarks>
/// Bytes under way between machines that cannot reach each other wait, as TCP sends them again and again, and arrive after the partition.
/// </remarks>
internal sealed class Network(Pump pump, Dice dice, Wires wires)
{
    private readonly Dictionary<EndPoint, (Machine Machine, Action<ByteStream> Accepted)> _listeners = [];
    private readonly HashSet<(int From, int To)> _cut = [];
    private readonly Dictionary<(int From, int To), int> _slow = [];
    private readonly List<Connection> _connections = [];

    internal Pump Pump => pump;

    internal Dice Dice => dice;

    internal Wires Wires => wires;

    /// <summary>Sees what is sent; null if nobody does.</summary>
    internal IWireTap? Tap { get; set; }

    /// <summary>Connections that are open at one end or both.</summary>
    internal IReadOnlyList<Connection> Connections => _connections;

    internal bool IsCut(int from, int to) => _cut.Contains((from, to));

    /// <summary>Hosts without power: nobody there says that nobody is there.</summary>
    internal HashSet<int> Dark { get; } = [];

    internal bool IsWhole => _cut.Count == 0 && _slow.Count == 0;

    /// <summary>Nothing gets from one machine to the other; back it does, unless that way is cut too.</summary>
    internal void Cut(int from, int to) => _cut.Add((from, to));

    /// <summary>Ends a cut of one direction: what has waited arrives now.</summary>
    internal void Release(int from, int to)
    {
        if (_cut.Remove((from, to)))
            ContinueAll();
    }

    internal void SlowDown(int from, int to, int factor) => _slow[(from, to)] = factor;

    /// <summary>Ends all partitions and slowness between two hosts, in both directions.</summary>
    internal void Heal(int one, int other)
    {
        _cut.Remove((one, other));
        _cut.Remove((other, one));
        _slow.Remove((one, other));
        _slow.Remove((other, one));
        ContinueAll();
    }

    /// <summary>What has waited for the end of a cut goes on, where it may.</summary>
    private void ContinueAll()
    {
        foreach (var connection in _connections.ToArray())
            connection.Continue();
    }

    internal void HealAll()
    {
        _cut.Clear();
        _slow.Clear();
        foreach (var connection in _connections.ToArray())
        {
            if (connection.IsBlackHole)
                connection.Reset(tellNear: true, tellFar: true);
            else
                connection.Continue();
        }
    }

    /// <summary>From the sending of the last bit of something to its arrival.</summary>
    internal long TimeOf(Machine from, Machine to) =>
        (wires.Latency + dice.Exponential(wires.Jitter)) * _slow.GetValueOrDefault((from.Host, to.Host), 1);

    /// <summary>How long a connection is busy with sending so much.</summary>
    internal long SendingTimeOf(Machine from, Machine to, int bytes) => wires.BytesPerSecond == 0
        ? 0 : bytes * Pump.Second / wires.BytesPerSecond * _slow.GetValueOrDefault((from.Host, to.Host), 1);

    internal Listener Listen(Machine machine, EndPoint endPoint, Action<ByteStream> accepted)
    {
        if (!_listeners.TryAdd(endPoint, (machine, accepted)))
            throw new System.Net.Sockets.SocketException((int)System.Net.Sockets.SocketError.AddressAlreadyInUse);
        return new Ear(this, machine, endPoint);
    }

    internal ByteStream Dial(Machine machine, EndPoint endPoint)
    {
        var connection = new Connection(this, machine, endPoint);
        _connections.Add(connection);
        return connection.Near;
    }

    /// <summary>Opens connections to a machine that nobody uses; the machine itself is at their other end.</summary>
    internal void ConnectStrangers(Machine machine, int count)
    {
        for (; count > 0; count--)
            _connections.Add(new Connection(this, machine, new IPEndPoint(machine.Address, Machine.SiloPort)) { IsStrangers = true });
    }

    /// <summary>Ends of connections that a machine has not closed.</summary>
    internal int OpenOf(Machine machine) =>
        _connections.Count(one => one.Near.Machine == machine && !one.IsStrangers && !one.Near.IsClosed)
        + _connections.Count(one => one.Far?.Machine == machine && !one.Far.IsClosed);

    internal int ListenersOf(Machine machine) => _listeners.Values.Count(listener => listener.Machine == machine);

    /// <summary>Throws, perhaps, when the machine has no descriptors left.</summary>
    internal void CheckDescriptors(Machine machine)
    {
        if (machine.IsOutOfDescriptors && dice.Chance(0.4))
            throw new System.Net.Sockets.SocketException((int)System.Net.Sockets.SocketError.TooManyOpenSockets);
    }

    /// <summary>
    /// The process has ended: its listeners are gone, its connections closed, or silent when the machine has lost its power.
    /// </summary>
    internal void Crash(Machine machine, bool silent)
    {
        if (silent)
            Dark.Add(machine.Host);
        foreach (var endPoint in _listeners.Where(pair => pair.Value.Machine == machine).Select(static pair => pair.Key).ToArray())
            _listeners.Remove(endPoint);
        foreach (var connection in _connections.Where(one => one.Near.Machine == machine || one.Far?.Machine == machine).ToArray())
        {
            if (silent)
                connection.Swallow();
            else
                connection.Reset(connection.Near.Machine != machine, connection.Near.Machine == machine);
        }
    }

    internal void PowerOn(int host)
    {
        if (!Dark.Remove(host))
            return;
        foreach (
            var connection in _connections.Where(one => one.IsBlackHole
                && (IsGone(one.Near) || IsGone(one.Far) || Machine.HostOf(one.Near.RemoteEndPoint) == host)).ToArray())
        {
            connection.Forget();
        }

        bool IsGone(WireEnd? end) => end is not null && end.Machine.Host == host && end.Machine.IsDead;
    }

    internal (Machine Machine, Action<ByteStream> Accepted)? ListenerAt(EndPoint endPoint) =>
        _listeners.TryGetValue(endPoint, out var listener) && !listener.Machine.IsDead ? listener : null;

    internal void Forget(Connection connection) => _connections.Remove(connection);

    private sealed class Ear(Network network, Machine machine, EndPoint endPoint) : Listener
    {
        public override EndPoint EndPoint => endPoint;

        public override void Dispose()
        {
            if (network._listeners.TryGetValue(endPoint, out var listener) && listener.Machine == machine)
                network._listeners.Remove(endPoint);
        }
    }
}

/// <summary>The network as one machine sees it.</summary>
internal sealed class MachineTransport(Network network, Machine machine) : Transport
{
    public override ByteStream Dial(EndPoint endPoint)
    {
        network.CheckDescriptors(machine);
        return network.Dial(machine, endPoint);
    }

    public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed) =>
        network.Listen(machine, endPoint, accepted);

    public override Readiness CreateReadiness() => new MachineReadiness(network, machine);
}

/// <summary>A set of streams: a report makes the poll stage that waits on it runnable.</summary>
internal sealed class MachineReadiness(Network network, Machine machine) : Readiness
{
    private readonly List<WireEnd> _changed = [];
    private MachineDriver.Poll? _poll;
    private bool _isWoken;

    public override void Add(ByteStream stream)
    {
        network.CheckDescriptors(machine);
        var end = (WireEnd)stream;
        end.Readiness = this;
        end.Unreported = ReadyKinds.None;
        end.Report(end.StateNow());
    }

    public override void Remove(ByteStream stream)
    {
        var end = (WireEnd)stream;
        _changed.Remove(end);
        end.Readiness = null;
    }

    public override int Wait(Span<Ready> reports, int timeoutMs)
    {
        network.Pump.AssertThread();
        _poll = machine.Driver.Current ?? _poll;
        if (_changed.Count == 0 && !_isWoken && timeoutMs != 0 && _poll is not null)
            _poll.WouldWait = true;
        _isWoken = false;
        var found = 0;
        while (found < reports.Length && _changed.Count > 0)
        {
            var at = network.Dice.Below(_changed.Count);
            var end = _changed[at];
            _changed.RemoveAt(at);
            reports[found++] = new Ready(end, end.Unreported);
            end.Unreported = ReadyKinds.None;
        }

        return found;
    }

    public override void Wake()
    {
        _isWoken = true;
        _poll?.Wake();
    }

    public override void Dispose()
    {
    }

    internal void Enqueue(WireEnd end)
    {
        _changed.Add(end);
        _poll?.Wake();
    }
}

/// <summary>Both ends of a connection and what is under way between them.</summary>
internal sealed class Connection
{
    private readonly EndPoint _target;

    internal Connection(Network network, Machine from, EndPoint target)
    {
        Network = network;
        _target = target;
        Near = new WireEnd(this, from, target);
        Knock();
    }

    internal Network Network { get; }

    /// <summary>The end that has dialled.</summary>
    internal WireEnd Near { get; }

    /// <summary>The end that was accepted; null before.</summary>
    internal WireEnd? Far { get; private set; }

    /// <summary>The near end is nobody's: it says nothing and is never closed.</summary>
    internal bool IsStrangers { get; init; }

    /// <summary>Nothing comes through any more and nobody is told.</summary>
    internal bool IsBlackHole { get; private set; }

    internal WireEnd? Other(WireEnd end) => end == Near ? Far : Near;

    internal bool MayPass(Machine from, Machine to) => !IsBlackHole && !Network.IsCut(from.Host, to.Host);

    internal void Swallow() => IsBlackHole = true;

    /// <summary>The machine that said nothing is back and knows nothing of the connection.</summary>
    internal void Forget()
    {
        IsBlackHole = false;
        Reset(tellNear: false, tellFar: false);
    }

    /// <summary>Breaks the connection; what is under way is lost. An end that is not told learns it when it sends.</summary>
    internal void Reset(bool tellNear, bool tellFar)
    {
        if (tellNear)
            Near.Break();
        else
            Near.LoseOther();
        if (tellFar)
            Far?.Break();
        else
            Far?.LoseOther();
    }

    /// <summary>What waited for the end of a partition goes on.</summary>
    internal void Continue()
    {
        if (Far is null && !Near.IsBroken && !Near.IsClosed && Near.IsKnockLost)
            Knock();
        Near.Continue();
        Far?.Continue();
    }

    internal void ClosedOne()
    {
        if (Near.IsClosed && (Far?.IsClosed ?? true))
            Network.Forget(this);
    }

    private bool MayNotMeet =>
        Network.IsCut(Near.Machine.Host, Machine.HostOf(_target)) || Network.IsCut(Machine.HostOf(_target), Near.Machine.Host);

    private void Knock()
    {
        Near.IsKnockLost = false;
        if (MayNotMeet)
        {
            Near.IsKnockLost = true;
            return;
        }

        Network.Pump.After(Network.TimeOf(Near.Machine, Near.Machine), null, EventKind.Network, "knock", Arrive);
    }

    private void Arrive()
    {
        if (Near.IsClosed || Near.IsBroken || IsBlackHole)
            return;
        if (MayNotMeet)
        {
            Near.IsKnockLost = true;
            return;
        }

        if (Network.ListenerAt(_target) is not { } listener)
        {
            if (Network.Dark.Contains(Machine.HostOf(_target)))
                Swallow();
            else
                Near.Break();
            return;
        }

        Far = new WireEnd(this, listener.Machine, Near.LocalEndPoint) { IsConnected = true };
        Network.Pump.After(0, listener.Machine, EventKind.Network, "accept", () => listener.Accepted(Far));
        Network.Pump.After(Network.TimeOf(listener.Machine, Near.Machine), null, EventKind.Network, "connected", () =>
        {
            Near.IsConnected = true;
            Near.Report(ReadyKinds.Write);
        });
    }
}

/// <summary>One end of a connection.</summary>
internal sealed class WireEnd : ByteStream
{
    private readonly Connection _connection;
    private readonly Queue<(long Due, byte[]? Bytes)> _underWay = new();
    private readonly Queue<byte[]> _arrived = new();
    private int _readFrom;
    private int _unread;

    /// <summary>Bytes sent by this end that the other's application has not read, as far as this end knows.</summary>
    private int _unacknowledged;
    private long _sentAt;
    private long _lastDue;
    private bool _isAwaited;
    private bool _wantsRoom;
    private bool _otherIsLost;
    private bool _hasFinished;
    private bool _isFinished;

    internal WireEnd(Connection connection, Machine machine, EndPoint remote)
    {
        _connection = connection;
        Machine = machine;
        RemoteEndPoint = remote;
    }

    public override EndPoint RemoteEndPoint { get; }

    internal Machine Machine { get; }

    internal Connection Connection => _connection;

    /// <summary>The other end; null before it was accepted.</summary>
    internal WireEnd? Other => _connection.Other(this);

    internal EndPoint LocalEndPoint => new IPEndPoint(Machine.Address, 50_000);

    internal MachineReadiness? Readiness { get; set; }

    internal ReadyKinds Unreported { get; set; }

    internal bool IsConnected { get; set; }

    internal bool IsBroken { get; private set; }

    internal bool IsClosed { get; private set; }

    internal bool IsKnockLost { get; set; }

    private Network Network => _connection.Network;

    public override int Receive(Span<byte> buffer)
    {
        Network.Pump.AssertThread();
        if (IsBroken)
            return Failed;
        var taken = 0;
        while (taken < buffer.Length && _arrived.TryPeek(out var piece))
        {
            var count = Math.Min(buffer.Length - taken, piece.Length - _readFrom);
            piece.AsSpan(_readFrom, count).CopyTo(buffer[taken..]);
            taken += count;
            _readFrom += count;
            if (_readFrom == piece.Length)
            {
                _arrived.Dequeue();
                _readFrom = 0;
            }
        }

        if (taken == 0)
            return _isFinished ? 0 : WouldBlock;
        _unread -= taken;
        Acknowledge(taken);
        return taken;
    }

    public override int Send(ReadOnlySpan<byte> bytes)
    {
        Network.Pump.AssertThread();
        if (IsBroken)
            return Failed;
        if (!IsConnected)
        {
            _wantsRoom = true;
            return WouldBlock;
        }

        if (_otherIsLost && !_connection.IsBlackHole)
        {
            // The other machine knows nothing of the connection and says so.
            Network.Pump.After(Network.Wires.Latency * 2, null, EventKind.Network, "reset", Break);
            _otherIsLost = false;
        }

        var taken = Math.Min(bytes.Length, Network.Wires.Buffer - _unacknowledged);
        if (taken <= 0)
        {
            _wantsRoom = true;
            return WouldBlock;
        }

        if (taken < bytes.Length)
            _wantsRoom = true;
        if (Network.Pump.IsTraced)
            Network.Pump.Write(Machine, EventKind.Network, "send " + taken + " to " + RemoteEndPoint);
        if (Network.Tap is { } tap && tap.Sends(this, bytes[..taken]))
            return IsBroken ? Failed : taken;
        _unacknowledged += taken;
        if (_connection.Other(this) is { IsClosed: false, IsBroken: false } other)
            other.Expect(bytes[..taken]);
        else if (!_connection.IsBlackHole)
            Network.Pump.After(Network.Wires.Latency * 2, null, EventKind.Network, "reset", Break);
        return taken;
    }

    public override void FinishSending()
    {
        if (_hasFinished || IsBroken)
            return;
        _hasFinished = true;
        if (_connection.Other(this) is { } other)
            other.Add(null);
    }

    public override void Dispose()
    {
        if (IsClosed)
            return;
        FinishSending();
        IsClosed = true;
        _connection.ClosedOne();
    }

    internal ReadyKinds StateNow() =>
        (IsConnected ? ReadyKinds.Write : 0)
        | (_unread > 0 ? ReadyKinds.Read : 0)
        | (IsBroken || _isFinished ? ReadyKinds.Read | ReadyKinds.Hangup : 0);

    internal void Report(ReadyKinds kinds)
    {
        if (kinds == ReadyKinds.None || Readiness is null || Machine.IsDead)
            return;
        var first = Unreported == ReadyKinds.None;
        Unreported |= kinds;
        if (first)
            Readiness.Enqueue(this);
    }

    internal void Break()
    {
        if (IsBroken || IsClosed)
            return;
        IsBroken = true;
        _underWay.Clear();
        _arrived.Clear();
        Report(ReadyKinds.Read | ReadyKinds.Hangup);
    }

    /// <summary>What is sent to this end from now on does not arrive before this time.</summary>
    internal void Hold(long until) => _lastDue = Math.Max(_lastDue, until);

    internal void LoseOther() => _otherIsLost = true;

    internal void Continue() => Await();

    /// <summary>Bytes, or the end of them (null), are on their way to this end.</summary>
    private void Expect(ReadOnlySpan<byte> bytes)
    {
        var dice = Network.Dice;
        while (bytes.Length > 0)
        {
            var piece = bytes.Length > 1 && dice.Chance(Network.Wires.Pieces) ? 1 + dice.Below(bytes.Length - 1) : bytes.Length;
            Add(bytes[..piece].ToArray());
            bytes = bytes[piece..];
        }
    }

    private void Add(byte[]? piece)
    {
        var other = _connection.Other(this)!;
        // What was sent before must be out first.
        _sentAt = Math.Max(_sentAt, Network.Pump.Now) + Network.SendingTimeOf(other.Machine, Machine, piece?.Length ?? 0);
        _lastDue = Math.Max(_lastDue + 1, _sentAt + Network.TimeOf(other.Machine, Machine));
        _underWay.Enqueue((_lastDue, piece));
        Await();
    }

    private void Await()
    {
        if (_isAwaited || _underWay.Count == 0 || !_connection.MayPass(_connection.Other(this)!.Machine, Machine))
            return;
        _isAwaited = true;
        Network.Pump.At(_underWay.Peek().Due, null, EventKind.Network, Machine.Name, Arrive);
    }

    private void Arrive()
    {
        _isAwaited = false;
        if (IsBroken || _underWay.Count == 0 || !_connection.MayPass(_connection.Other(this)!.Machine, Machine))
            return;
        var (_, piece) = _underWay.Dequeue();
        if (piece is null)
        {
            _isFinished = true;
            Report(ReadyKinds.Read | ReadyKinds.Hangup);
        }
        else
        {
            Network.Pump.Mix((ulong)piece.Length);
            _arrived.Enqueue(piece);
            _unread += piece.Length;
            Report(ReadyKinds.Read);
        }

        Await();
    }

    private void Acknowledge(int bytes)
    {
        var other = _connection.Other(this)!;
        Network.Pump.After(Network.Wires.Latency, null, EventKind.Network, "room", () => other.TakeRoom(bytes));
    }

    private void TakeRoom(int bytes)
    {
        if (_connection.Other(this) is { } other && Network.IsCut(other.Machine.Host, Machine.Host))
        {
            Network.Pump.After(Pump.Second / 5, null, EventKind.Network, "room", () => TakeRoom(bytes));
            return;
        }

        _unacknowledged -= bytes;
        // As Linux does: a sender that waits is told of a third of the buffer, not of each byte.
        if (!_wantsRoom || Network.Wires.Buffer - _unacknowledged < Network.Wires.Buffer / 3)
            return;
        _wantsRoom = false;
        Report(ReadyKinds.Write);
    }
}
