using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>Something that must not happen.</summary>
/// <param name="Oracle">Which rule is broken.</param>
/// <param name="Time">When it was seen, in ticks.</param>
/// <param name="Text">What happened.</param>
internal sealed record Violation(string Oracle, long Time, string Text)
{
    /// <summary>True for what does not happen in time; false for what must never happen.</summary>
    internal bool IsLiveness => Oracle is "unanswered" or "unsettled" or "unserved" or "stuck stream" or "held" or "silent reminder";
}

/// <summary>One activation of a counter, from its activation to its deactivation.</summary>
internal sealed class Life(long number, long counter, Machine machine, long since)
{
    internal long Number => number;

    internal long Counter => counter;

    internal Machine Machine => machine;

    internal long Since { get; } = since;

    /// <summary>What it has in memory: what it carried along and what it applied.</summary>
    internal HashSet<long> Ids { get; } = [];

    internal DeactivationReason? EndReason { get; set; }

    internal long EndedAt { get; set; }

    /// <summary>It has asked for its end before it began: it must serve nobody.</summary>
    internal bool MustNotServe { get; set; }

    /// <summary>The host that it has asked to move to while it ended; 0 for none.</summary>
    internal int GoesTo { get; set; }

    /// <summary>The process to which it moves at its end, which holds its state from then on; null if it does not move.</summary>
    internal Machine? Target { get; set; }

    /// <summary>The last tick of its timer.</summary>
    internal long TickedAt { get; set; } = since;

    /// <summary>The last call of it.</summary>
    internal long UsedAt { get; set; } = since;
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
/// What was sent, applied and acknowledged, seen by somebody who sees everything at once; says when it cannot be right. Lives of grains are
/// seen from their hooks.
/// </summary>
internal sealed class Ledger(World.World world, Func<Faults> faults)
{
    /// <summary>A silo does nothing for a while, or nothing of it gets to others.</summary>
    private static readonly FaultKind[] Standing =
    [
        FaultKind.Isolation, FaultKind.Crash, FaultKind.PowerLoss, FaultKind.ShortPause, FaultKind.LongPause, FaultKind.Restart,
        FaultKind.RestartAll, FaultKind.SlowMachine, FaultKind.Descriptors,
    ];

    /// <summary>A process ends.</summary>
    private static readonly FaultKind[] Ending = [FaultKind.Crash, FaultKind.PowerLoss, FaultKind.Restart];

    /// <summary>Something between two machines.</summary>
    private static readonly FaultKind[] Severing =
    [
        FaultKind.Reset, FaultKind.HalfOpen, FaultKind.BlackHole, FaultKind.SlowLink, FaultKind.Partition, FaultKind.OneWayPartition,
    ];

    /// <summary>What makes frames, or turns, later than they are by themselves.</summary>
    private static readonly FaultKind[] Delaying = [.. Standing, .. Severing, FaultKind.HookHangs];

    /// <summary>After which nothing is promised of the order of requests.</summary>
    internal static FaultKind[] Disturbing => Delaying;

    /// <summary>What keeps a silo from hearing of its eviction.</summary>
    private static readonly FaultKind[] Deafening =
        [.. Standing, .. Severing, FaultKind.TableSlow, FaultKind.TableRefuses, FaultKind.TableLosesAnswers, FaultKind.TableCutOff];

    /// <summary>
    /// From when an evicted silo could hear of it until its turns end: a read of the table every 5 s, and again if one fails.
    /// </summary>
    private const long LongestUnaware = 15 * Pump.Second;

    private const string HookFailure = "The hook of a grain throws.";

    /// <summary>
    /// A request that nobody waits for may still run this long after: the sweep of deadlines, clocks that differ, and the turn that it
    /// waits behind.
    /// </summary>
    private const long LatestTurn = 3 * Pump.Second;

    private readonly Dictionary<long, Life> _newest = [];
    private readonly Dictionary<long, Life> _appliedBy = [];
    private readonly Dictionary<long, int> _answers = [];
    private readonly Dictionary<long, long> _spoilt = [];
    private readonly Dictionary<long, long> _overdueSince = [];
    private readonly HashSet<long> _drops = [];
    private readonly HashSet<Ticket> _open = [];
    private readonly Dice _dice = world.Dice.Fork("hooks");
    private readonly SortedDictionary<string, long> _outcomes = new(StringComparer.Ordinal);
    private readonly Dictionary<Machine, long> _evictedAt = [];
    private long _lastId;
    private long _lastLife;
    private Order? _order;

