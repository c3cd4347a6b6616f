namespace Orleans.Runtime;

/// <summary>The start and the end of an activation, in the stages of <see cref="GrainLifecycleStage"/>, and its migration.</summary>
public interface IGrainLifecycle : ILifecycleObservable
{
    /// <summary>Adds a part of the activation that has something to carry along when it moves.</summary>
    void AddMigrationParticipant(IGrainMigrationParticipant participant);

    /// <summary>Removes what was added.</summary>
    void RemoveMigrationParticipant(IGrainMigrationParticipant participant);
}
