namespace Orleans.Runtime;

/// <summary>A grain, or a part of one, that carries something along when the activation moves to another silo.</summary>
public interface IGrainMigrationParticipant
{
    /// <summary>Called on the old silo.</summary>
    /// <param name="dehydrationContext">Gets what is carried along; valid only during the call.</param>
    void OnDehydrate(IDehydrationContext dehydrationContext);

    /// <summary>Called on the new silo before activation.</summary>
    /// <param name="rehydrationContext">Has what was carried along; valid only during the call.</param>
    void OnRehydrate(IRehydrationContext rehydrationContext);
}
