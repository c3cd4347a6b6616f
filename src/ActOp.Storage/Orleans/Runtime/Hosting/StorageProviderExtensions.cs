using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Orleans.Providers;
using Orleans.Storage;

namespace Orleans.Runtime.Hosting;

/// <summary>Registers storage providers of the application.</summary>
public static class StorageProviderExtensions
{
    /// <summary>Registers a provider under a name, which is the key of the service.</summary>
    /// <remarks>A provider whose type takes part in the lifecycle of the silo is told of its stages.</remarks>
    /// <param name="collection">The services of the silo.</param>
    /// <param name="name">The name that grains use; "Default" for grains that use none.</param>
    /// <param name="implementationFactory">Makes the provider of that name; called once per silo.</param>
    public static IServiceCollection AddGrainStorage<T>(
        this IServiceCollection collection, string name, Func<IServiceProvider, string, T> implementationFactory)
        where T : IGrainStorage
    {
        ArgumentNullException.ThrowIfNull(collection);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(implementationFactory);
        collection.AddKeyedSingleton<IGrainStorage>(name, (services, key) => implementationFactory(services, (string)key!));
        if (name == ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME)
        {
            collection.TryAddSingleton(static services =>
                services.GetRequiredKeyedService<IGrainStorage>(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME));
        }

        if (typeof(ILifecycleParticipant<ISiloLifecycle>).IsAssignableFrom(typeof(T)))
        {
            collection.AddSingleton(services =>
                (ILifecycleParticipant<ISiloLifecycle>)services.GetRequiredKeyedService<IGrainStorage>(name));
        }

        return collection;
    }
}
