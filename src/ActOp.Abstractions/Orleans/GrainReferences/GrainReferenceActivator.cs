using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace Orleans.GrainReferences;

/// <summary>Makes the references of one grain type through one interface. Any thread.</summary>
public interface IGrainReferenceActivator
{
    /// <summary>A reference to the grain, of a class that implements the interface.</summary>
    GrainReference CreateReference(GrainId grainId);
}

/// <summary>
/// A service that makes references of some grain types in place of the runtime. Asked once per grain type and interface, when the first
/// reference is needed. Not asked for parts of the runtime.
/// </summary>
public interface IGrainReferenceActivatorProvider
{
    /// <summary>What makes the references; false if another provider or the runtime makes them.</summary>
    bool TryGet(GrainType grainType, GrainInterfaceType interfaceType, out IGrainReferenceActivator? activator);
}

/// <summary>Makes references to grains by the names of their interfaces, as a service of silos and clients.</summary>
/// <remarks>Any thread. Keeps the activators that its providers have returned.</remarks>
public sealed class GrainReferenceActivator
{
    private readonly ConcurrentDictionary<(GrainType, GrainInterfaceType), IGrainReferenceActivator?> _activators = new();
    private readonly IServiceProvider _services;
    private readonly IGrainReferenceActivatorProvider[] _providers;

    /// <summary>Creates the activator.</summary>
    /// <param name="serviceProvider">Has the runtime, which makes the references that no provider makes.</param>
    /// <param name="providers">Asked first, in this order.</param>
    public GrainReferenceActivator(IServiceProvider serviceProvider, IEnumerable<IGrainReferenceActivatorProvider> providers)
    {
        _services = serviceProvider;
        _providers = [.. providers];
    }

    /// <summary>A reference to the grain.</summary>
    /// <param name="grainId">The grain.</param>
    /// <param name="interfaceType">The interface; none for a reference that is cast before calls.</param>
    /// <exception cref="ArgumentException">This process does not have the interface.</exception>
    public GrainReference CreateReference(GrainId grainId, GrainInterfaceType interfaceType)
    {
        if (!_activators.TryGetValue((grainId.Type, interfaceType), out var activator))
        {
            activator = FindProvider(_providers, grainId.Type, interfaceType);
            if (_providers.Length > 0)
                _activators[(grainId.Type, interfaceType)] = activator;
        }

        if (activator is not null)
            return activator.CreateReference(grainId);
        var factory = _services.GetRequiredService<IGrainFactory>();
        return (GrainReference)(interfaceType.IsDefault ? factory.GetGrain(grainId) : factory.GetGrain(grainId, interfaceType));
    }

    internal static IGrainReferenceActivator? FindProvider(
        IGrainReferenceActivatorProvider[] providers, GrainType grainType, GrainInterfaceType interfaceType)
    {
        foreach (var provider in providers)
        {
            if (provider.TryGet(grainType, interfaceType, out var activator))
                return activator;
        }

        return null;
    }
}
