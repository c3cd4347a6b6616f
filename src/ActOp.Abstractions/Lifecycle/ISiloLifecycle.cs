namespace Orleans.Runtime;

/// <summary>The start and the end of a silo, in the stages of <see cref="ServiceLifecycleStage"/>.</summary>
public interface ISiloLifecycle : ILifecycleObservable
{
    /// <summary>The last stage whose start has ended.</summary>
    int HighestCompletedStage { get; }

    /// <summary>The last stage whose stop has ended.</summary>
    int LowestStoppedStage { get; }
}
