namespace Orleans.Runtime;

/// <summary>The start and the end of an activation, in the stages of <see cref="GrainLifecycleStage"/>, and its migration.</summary>
public interface IGrainLifecycle : ILifecycleObservable
{
    /// <summary>Adds a part of the activation that has something to carry along when it moves.</summary>
    void AddMigrationParticipant(IGrainMigrationParticipant participant);

    /// <summary>Removes what was added.</summary>
    void RemoveMigrationParticipant(IGrainMigrationParticipant participant);
}

/// <summary>Stages of an activation's start, in ascending order; it ends in descending order.</summary>
public static class GrainLifecycleStage
{
    /// <summary>Before all others.</summary>
    public const int First = int.MinValue;

    /// <summary>State is read.</summary>
    public const int SetupState = 1000;

    /// <summary>The grain gets ready.</summary>
    public const int Activate = 2000;

    /// <summary>After all others.</summary>
    public const int Last = int.MaxValue;
}

/// <summary>The start and the end of a silo, in the stages of <see cref="ServiceLifecycleStage"/>.</summary>
public interface ISiloLifecycle : ILifecycleObservable
{
    /// <summary>The last stage whose start has ended.</summary>
    int HighestCompletedStage { get; }

    /// <summary>The last stage whose stop has ended.</summary>
    int LowestStoppedStage { get; }
}

/// <summary>Code of the application that runs when a silo starts.</summary>
public interface IStartupTask
{
    /// <summary>Runs; an exception ends the start.</summary>
    Task Execute(CancellationToken cancellationToken);
}
