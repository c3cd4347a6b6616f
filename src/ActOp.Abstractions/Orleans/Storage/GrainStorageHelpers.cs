using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Providers;

namespace Orleans.Storage;

/// <summary>Finds the storage of a grain class.</summary>
public static class GrainStorageHelpers
{
    /// <summary>
    /// The provider that <see cref="StorageProviderAttribute"/> on the class or one of its bases names, else the default one.
    /// </summary>
    /// <exception cref="BadProviderConfigException">There is no such provider.</exception>
    public static IGrainStorage GetGrainStorage(Type grainType, IServiceProvider services)
    {
        ArgumentNullException.ThrowIfNull(grainType);
        ArgumentNullException.ThrowIfNull(services);
        var name = grainType.GetCustomAttribute<StorageProviderAttribute>(inherit: true)?.ProviderName;
        return FindStorage(services, name, "State \"state\" of grain " + grainType);
    }

    /// <summary>The provider of that name, or the default one.</summary>
    /// <param name="services">Where the providers are registered.</param>
    /// <param name="name">Null or empty for the default one.</param>
    /// <param name="user">Who needs it, for the message: a grain, and its state.</param>
    internal static IGrainStorage FindStorage(IServiceProvider services, string? name, string user)
    {
        if (string.IsNullOrEmpty(name))
        {
            return services.GetKeyedService<IGrainStorage>(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME)
                ?? services.GetService<IGrainStorage>()
                ?? throw new BadProviderConfigException("No default storage provider found for " + Lower(user)
                    + ". Add one on the silo builder, for example with AddMemoryGrainStorageAsDefault().");
        }

        return services.GetKeyedService<IGrainStorage>(name)
            ?? throw new BadProviderConfigException("No storage provider named \"" + name + "\" found for " + Lower(user)
                + ". Add one on the silo builder, for example with AddMemoryGrainStorage(\"" + name + "\").");
    }

    private static string Lower(string user) => char.ToLowerInvariant(user[0]) + user[1..];
}
