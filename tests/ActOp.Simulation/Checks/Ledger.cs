using ActOp.Simulation.World;

namespace ActOp.Simulation.Checks;

/// <summary>Something that must not happen.</summary>
/// <param name="Oracle">Which rule is broken.</param>
/// <param name="Time">When it was seen, in ticks.</param>
/// <param name="Text">What happened.</param>
internal sealed record Violation(string Oracle, long Time, string Text)
{
    /// <summary>True for what does not happen in time; false for what must never happen.</summary>
    internal bool IsLiveness => Oracle is "unanswered" or "unsettled" or "unserved";
}

/// <summary>One activation of a counter, from its activation to its deactivation.</summary>
internal sealed class Life(long number, long counter, Machine machine, long since)
{
    internal long Number => number;

    internal long Counter => counter;

    internal Machine Machine => machine;

    internal long Since => since;

    /// <summary>What it has in memory: what it carried along and what it applied.</summary>
    internal HashSet<long> Ids { get; } = [];

    internal DeactivationReason? EndReason { get; set; }

    internal long EndedAt { get; set; }

    /// <summary>Its carried state has been taken over by another life.</summary>
    internal bool IsContinued { get; set; }
}

/// <summary>A call of the workload.</summary>
internal sealed class Ticket(long id, long counter, string kind, Machine caller, long since)
{
    internal long Id => id;

    internal long Counter => counter;

    internal string Kind => kind;

    internal Machine Caller => caller;

    internal long Since => since;

    internal bool HasEnded { get; set; }
}

/// <summary>
/// What was sent, applied and acknowledged, seen by somebody who sees everything at once; says when it cannot be right. Lives of grains are seen
/// from their hooks.
/// </summary>
internal sealed class Ledger(World.World world, Func<Faults> faults)
{
    private static readonly FaultKind[] Severing =
    [
        FaultKind.Reset, FaultKind.HalfOpen, FaultKind.BlackHole, FaultKind.SlowLink, FaultKind.Partition, FaultKind.OneWayPartition, FaultKind.Isolation,
        FaultKind.Crash, FaultKind.PowerLoss, FaultKind.ShortPause, FaultKind.LongPause, FaultKind.Restart, FaultKind.SlowMachine, FaultKind.TableCutOff,
    ];

    private readonly Dictionary<long, Life> _newest = [];
    private readonly Dictionary<long, Life> _appliedBy = [];
    private readonly HashSet<Ticket> _open = [];
    private readonly SortedDictionary<string, long> _outcomes = new(StringComparer.Ordinal);
    private long _lastId;
    private long _lastLife;

    internal List<Violation> Violations { get; } = [];

    /// <summary>Ends of calls, by name.</summary>
    internal IReadOnlyDictionary<string, long> Outcomes => _outcomes;

    /// <summary>Turns of an activation that another one had replaced, which a lease that nobody can keep allows.</summary>
    internal long Excused { get; private set; }

    internal long Calls => _lastId;

    internal IEnumerable<long> Counters => _newest.Keys.Order();

    internal int OpenCalls => _open.Count;

    internal void Accuse(string oracle, string text)
    {
        if (Violations.Count < 20)
            Violations.Add(new Violation(oracle, world.Pump.Now, text));
        world.Pump.Note(null, EventKind.Check, oracle + ": " + text);
    }

    /// <summary>A call is about to be made.</summary>
    internal Ticket Open(long counter, string kind, Machine caller)
    {
        var ticket = new Ticket(++_lastId, counter, kind, caller, world.Pump.Now);
        _open.Add(ticket);
        return ticket;
    }

    /// <summary>The call has ended; <paramref name="exception"/> null for an answer.</summary>
    internal void Close(Ticket ticket, bool isApplied, Exception? exception)
    {
        _open.Remove(ticket);
        ticket.HasEnded = true;
        var outcome = exception is null ? "ok" : exception.GetType().Name;
        _outcomes[outcome] = _outcomes.GetValueOrDefault(outcome) + 1;
        world.Pump.Note(ticket.Caller, EventKind.Load, ticket.Kind + " " + ticket.Id + " " + outcome);
        // A node that ends says so to those that still call.
        var isEnding = exception is ObjectDisposedException && ticket.Caller.State != MachineState.Up;
        if (exception is not null && !isEnding && !IsExpected(exception))
            Accuse("untyped", "The call " + Tell(ticket) + " ended with " + exception);
        if (exception is null && isApplied && !_appliedBy.ContainsKey(ticket.Id))
            Accuse("acknowledged", "The call " + Tell(ticket) + " was acknowledged but never applied.");
    }

    /// <summary>A life begins, with what it carries along from the life <paramref name="carriedFrom"/>; 0 for nothing.</summary>
    internal Life Begin(long counter, Machine machine, long carriedFrom, HashSet<long> carried)
    {
        var life = new Life(++_lastLife, counter, machine, world.Pump.Now);
        life.Ids.UnionWith(carried);
        world.Pump.Note(machine, EventKind.Check, "life " + counter + " " + life.Number + " from " + carriedFrom);
        if (_newest.TryGetValue(counter, out var before))
        {
            if (MayRunOn(life) && !IsGone(before.Machine))
            {
                // A silo that does not know that it was evicted begins lives as it runs turns.
                Excused++;
                return life;
            }

            CheckSuccession(before, life, carriedFrom);
        }

        _newest[counter] = life;
        return life;
    }