    internal List<Violation> Violations { get; } = [];

    /// <summary>The order of the requests of one caller.</summary>
    internal Order Order => _order ??= new Order(world, this, faults);

    /// <summary>Ends of calls, by name.</summary>
    internal IReadOnlyDictionary<string, long> Outcomes => _outcomes;

    /// <summary>Counts an outcome of a workload of its own.</summary>
    internal void Count(string outcome, long count = 1) => _outcomes[outcome] = _outcomes.GetValueOrDefault(outcome) + count;

    /// <summary>What was excused, and of how many.</summary>
    internal Excuses Excuses { get; } = new();

    /// <summary>Why calls fail.</summary>
    internal Causes Causes { get; } = new(world, faults);

    internal IEnumerable<long> Counters => _newest.Keys.Order();

    /// <summary>Calls of a machine that have not ended.</summary>
    internal IEnumerable<string> OpenCallsOf(Machine machine) => _open.Where(ticket => ticket.Caller == machine).Select(Tell);

    /// <summary>Grains that carry nothing are moved by the scenario, and forget.</summary>
    internal bool DesksForget { get; set; }

    /// <summary>Notes sent to watchers.</summary>
    internal long Notes { get; set; }

    /// <summary>Notes that have arrived at watchers.</summary>
    internal long Heard { get; set; }

    internal void Accuse(string oracle, string text)
    {
        if (Violations.Count < 20)
            Violations.Add(new Violation(oracle, world.Pump.Now, text));
        // The text may have stack traces, which differ from build to build.
        world.Pump.Note(null, EventKind.Check, oracle);
        world.Pump.Write(null, EventKind.Check, oracle + ": " + text);
    }

    /// <summary>A call is about to be made.</summary>
    internal Ticket Open(long counter, string kind, Machine caller)
    {
        var ticket = new Ticket(++_lastId, counter, kind, caller, world.Pump.Now);
        _open.Add(ticket);
        return ticket;
    }

    /// <summary>An id of a call that a grain makes.</summary>
    internal long NextId() => ++_lastId;

    /// <summary>A one-way call with this id is about to be sent.</summary>
    internal void Drops(long id) => _drops.Add(id);

    /// <summary>One-way calls that were sent and have not been applied.</summary>
    internal int LostDrops => _drops.Count(id => !_appliedBy.ContainsKey(id));

    /// <summary>
    /// The call has ended; <paramref name="exception"/> null when it has not failed, <paramref name="answer"/> null when it says nothing of
    /// the id.
    /// </summary>
    internal void Close(Ticket ticket, long? answer, Exception? exception)
    {
        _open.Remove(ticket);
        ticket.HasEnded = true;
        Excuses.See(Excuse.Calls);
        var outcome = exception is null ? "ok" : exception.GetType().Name;
        _outcomes[outcome] = _outcomes.GetValueOrDefault(outcome) + 1;
        if (exception is SiloUnavailableException)
            Count("gone, " + (_appliedBy.ContainsKey(ticket.Id) ? "done: " : "not done: ") + Reason(exception.Message));
        world.Pump.Note(ticket.Caller, EventKind.Load, ticket.Kind + " " + ticket.Id + " " + outcome);
        if (exception is null && _appliedBy.TryGetValue(ticket.Id, out var life))
            Order.Answered(ticket.Caller, ticket.Counter, life);
        if (exception is not null)
            CheckFailure(ticket, exception);
        else if (answer is not null)
            CheckAnswer(ticket, answer.Value);
        // The calls of a chain have deadlines of their own.
        if (exception is TimeoutException && ticket.Kind != nameof(Load.CallKind.Relay))
            _overdueSince.TryAdd(ticket.Id, world.Pump.Now);
    }

    /// <summary>Why a silo was not available, without names.</summary>
    private static string Reason(string message)
    {
        var from = message.IndexOf(" is gone (", StringComparison.Ordinal);
        if (from >= 0)
            return message[(from + 10)..message.IndexOf(')', from)];
        string[] known =
            ["unreachable from", "not a member", "no longer a member", "refused", "has stopped", "did not answer", "is connected",
                "is gone"];
        return Array.Find(known, text => message.Contains(text, StringComparison.Ordinal)) ?? message;
    }

