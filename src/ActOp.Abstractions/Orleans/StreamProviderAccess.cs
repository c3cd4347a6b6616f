using Microsoft.Extensions.DependencyInjection;
using Orleans.Streams;

namespace Orleans;

/// <summary>The stream providers of a client.</summary>
public static class ClientStreamingExtensions
{
    /// <summary>The provider that was added under that name.</summary>
    /// <exception cref="KeyNotFoundException">There is none.</exception>
    public static IStreamProvider GetStreamProvider(this IClusterClient client, string name)
    {
        ArgumentNullException.ThrowIfNull(client);
        return StreamProviders.FindProvider(client.ServiceProvider, name);
    }
}

/// <summary>The stream providers of a grain's silo.</summary>
public static class GrainStreamingExtensions
{
    /// <summary>The provider that was added under that name.</summary>
    /// <exception cref="KeyNotFoundException">There is none.</exception>
    public static IStreamProvider GetStreamProvider(this Grain grain, string name) => GetStreamProvider((IGrainBase)grain, name);

    /// <summary>The provider that was added under that name.</summary>
    /// <exception cref="KeyNotFoundException">There is none.</exception>
    public static IStreamProvider GetStreamProvider(this IGrainBase grain, string name)
    {
        ArgumentNullException.ThrowIfNull(grain);
        return StreamProviders.FindProvider(grain.GrainContext.ActivationServices, name);
    }
}

/// <summary>Finds stream providers.</summary>
file static class StreamProviders
{
    internal static IStreamProvider FindProvider(IServiceProvider services, string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        return services.GetKeyedService<IStreamProvider>(name)
            ?? throw new KeyNotFoundException("No stream provider with the name " + name + " was added to this silo or client.");
    }
}
