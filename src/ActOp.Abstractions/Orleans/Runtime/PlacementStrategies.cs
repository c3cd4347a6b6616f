using System.Globalization;
using Orleans.Metadata;

namespace Orleans.Runtime;

/// <summary>Says how a silo is chosen for new activations of a grain; a director of the same strategy chooses.</summary>
[SerializerTransparent]
public abstract class PlacementStrategy
{
    /// <summary>True when activations are registered in the directory, so that there is one per grain.</summary>
    public virtual bool IsUsingGrainDirectory => true;

    /// <summary>Reads the strategy's settings from the properties of the grain type.</summary>
    public virtual void Initialize(GrainProperties properties)
    {
    }

    /// <summary>Writes the strategy's name and settings into the properties of the grain type.</summary>
    public virtual void PopulateGrainProperties(
        IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties)
    {
        ArgumentNullException.ThrowIfNull(properties);
        properties[WellKnownGrainTypeProperties.PlacementStrategy] = GetType().Name;
    }
}

/// <summary>Any silo.</summary>
public sealed class RandomPlacement : PlacementStrategy
{
}

/// <summary>The caller's silo if it can run the grain, else any.</summary>
public sealed class PreferLocalPlacement : PlacementStrategy
{
}

/// <summary>The silo that the hash of the grain's id selects among those that can run it.</summary>
public sealed class HashBasedPlacement : PlacementStrategy
{
}

/// <summary>The silo with the fewest recently used activations among a few chosen at random.</summary>
public sealed class ActivationCountBasedPlacement : PlacementStrategy
{
}

/// <summary>The silo with the most resources left: processor, memory and activations.</summary>
public sealed class ResourceOptimizedPlacement : PlacementStrategy
{
}

/// <summary>Any silo of the role that the grain's key names. The role of a silo is its name (<c>SiloOptions.SiloName</c>).</summary>
public class SiloRoleBasedPlacement : PlacementStrategy
{
}

/// <summary>
/// Of parts of silos that are called like grains: each is on the silo that its id names, and none is in the directory.
/// </summary>
public sealed class SystemTargetPlacementStrategy : PlacementStrategy
{
    /// <summary>The only one that is needed.</summary>
    public static SystemTargetPlacementStrategy Instance { get; } = new();

    /// <inheritdoc/>
    public override bool IsUsingGrainDirectory => false;
}

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
        if (properties.Properties.TryGetValue(MaxLocalKey, out var text)
            && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var maxLocal) && maxLocal > 0)
        {
            MaxLocal = maxLocal;
        }

        if (properties.Properties.TryGetValue(RemoveIdleWorkersKey, out text) && bool.TryParse(text, out var removeIdleWorkers))
            RemoveIdleWorkers = removeIdleWorkers;
    }

    /// <inheritdoc/>
    public override void PopulateGrainProperties(
        IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties)
    {
        base.PopulateGrainProperties(services, grainClass, grainType, properties);
        properties[MaxLocalKey] = MaxLocal.ToString(CultureInfo.InvariantCulture);
        properties[RemoveIdleWorkersKey] = RemoveIdleWorkers ? "true" : "false";
    }
}
