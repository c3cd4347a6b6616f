using ActOp.Runtime.Cluster;
using ActOp.Runtime.Routing;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using ActOp.Wire;

namespace ActOp.Simulation.Explore;

/// <summary>What becomes of one request between nodes.</summary>
internal enum Way
{
    /// <summary>It is done; its answer is lost with the link, and both ends see that.</summary>
    Answer,

    /// <summary>It is done; from its answer on nothing comes through the link, and no end is told.</summary>
    Silent,

    /// <summary>It is done; its answer comes after its sender has given up.</summary>
    Late,

    /// <summary>It is lost with the link before it arrives.</summary>
    Request,

    /// <summary>It is done; then its sender is cut off from all others and the table, for longer than its lease.</summary>
    SenderCut,

    /// <summary>It is done; then the node that has done it is cut off in the same way.</summary>
    ReceiverCut,

    /// <summary>It is done; then its sender crashes.</summary>
    SenderCrash,

    /// <summary>It is done; then the node that has done it crashes, before it answers.</summary>
    ReceiverCrash,
}

/// <summary>A request that was sent.</summary>
/// <param name="Number">Its place among those of the run.</param>
/// <param name="Time">When it was sent, in ticks.</param>
/// <param name="Kind">Interface and method; a note about another request; or an operation of the table.</param>
/// <param name="From">Who has sent it.</param>
/// <param name="To">To whom.</param>
/// <param name="IsOneWay">It has no answer.</param>
internal sealed record Request(int Number, long Time, string Kind, string From, string To, bool IsOneWay)
{
    internal bool IsOfTable => Kind.StartsWith("table.", StringComparison.Ordinal);

    /// <summary>Whether a run can have this.</summary>
    internal bool Permits(Way way) => way switch
    {
        Way.Answer or Way.Silent => !IsOneWay,
        Way.Late => !IsOneWay && !IsOfTable,
        Way.ReceiverCut or Way.ReceiverCrash => !IsOfTable,
        _ => true,
    };
}

/// <summary>What is to become of the request with this number.</summary>
internal sealed record Interference(int Number, Way Way);

/// <summary>Numbers the requests between the nodes of a run, from the bytes on the wires, and interferes with some of them.</summary>
/// <remarks>
/// A frame counts when its last byte is sent. The answer of a request is the reply with its ticket, wherever it comes from; when a node
/// sends it, the request is done. A one-way request is done a moment after it was sent.
/// </remarks>
internal sealed class Tap(World.World world, Faults faults, IReadOnlyList<Interference> plan) : FrameTap
{
    /// <summary>From the sending of a one-way request until its effect.</summary>
    private const long OneWayTime = 3 * Pump.Millisecond;

    /// <summary>A process that has crashed is started again after this.</summary>
    private const long DownTime = 5 * Pump.Second;

    private readonly Dictionary<(int Origin, ulong Ticket), List<Asked>> _asked = [];

    internal List<Request> Requests { get; } = [];

    /// <summary>How many of the plan's interferences have happened.</summary>
    internal int Happened { get; private set; }

    /// <summary>When all that was done is over; 0 if nothing was.</summary>
    internal long OverAt { get; private set; }

    private long CutTime => world.Settings.HasLease ? world.Settings.Lease.Ticks + (6 * Pump.Second) : 8 * Pump.Second;

    private long LateTime => world.Settings.ResponseTimeout.Ticks + (Pump.Second / 2);

    public override TableFate Arrives(Machine machine, TableRequest request)
    {
        if (!IsOn)
            return TableFate.Answered;
        var asked = Note("table." + request.Operation, machine, null, false);
        switch (asked.Planned)
        {
            case null:
                return TableFate.Answered;
            case Way.Answer:
                Happen(asked, FaultKind.TableLosesAnswers, 0, 0, 0);
                return TableFate.Failed;
            case Way.Request:
                Happen(asked, FaultKind.TableRefuses, 0, 0, 0);
                return TableFate.Refused;
            case Way.SenderCut:
                Isolate(asked, machine);
                return TableFate.Unanswered;
            case Way.SenderCrash:
                Crash(asked, machine);
                return TableFate.Unanswered;
            default:
                Happen(asked, FaultKind.TableLosesAnswers, 0, 0, 0);
                return TableFate.Unanswered;
        }
    }

    private protected override bool Loses(WireEnd from, Machine to, FrameKind kind, ref WireReader reader)
    {
        switch (kind)
        {
            case FrameKind.Request:
                return SeeRequest(from, to, ref reader);
            case FrameKind.Reply:
                return SeeReply(from, to.Node.Address.Generation, ref reader);
            case FrameKind.RelayedReply:
                var origin = Addresses.Read(ref reader);
                if (origin.IsClient && from.Machine.IsSilo)
                    reader.ReadFixed64();
                reader.ReadByte();
                return SeeReply(from, origin.Generation, ref reader);
            case FrameKind.Forwarded:
                return SeeOneWay(from, to, "note.Forwarded");
            case FrameKind.Cancel:
                return SeeOneWay(from, to, "note.Cancel");
            case FrameKind.Fanout:
                return SeeOneWay(from, to, "note.Fanout");
            case FrameKind.GrainFanout:
                return SeeOneWay(from, to, "note.GrainFanout");
            default:
                // A frame of the handshake, or an answer that a client relays.
                return false;
        }
    }

