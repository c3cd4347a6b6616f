namespace Orleans;

/// <summary>Something that starts and stops in stages which others can join.</summary>
public interface ILifecycleObservable
{
    /// <summary>Joins a stage.</summary>
    /// <param name="observerName">Name for logs.</param>
    /// <param name="stage">Stages start in ascending order and stop in descending order; the observers of one stage start and stop
    /// together.</param>
    /// <param name="observer">Is told of start and stop.</param>
    /// <returns>Leaves the stage when disposed.</returns>
    IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer);
}
