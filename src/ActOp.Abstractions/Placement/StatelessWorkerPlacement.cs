using System.Globalization;
using Orleans.Metadata;

namespace Orleans.Runtime;

/// <summary>The caller's silo, with several activations of a grain at once and none of them in the directory.</summary>
internal sealed class StatelessWorkerPlacement : PlacementStrategy
{
    private const string MaxLocalKey = "max-local-instances";
    private const string RemoveIdleWorkersKey = "remove-idle-workers";

    /// <summary>One activation per processor; also what <see cref="Initialize"/> starts from.</summary>
    public StatelessWorkerPlacement()
        : this(-1)
    {
    }

    /// <summary>Up to <paramref name="maxLocal"/> activations per silo; one per processor when it is less than 1.</summary>
    internal StatelessWorkerPlacement(int maxLocal, bool removeIdleWorkers = true)
    {
        MaxLocal = maxLocal > 0 ? maxLocal : Environment.ProcessorCount;
        RemoveIdleWorkers = removeIdleWorkers;
    }

    /// <inheritdoc/>
    public override bool IsUsingGrainDirectory => false;

    /// <summary>The most activations of one grain per silo.</summary>
    internal int MaxLocal { get; private set; }

    /// <summary>Whether activations that are not needed end soon.</summary>
    internal bool RemoveIdleWorkers { get; private set; }

    /// <inheritdoc/>
    public override void Initialize(GrainProperties properties)
    {
        base.Initialize(properties);
        if (properties.Properties.TryGetValue(MaxLocalKey, out var text) && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var maxLocal) && maxLocal > 0)
            MaxLocal = maxLocal;
        if (properties.Properties.TryGetValue(RemoveIdleWorkersKey, out text) && bool.TryParse(text, out var removeIdleWorkers))
            RemoveIdleWorkers = removeIdleWorkers;
    }

    /// <inheritdoc/>
    public override void PopulateGrainProperties(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties)
    {
        base.PopulateGrainProperties(services, grainClass, grainType, properties);
        properties[MaxLocalKey] = MaxLocal.ToString(CultureInfo.InvariantCulture);
        properties[RemoveIdleWorkersKey] = RemoveIdleWorkers ? "true" : "false";
    }
}