    private bool SeeRequest(WireEnd from, Machine to, ref WireReader reader)
    {
        var (header, kind) = ReadRequest(ref reader);
        if (header.IsOneWay)
            return SeeOneWay(from, to, kind);
        var origin = header.Origin ?? from.Machine.Node.Address;
        var asked = Note(kind, from.Machine, to, false);
        if (asked.Planned == Way.Request)
            return Lose(asked, from);
        if (!_asked.TryGetValue((origin.Generation, header.ReplyTo), out var waiting))
            _asked.Add((origin.Generation, header.ReplyTo), waiting = []);
        waiting.Add(asked);
        return false;
    }

    private bool SeeOneWay(WireEnd from, Machine to, string kind)
    {
        var asked = Note(kind, from.Machine, to, true);
        if (asked.Planned == Way.Request)
            return Lose(asked, from);
        if (asked.Planned is { } way)
        {
            var end = way is Way.SenderCut or Way.SenderCrash ? from.Machine : to;
            world.Pump.After(OneWayTime, null, EventKind.Fault, "interference", () =>
            {
                if (way is Way.SenderCut or Way.ReceiverCut)
                    Isolate(asked, end);
                else
                    Crash(asked, end);
            });
        }

        return false;
    }

    private bool SeeReply(WireEnd from, int origin, ref WireReader reader)
    {
        if (!_asked.Remove((origin, ReplyHeader.Read(ref reader).Ticket), out var answered))
            return false;
        var isLost = false;
        foreach (var asked in answered)
            isLost |= asked.Planned is { } way && Interfere(asked, way, from);
        return isLost;
    }

    /// <summary>The request is done, and its answer is being sent. True if it is lost.</summary>
    private bool Interfere(Asked asked, Way way, WireEnd from)
    {
        switch (way)
        {
            case Way.Answer:
                return Lose(asked, from);
            case Way.Silent:
                Happen(asked, FaultKind.BlackHole, from.Machine.Host, from.Other!.Machine.Host, 0);
                from.Connection.Swallow();
                return false;
            case Way.Late:
                Happen(asked, FaultKind.SlowLink, from.Machine.Host, from.Other!.Machine.Host, LateTime);
                from.Other.Hold(world.Pump.Now + LateTime);
                return false;
            case Way.SenderCut or Way.ReceiverCut:
                Isolate(asked, way == Way.SenderCut ? asked.Sender : from.Machine);
                return false;
            default:
                Crash(asked, way == Way.SenderCrash ? asked.Sender : from.Machine);
                return true;
        }
    }

    private bool Lose(Asked asked, WireEnd from)
    {
        Happen(asked, FaultKind.Reset, from.Machine.Host, from.Other!.Machine.Host, 0);
        from.Connection.Reset(tellNear: true, tellFar: true);
        return true;
    }

    private void Isolate(Asked asked, Machine machine)
    {
        var fault = Happen(asked, FaultKind.Isolation, machine.Host, 0, CutTime);
        world.Table.CutOff.Add(machine.Host);
        foreach (var other in world.Machines.Where(other => other.Host != machine.Host))
        {
            world.Network.Cut(machine.Host, other.Host);
            world.Network.Cut(other.Host, machine.Host);
        }

        world.Pump.At(fault.Until, null, EventKind.Fault, "mend", () =>
        {
            world.Table.CutOff.Remove(machine.Host);
            foreach (var other in world.Machines)
                world.Network.Heal(machine.Host, other.Host);
        });
    }

    /// <summary>After the step that is being made: what it still sends is lost with the process.</summary>
    private void Crash(Asked asked, Machine machine)
    {
        var fault = Happen(asked, FaultKind.Crash, machine.Host, 0, DownTime);
        // The supervisor waits for that.
        fault.Until = long.MaxValue;
        world.Pump.After(0, null, EventKind.Fault, "crash", () => machine.Kill(silent: false));
        world.Pump.After(DownTime, null, EventKind.Fault, "mend", () => fault.Until = Math.Min(fault.Until, world.Pump.Now));
    }

    private Fault Happen(Asked asked, FaultKind kind, int host, int other, long length)
    {
        Happened++;
        var fault = new Fault(kind, world.Pump.Now, host, other) { Until = world.Pump.Now + length };
        OverAt = Math.Max(OverAt, fault.Until);
        faults.Done.Add(fault);
        world.Pump.Note(asked.Sender, EventKind.Fault, "interference " + asked.Number + " " + asked.Planned + ": " + kind);
        return fault;
    }

    private Asked Note(string kind, Machine from, Machine? to, bool isOneWay)
    {
        var number = Requests.Count;
        Requests.Add(new Request(number, world.Pump.Now, kind, from.Name, to?.Name ?? "table", isOneWay));
        if (world.Pump.IsTraced)
            world.Pump.Write(from, EventKind.Network, "request " + number + " " + kind + " to " + (to?.Name ?? "table"));
        foreach (var one in plan)
        {
            if (one.Number == number)
                return new Asked(number, from, one.Way);
        }

        return new Asked(number, from, null);
    }

    /// <summary>A request whose answer has not been sent.</summary>
    private sealed record Asked(int Number, Machine Sender, Way? Planned);
}
