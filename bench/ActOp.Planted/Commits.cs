using Orleans.Concurrency;

namespace ActOp.Planted;

/// <summary>What a participant of a commit does that has voted and hears nothing more.</summary>
public enum Termination
{
    /// <summary>It waits. It never decides wrongly, and may never decide.</summary>
    Waits,

    /// <summary>It aborts.</summary>
    Aborts,

    /// <summary>It asks the others, and does as one that has decided; if there is none, it asks again.</summary>
    Asks,

    /// <summary>It asks the others, and aborts if none has decided.</summary>
    AsksOrAborts,

    /// <summary>In three phases: it aborts before the second one, and commits after it.</summary>
    Guesses,

    /// <summary>In three phases: it asks the coordinator until it is told.</summary>
    AsksCoordinator,
}

/// <summary>Where a participant is.</summary>
public enum Phase
{
    Idle,
    Prepared,
    Ready,
    Committed,
    Aborted,
}

/// <summary>One that has a part of a transaction. Messages have no answer and may be lost.</summary>
public interface IParticipant : IGrainWithIntegerKey
{
    [OneWay]
    Task Prepare(Termination termination);

    /// <summary>In three phases: all have voted for it.</summary>
    [OneWay]
    Task GetReady();

    [OneWay]
    Task Commit();

    [OneWay]
    Task Abort();

    Task<Phase> GetPhase();
}

/// <summary>One that decides when all have voted, or when not all have in time.</summary>
public interface ICoordinator : IGrainWithIntegerKey
{
    Task Begin(Termination termination);

    [OneWay]
    Task Vote(int participant);

    [OneWay]
    Task Acknowledge(int participant);

    Task<Phase> GetPhase();
}

public sealed class Coordinator : Grain, ICoordinator
{
    internal const int Participants = 3;

    private readonly HashSet<int> _votes = [];
    private readonly HashSet<int> _ready = [];
    private Termination _termination;
    private Phase _phase;

    private bool HasThreePhases => _termination is Termination.Guesses or Termination.AsksCoordinator;

    public Task Begin(Termination termination)
    {
        (_termination, _phase) = (termination, Phase.Prepared);
        this.RegisterGrainTimer(
            DecideAsync, new GrainTimerCreationOptions { DueTime = TimeSpan.FromSeconds(1), Period = TimeSpan.FromSeconds(1) });
        return TellAllAsync(one => one.Prepare(termination));
    }

    public Task Vote(int participant)
    {
        _votes.Add(participant);
        if (_phase != Phase.Prepared || _votes.Count < Participants)
            return Task.CompletedTask;
        _phase = HasThreePhases ? Phase.Ready : Phase.Committed;
        return TellAllAsync(one => HasThreePhases ? one.GetReady() : one.Commit());
    }

    public Task Acknowledge(int participant)
    {
        _ready.Add(participant);
        return _phase == Phase.Ready && _ready.Count == Participants ? CommitAsync() : Task.CompletedTask;
    }

    public Task<Phase> GetPhase() => Task.FromResult(_phase);

    /// <summary>Whoever has not voted in time has the same effect as a vote against it. Who has voted for it can be told later.</summary>
    private Task DecideAsync(CancellationToken cancellation)
    {
        if (_phase == Phase.Ready)
            return CommitAsync();
        if (_phase != Phase.Prepared)
            return Task.CompletedTask;
        _phase = Phase.Aborted;
        return TellAllAsync(static one => one.Abort());
    }

    private Task CommitAsync()
    {
        _phase = Phase.Committed;
        return TellAllAsync(static one => one.Commit());
    }

    private Task TellAllAsync(Func<IParticipant, Task> message) =>
        Task.WhenAll(Enumerable.Range(0, Participants).Select(key => message(GrainFactory.GetGrain<IParticipant>(key))));
}

[Reentrant]
public sealed class Participant : Grain, IParticipant
{
    private Termination _termination;
    private Phase _phase;

    private ICoordinator Boss => GrainFactory.GetGrain<ICoordinator>(0);