    internal void End(Life life, DeactivationReason reason)
    {
        life.EndReason = reason;
        life.EndedAt = world.Pump.Now;
        world.Pump.Note(life.Machine, EventKind.Check, "end " + life.Counter + " " + life.Number + " " + reason.ReasonCode);
    }

    internal void Apply(Life life, long id)
    {
        world.Pump.Note(life.Machine, EventKind.Check, "apply " + life.Counter + " " + life.Number + " " + id);
        if (!_appliedBy.TryAdd(id, life))
            Accuse("twice", "The id " + id + " was applied by life " + _appliedBy[id].Number + " and again by life " + life.Number + " of counter " + life.Counter + ".");
        life.Ids.Add(id);
        CheckTurn(life);
    }

    internal void Tick(Life life)
    {
        CheckTurn(life);
        if (life.EndReason is not null)
            Accuse("late tick", "A timer of counter " + life.Counter + " ticked after the end of its activation.");
    }

    /// <summary>Looks for calls that should have ended.</summary>
    internal void CheckOverdue(TimeSpan grace)
    {
        foreach (var ticket in _open.ToArray())
        {
            if (ticket.Caller.IsDead)
            {
                _open.Remove(ticket);
                _outcomes["lost with its caller"] = _outcomes.GetValueOrDefault("lost with its caller") + 1;
            }
            else if (ticket.Caller.IsRunning && world.Pump.Now - Math.Max(ticket.Since, ticket.Caller.ResumedAt) > (world.Settings.ResponseTimeout + grace).Ticks)
            {
                _open.Remove(ticket);
                Accuse("unanswered", "The call " + Tell(ticket) + " has no answer after " + new TimeSpan(world.Pump.Now - ticket.Since) + ".");
            }
        }
    }

    internal Life? NewestOf(long counter) => _newest.GetValueOrDefault(counter);

    private static string Tell(Ticket ticket) => ticket.Kind + " " + ticket.Id + " to counter " + ticket.Counter + " by " + ticket.Caller.Name + " at " + new TimeSpan(ticket.Since);

    private static bool IsExpected(Exception exception) =>
        exception is TimeoutException or SiloUnavailableException or OrleansMessageRejectionException or ClientNotAvailableException or LimitExceededException;

    private void CheckSuccession(Life before, Life life, long carriedFrom)
    {
        if (before.EndReason is null && !IsGone(before.Machine))
            Accuse("two lives", Tell(life) + " begins while " + Tell(before) + " goes on.");
        if (carriedFrom == before.Number)
        {
            before.IsContinued = true;
            if (!life.Ids.IsSupersetOf(before.Ids))
                Accuse("carried", Tell(life) + " carries an older state than " + Tell(before) + " had at its end.");
            return;
        }

        if (carriedFrom != 0)
            Accuse("carried", Tell(life) + " carries the state of life " + carriedFrom + ", but the last one was " + Tell(before) + ".");
        else if (before.Ids.Count > 0 && !MayForget(before))
            Accuse("forgotten", Tell(life) + " begins without the state of " + Tell(before) + " (" + before.EndReason + ").");
    }

    /// <summary>Memory ends with its process, with an activation that ends to end, and when the silos of a move cannot reach each other.</summary>
    private bool MayForget(Life life)
    {
        if (IsGone(life.Machine))
            return true;
        if (life.EndReason is not { } reason || reason.ReasonCode != DeactivationReasonCode.Migrating)
            return life.EndReason is { } end && end.ReasonCode is not (DeactivationReasonCode.DuplicateActivation or DeactivationReasonCode.Migrating);
        var from = life.EndedAt - (30 * Pump.Second);
        return faults().Concerned(life.Machine.Host, from, Severing) || (TargetOf(reason) is var host && (host == 0 || faults().Concerned(host, from, Severing)));
    }

    private static int TargetOf(DeactivationReason reason)
    {
        var at = reason.Description.IndexOf("10.0.0.", StringComparison.Ordinal);
        return at < 0 ? 0 : int.Parse(new string([.. reason.Description.AsSpan(at + 7).ToArray().TakeWhile(char.IsAsciiDigit)]), System.Globalization.CultureInfo.InvariantCulture);
    }

    /// <summary>Only the newest life of a counter may run turns.</summary>
    private void CheckTurn(Life life)
    {
        var newest = _newest[life.Counter];
        if (newest == life)
            return;
        if (life.EndReason is not null)
            Accuse("turn after the end", "A turn of " + Tell(life) + " after its end, when there is " + Tell(newest) + ".");
        else if (MayRunOn(life))
            Excused++;
        else
            Accuse("two lives", "A turn of " + Tell(life) + " when there is " + Tell(newest) + " since " + new TimeSpan(newest.Since) + ".");
    }

    /// <summary>
    /// Without a lease a silo that was evicted runs on until it hears of it. With one, only for the moment between the end of a pause and the next look at the
    /// clock.
    /// </summary>
    private bool MayRunOn(Life life)
    {
        var justBack = world.Pump.Now - life.Machine.ResumedAt < Pump.Second;
        return IsGone(life.Machine) && (!world.Settings.HasLease || justBack);
    }

    /// <summary>The process has ended, or the others have declared it dead.</summary>
    private bool IsGone(Machine machine) => machine.IsDead || world.Table.Snapshot.Find(machine.Node.Address) is not { Status: not SiloStatus.Dead };

    private static string Tell(Life life) => "life " + life.Number + " of counter " + life.Counter + " on " + life.Machine.Name;
}
