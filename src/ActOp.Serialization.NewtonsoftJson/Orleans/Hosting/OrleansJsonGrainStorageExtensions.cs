using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Serialization;
using Orleans.Storage;

namespace Orleans.Hosting;

/// <summary>Chooses the form of states.</summary>
public static class OrleansJsonGrainStorageExtensions
{
    /// <summary>
    /// Storage providers without a serializer of their own write JSON as Orleans does by default, and read what it has written
    /// (<see cref="JsonGrainStorageSerializer"/>). <see cref="OrleansJsonSerializerOptions"/> has the settings.
    /// </summary>
    public static ISiloBuilder UseOrleansJsonGrainStorageSerializer(this ISiloBuilder siloBuilder)
    {
        ArgumentNullException.ThrowIfNull(siloBuilder);
        var services = siloBuilder.Services;
        services.TryAddSingleton<OrleansJsonSerializer>();
        services.TryAddEnumerable(ServiceDescriptor
            .Singleton<IPostConfigureOptions<OrleansJsonSerializerOptions>, ConfigureOrleansJsonSerializerOptions>());
        services.AddSingleton<IGrainStorageSerializer, JsonGrainStorageSerializer>();
        return siloBuilder;
    }
}
