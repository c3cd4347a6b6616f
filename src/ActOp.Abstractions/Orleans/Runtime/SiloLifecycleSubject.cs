using System.Collections.Immutable;
using Microsoft.Extensions.Logging;

namespace Orleans.Runtime;

/// <summary>The lifecycle of a silo as its owner sees it: who starts and stops it.</summary>
public interface ISiloLifecycleSubject : ISiloLifecycle, ILifecycleObserver
{
}

/// <summary>
/// A lifecycle with the stages of a silo, for tests and tools that start parts of a silo without one. Silos run their own.
/// </summary>
public class SiloLifecycleSubject : LifecycleSubject, ISiloLifecycleSubject
{
    private static readonly ImmutableDictionary<int, string> Names = GetStageNames(typeof(ServiceLifecycleStage));

    /// <summary>Creates the lifecycle.</summary>
    public SiloLifecycleSubject(ILogger<SiloLifecycleSubject> logger)
        : this(logger, null)
    {
    }

    /// <summary>Creates the lifecycle.</summary>
    /// <param name="logger">For failures at the stop.</param>
    /// <param name="localSiloDetails">The silo; may be null.</param>
    public SiloLifecycleSubject(ILogger<SiloLifecycleSubject> logger, ILocalSiloDetails? localSiloDetails)
        : base(logger)
    {
    }

    /// <inheritdoc/>
    public int HighestCompletedStage { get; private set; } = int.MinValue;

    /// <inheritdoc/>
    public int LowestStoppedStage { get; private set; } = int.MaxValue;

    /// <inheritdoc/>
    protected override string GetStageName(int stage) => Names.TryGetValue(stage, out var name) ? name : base.GetStageName(stage);

    /// <inheritdoc/>
    protected override void OnStartStageCompleted(int stage) => HighestCompletedStage = stage;

    /// <inheritdoc/>
    protected override void OnStopStageCompleted(int stage) => LowestStoppedStage = stage;
}