    /// <summary>
    /// What the grain did for a call it did at one moment between the call and its answer, in a life that may run turns and has all that
    /// was done before: so an answer that is the one of that moment makes the history of the grain one that could have come about one call
    /// after the other.
    /// </summary>
    private void CheckAnswer(Ticket ticket, long answer)
    {
        if (!_answers.TryGetValue(ticket.Id, out var computed))
        {
            Accuse("acknowledged", "The call " + Tell(ticket) + " was acknowledged but never applied.");
        }
        else if (computed != answer)
        {
            Accuse(
                "linear", "The call " + Tell(ticket) + " was answered with " + answer + ", but the grain's answer was " + computed + ".");
        }
    }

    private void CheckFailure(Ticket ticket, Exception exception)
    {
        // A node that ends says so to those that still call.
        var isEnding = exception is ObjectDisposedException && ticket.Caller.State != MachineState.Up;
        if (!isEnding && !IsExpected(exception))
            Accuse("untyped", "The call " + Tell(ticket) + " ended with " + exception);
        else if (world.IsCalm && exception is not LimitExceededException)
            Accuse("calm", "The call " + Tell(ticket) + " failed though nothing is wrong: " + exception);
        else if (Causes.Of(ticket, exception) is { } excuse)
            Excuses.Say(excuse);
        else
            Accuse("causeless", "The call " + Tell(ticket) + " failed, and nothing was wrong then or shortly before: " + exception);
    }