    public Task Prepare(Termination termination)
    {
        if (_phase != Phase.Idle)
            return Task.CompletedTask;
        (_termination, _phase) = (termination, Phase.Prepared);
        this.RegisterGrainTimer(
            TerminateAsync, new GrainTimerCreationOptions { DueTime = TimeSpan.FromSeconds(3), Period = TimeSpan.FromSeconds(1) });
        return Boss.Vote((int)this.GetPrimaryKeyLong());
    }

    public Task GetReady()
    {
        if (_phase != Phase.Prepared)
            return Task.CompletedTask;
        _phase = Phase.Ready;
        return Boss.Acknowledge((int)this.GetPrimaryKeyLong());
    }

    public Task Commit()
    {
        if (IsUndecided)
            _phase = Phase.Committed;
        return Boss.Acknowledge((int)this.GetPrimaryKeyLong());
    }

    public Task Abort()
    {
        if (IsUndecided)
            _phase = Phase.Aborted;
        return Boss.Acknowledge((int)this.GetPrimaryKeyLong());
    }

    public Task<Phase> GetPhase() => Task.FromResult(_phase);

    private bool IsUndecided => _phase is Phase.Idle or Phase.Prepared or Phase.Ready;

    private async Task TerminateAsync(CancellationToken cancellation)
    {
        if (!IsUndecided)
            return;
        var told = _termination switch
        {
            Termination.Aborts => Phase.Aborted,
            Termination.Guesses => _phase == Phase.Ready ? Phase.Committed : Phase.Aborted,
            Termination.AsksCoordinator => await Boss.GetPhase(),
            Termination.Asks => await AskAsync(Phase.Prepared),
            Termination.AsksOrAborts => await AskAsync(Phase.Aborted),
            _ => Phase.Prepared,
        };
        if (IsUndecided && told is Phase.Committed or Phase.Aborted)
            _phase = told;
    }

    private async Task<Phase> AskAsync(Phase otherwise)
    {
        for (var key = 0; key < Coordinator.Participants; key++)
        {
            if (key == this.GetPrimaryKeyLong())
                continue;
            var phase = await GrainFactory.GetGrain<IParticipant>(key).GetPhase();
            if (phase is Phase.Committed or Phase.Aborted)
                return phase;
        }

        return otherwise;
    }
}

/// <summary>Two-phase commit, with a protocol of termination and without, and three-phase commit, while messages are lost.</summary>
internal static class CommitFaults
{
    private const string Failure = "The participants disagree";

    internal static PlantedFault TwoPhases { get; } = new(
        "two-phase commit", "a participant that has voted aborts when it hears nothing",
        static world => CommitAsync(world, Termination.Aborts), static world => CommitAsync(world, Termination.Waits), Failure, 1, 0);

    internal static PlantedFault WithTermination { get; } = new(
        "two-phase commit with termination", "participants abort when none of them has heard the decision",
        static world => CommitAsync(world, Termination.AsksOrAborts), static world => CommitAsync(world, Termination.Asks), Failure, 3, 0);

    internal static PlantedFault ThreePhases { get; } = new(
        "three-phase commit", "a participant guesses what it was not told", static world => CommitAsync(world, Termination.Guesses),
        static world => CommitAsync(world, Termination.AsksCoordinator), Failure, 2, 0);

    /// <summary>Nobody who has decided has decided otherwise than the coordinator.</summary>
    internal static async Task CommitAsync(SimulationWorld world, Termination termination)
    {
        world.Silos.Count = 1;
        world.RandomFaults(messages: true);
        await world.Start();
        var coordinator = world.Grains.GetGrain<ICoordinator>(0);
        await coordinator.Begin(termination);
        await world.Delay(TimeSpan.FromSeconds(8));
        List<Phase> phases = [await coordinator.GetPhase()];
        for (var key = 0; key < Coordinator.Participants; key++)
            phases.Add(await world.Grains.GetGrain<IParticipant>(key).GetPhase());
        world.Check(
            !(phases.Contains(Phase.Committed) && phases.Contains(Phase.Aborted)),
            "The participants disagree: " + string.Join(", ", phases) + ".");
    }
}
