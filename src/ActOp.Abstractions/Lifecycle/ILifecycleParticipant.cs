namespace Orleans;

/// <summary>A service that joins a lifecycle when it is set up.</summary>
/// <typeparam name="TLifecycleObservable">The lifecycle.</typeparam>
public interface ILifecycleParticipant<TLifecycleObservable>
    where TLifecycleObservable : ILifecycleObservable
{
    /// <summary>Joins the stages that it wants to.</summary>
    void Participate(TLifecycleObservable lifecycle);
}
