using ActOp.Calls;
using Orleans.Runtime;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace Orleans;

/// <summary>Sets which versions of interfaces go together, on all silos that run.</summary>
[Callers(Callers.Administrators)]
public interface IVersionManager
{
    /// <summary>Which activations may serve which calls.</summary>
    Task SetCompatibilityStrategy(CompatibilityStrategy strategy);

    /// <summary>Which silos get new activations.</summary>
    Task SetSelectorStrategy(VersionSelectorStrategy strategy);

    /// <summary>Which activations may serve which calls of one interface.</summary>
    Task SetCompatibilityStrategy(GrainInterfaceType interfaceType, CompatibilityStrategy strategy);

    /// <summary>Which silos get new activations for calls of one interface.</summary>
    Task SetSelectorStrategy(GrainInterfaceType interfaceType, VersionSelectorStrategy strategy);
}
