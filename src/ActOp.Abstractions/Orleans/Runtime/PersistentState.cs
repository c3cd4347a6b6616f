using System.Reflection;
using Orleans.Core;

namespace Orleans.Runtime;

/// <summary>
/// A named part of a grain's state, injected into its constructor with <see cref="PersistentStateAttribute"/>. It is read before
/// <c>OnActivateAsync</c>.
/// </summary>
/// <typeparam name="TState">The type of the state.</typeparam>
public interface IPersistentState<TState> : IStorage<TState>
{
}

/// <summary>Names a state of a grain and the storage that keeps it.</summary>
public interface IPersistentStateConfiguration
{
    /// <summary>The name of the state, unique in its grain.</summary>
    string StateName { get; }

    /// <summary>The name of the storage provider; null for the default one.</summary>
    string? StorageName { get; }
}

/// <summary>Marks a constructor parameter of type <see cref="IPersistentState{TState}"/>.</summary>
[AttributeUsage(AttributeTargets.Parameter)]
public class PersistentStateAttribute : Attribute, IFacetMetadata, IPersistentStateConfiguration
{
    /// <summary>Names the state.</summary>
    /// <param name="stateName">Unique in the grain.</param>
    /// <param name="storageName">The name of the storage provider; null for the default one.</param>
    public PersistentStateAttribute(string stateName, string? storageName = null)
    {
        ArgumentNullException.ThrowIfNull(stateName);
        StateName = stateName;
        StorageName = storageName;
    }

    /// <inheritdoc/>
    public string StateName { get; }

    /// <inheritdoc/>
    public string? StorageName { get; }
}

/// <summary>Makes the states of <see cref="PersistentStateAttribute"/>.</summary>
public interface IPersistentStateFactory
{
    /// <summary>Makes a state, which reads itself when the activation starts. Called while the grain is constructed.</summary>
    /// <exception cref="Storage.BadProviderConfigException">There is no provider of that name.</exception>
    IPersistentState<TState> Create<TState>(IGrainContext context, IPersistentStateConfiguration config);
}

/// <summary>
/// A service that makes the arguments of constructor parameters of grains that are marked with <typeparamref name="TMetadata"/>.
/// </summary>
/// <typeparam name="TMetadata">The attribute.</typeparam>
public interface IAttributeToFactoryMapper<in TMetadata>
    where TMetadata : IFacetMetadata
{
    /// <summary>Called once per parameter of a grain class.</summary>
    /// <param name="parameter">The parameter.</param>
    /// <param name="metadata">Its attribute.</param>
    /// <returns>Makes the argument for an activation.</returns>
    Factory<IGrainContext, object> GetFactory(ParameterInfo parameter, TMetadata metadata);
}