    /// <summary>A life begins, with what it carries along from the life <paramref name="carriedFrom"/>; 0 for nothing.</summary>
    internal Life Begin(long counter, Machine machine, long carriedFrom, HashSet<long> carried)
    {
        var life = new Life(++_lastLife, counter, machine, world.Pump.Now);
        life.Ids.UnionWith(carried);
        world.Pump.Note(machine, EventKind.Check, "life " + counter + " " + life.Number + " from " + carriedFrom);
        Excuses.See(Excuse.Lives);
        if (_newest.TryGetValue(counter, out var before))
        {
            // A silo that does not know that it was evicted begins lives as it runs turns.
            if (!IsGone(before.Machine) && MayRunOn(life))
            {
                Excuses.Say(Excuse.LifeWithoutLease);
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
        life.Target = DesksForget && life.Counter >= Load.Numbers.FirstDesk ? null
            : world.On(reason.ReasonCode == DeactivationReasonCode.Migrating ? TargetOf(reason) : life.GoesTo);
        world.Pump.Note(life.Machine, EventKind.Check, "end " + life.Counter + " " + life.Number + " " + reason.ReasonCode);
    }

    internal void Apply(Life life, long id)
    {
        world.Pump.Note(life.Machine, EventKind.Check, "apply " + life.Counter + " " + life.Number + " " + id);
        if (!_appliedBy.TryAdd(id, life))
        {
            Accuse(
                "twice", "The id " + id + " was applied by life " + _appliedBy[id].Number + " and again by life " + life.Number +
                    " of grain " + life.Counter + ".");
        }

        life.Ids.Add(id);
        _answers[id] = life.Ids.Count;
        Order.Applied(life, id);
        Use(life);
        if (_overdueSince.TryGetValue(id, out var since) && world.Pump.Now - since > LatestTurn
            && !((faults().Any(since - (60 * Pump.Second), Delaying) || Causes.AnyLarge(since)) && Excuses.Say(Excuse.LateTurn)))
        {
            Accuse(
                "late turn", "The id " + id + " was applied " + new TimeSpan(world.Pump.Now - since) +
                    " after its caller was told that there is no answer.");
        }
    }

    /// <summary>The life says how many ids it has, for the question <paramref name="id"/>.</summary>
    internal int Read(Life life, long id)
    {
        Use(life);
        return _answers[id] = life.Ids.Count;
    }

    /// <summary>A turn of a call.</summary>
    internal void Use(Life life)
    {
        life.UsedAt = world.Pump.Now;
        CheckTurn(life);
    }

    internal void Tick(Life life)
    {
        life.TickedAt = world.Pump.Now;
        CheckTurn(life);
        if (life.EndReason is not null)
            Accuse("late tick", "A timer of grain " + life.Counter + " ticked after the end of its activation.");
    }

    /// <summary>
    /// A hook of a grain on a machine: as the faults want it, it throws, or does not end and takes no notice of its token.
    /// </summary>
    /// <param name="machine">Where.</param>
    /// <param name="number">The grain that begins; 0 for one that ends.</param>
    internal async Task HookAsync(Machine machine, long number)
    {
        if (faults() is not { } all || all.HookTrouble(_dice) is not { } trouble)
            return;
        world.Pump.Note(machine, EventKind.Fault, trouble + " of " + number);
        if (number > 0)
            _spoilt[number] = world.Pump.Now;
        Causes.HookThrew();
        if (trouble == FaultKind.HookThrows)
            throw new InvalidOperationException(HookFailure);
        await new TaskCompletionSource().Task;
    }

    /// <summary>A grain has kept others waiting.</summary>
    internal void CheckMailbox(IGrainContext grain) => Quiet.CheckLimit(world, (Runtime.Activations.Activation)grain, this);

    /// <summary>Milliseconds that a grain takes to begin.</summary>
    internal int BeginsSlowly(long number)
    {
        var pause = world.Theme == Theme.Moves && _dice.Chance(0.3) ? _dice.Below(2000) : 0;
        if (pause > 0)
            Causes.Busy(number, (pause * Pump.Millisecond) + Pump.Second);
        return pause;
    }

    /// <summary>Now and then a grain asks for its end while it begins.</summary>
    internal bool EndsAtOnce() => !world.IsScripted && _dice.Chance(0.03);

    /// <summary>Another silo that is active, as the machine sees it.</summary>
    internal SiloAddress? AnotherSilo(Machine machine)
    {
        var others = machine.Node.ClusterView.Active.Where(silo => !silo.Equals(machine.Node.Address)).ToArray();
        return others.Length == 0 || machine.State != MachineState.Up ? null : _dice.Pick<SiloAddress>(others);
    }

    /// <summary>Looks for calls that should have ended.</summary>
    internal void CheckOverdue(TimeSpan grace)
    {
        foreach (var ticket in _open.ToArray())
        {
            if (ticket.Caller.IsDead)
            {
                _open.Remove(ticket);
                Excuses.See(Excuse.Calls);
                Excuses.Say(Excuse.CallerDied);
                Count("lost with its caller");
            }
            else if (
                ticket.Caller.IsRunning
                    && world.Pump.Now - Math.Max(ticket.Since, ticket.Caller.ResumedAt) > (world.Settings.ResponseTimeout + grace).Ticks)
            {
                _open.Remove(ticket);
                Accuse(
                    "unanswered", "The call " + Tell(ticket) + " has no answer after " + new TimeSpan(world.Pump.Now - ticket.Since) + ".");
            }
        }
    }

    internal Life? NewestOf(long counter) => _newest.GetValueOrDefault(counter);

    private static string Tell(Ticket ticket) =>
        ticket.Kind + " " + ticket.Id + " to grain " + ticket.Counter + " by " + ticket.Caller.Name + " at " + new TimeSpan(ticket.Since);

    private static bool IsExpected(Exception exception) =>
        exception is TimeoutException or SiloUnavailableException or OrleansMessageRejectionException or ClientNotAvailableException or LimitExceededException
        || exception is InvalidOperationException { Message: HookFailure };

    private void CheckSuccession(Life before, Life life, long carriedFrom)
    {
        if (before.EndReason is null && !IsGone(before.Machine))
            Accuse("two lives", Tell(life) + " begins while " + Tell(before) + " goes on.");
        if (carriedFrom == before.Number)
        {
            if (!life.Ids.IsSupersetOf(before.Ids))
                Accuse("carried", Tell(life) + " carries an older state than " + Tell(before) + " had at its end.");
            return;
        }

        // The last life was lost before it did anything: its source continues, which has the same state.
        if (carriedFrom != 0 && IsGone(before.Machine) && life.Ids.IsSupersetOf(before.Ids))
            return;
        if (carriedFrom != 0)
            Accuse("carried", Tell(life) + " carries the state of life " + carriedFrom + ", but the last one was " + Tell(before) + ".");
        else if (before.Ids.Count > 0 && !MayForget(before))
            Accuse("forgotten", Tell(life) + " begins without the state of " + Tell(before) + " (" + before.EndReason + ").");
    }

    /// <summary>
    /// Memory ends with its process, at the request of the grain, when nobody has called for the collection age, and with a move in which a
    /// hook of the next life failed, or a silo that had the state ended.
    /// </summary>
    private bool MayForget(Life life) => WhyForgotten(life) is { } excuse && Excuses.Say(excuse);

    private Excuse? WhyForgotten(Life life)
    {
        if (IsGone(life.Machine))
            return Excuse.ProcessEnded;
        if (life.EndReason is not { } reason)
            return null;
        if (life.Target is { } target)
            return WhyLost(life, target);
        return reason.ReasonCode switch
        {
            DeactivationReasonCode.ApplicationRequested => Excuse.Asked,
            // The clock of a machine may be a hundredth faster than the world's, and the age is measured in its steps.
            DeactivationReasonCode.ActivationIdle
                when life.EndedAt - life.UsedAt > (world.Settings.CollectionAge.Ticks * 0.98) - (Pump.Second / 5) => Excuse.Collected,
            DeactivationReasonCode.ShuttingDown when life.Machine.State != MachineState.Up => Excuse.NoSilo,
            _ => null,
        };
    }

    /// <summary>Why a state did not arrive at the process that the life moved to.</summary>
    private Excuse? WhyLost(Life life, Machine target)
    {
        if (_spoilt.TryGetValue(life.Counter, out var spoilt) && spoilt >= life.EndedAt)
            return Excuse.Spoilt;
        if (life.Machine.State != MachineState.Up)
            return Excuse.SourceEnds;
        return faults().Any(life.EndedAt, FaultKind.RestartAll) || faults().Concerned(target.Host, life.EndedAt, Ending)
            || target is not { State: MachineState.Up, WasEvicted: false } || IsGone(target) ? Excuse.TargetEnds : null;
    }

    private static int TargetOf(DeactivationReason reason)
    {
        var at = reason.Description.IndexOf("10.0.0.", StringComparison.Ordinal);
        return at < 0
            ? 0 : int.Parse(new string([.. reason.Description.AsSpan(at + 7).ToArray().TakeWhile(char.IsAsciiDigit)]),
                System.Globalization.CultureInfo.InvariantCulture);
    }

    /// <summary>Only the newest life of a counter may run turns.</summary>
    private void CheckTurn(Life life)
    {
        Excuses.See(Excuse.Turns);
        if (life.MustNotServe)
            Accuse("served", Tell(life) + " serves though it asked for its end before it began.");
        var newest = _newest[life.Counter];
        if (newest == life)
            return;
        if (life.EndReason is not null)
        {
            Accuse("turn after the end", "A turn of " + Tell(life) + " after its end, when there is " + Tell(newest) + ".");
        }
        else if (!MayRunOn(life) || !Excuses.Say(Excuse.TurnWithoutLease))
        {
            Accuse(
                "two lives", "A turn of " + Tell(life) + " when there is " + Tell(newest) + " since " + new TimeSpan(newest.Since) + ".");
        }
    }

    /// <summary>
    /// Without a lease a silo that was evicted runs on until it hears of it: it reads the table every 5 s, unless it is kept from that.
    /// </summary>
    private bool MayRunOn(Life life) => !world.Settings.HasLease && IsGone(life.Machine)
        && world.Pump.Now - NewsOf(life.Machine) <= LongestUnaware;

    /// <summary>Notes who was evicted since the last look.</summary>
    internal void SeeEvictions()
    {
        foreach (var silo in world.Silos)
        {
            if (silo.State == MachineState.Up && !_evictedAt.ContainsKey(silo) && IsGone(silo))
                _evictedAt.Add(silo, world.Pump.Now);
        }
    }

    /// <summary>When a silo that was evicted could begin to hear of it.</summary>
    private long NewsOf(Machine machine)
    {
        var at = _evictedAt.GetValueOrDefault(machine, world.Pump.Now);
        return Math.Max(Math.Max(at, machine.ResumedAt), faults().EndOf(machine.Host, Deafening));
    }

    /// <summary>The process has ended, or the others have declared it dead.</summary>
    private bool IsGone(Machine machine) =>
        machine.IsDead || world.Table.Snapshot.FindRow(machine.Node.Address) is not { Status: not SiloStatus.Dead };

    private static string Tell(Life life) => "life " + life.Number + " of grain " + life.Counter + " on " + life.Machine.Name;
}
