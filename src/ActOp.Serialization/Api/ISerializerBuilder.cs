using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Orleans.Serialization;

/// <summary>Configures serialization.</summary>
public interface ISerializerBuilder
{
    /// <summary>The services that serialization belongs to.</summary>
    IServiceCollection Services { get; }
}

/// <summary>Configures serialization.</summary>
internal sealed class SerializerBuilder(IServiceCollection services) : ISerializerBuilder
{
    public IServiceCollection Services => services;
}

/// <summary>Adds serialization to services.</summary>
public static class ServiceCollectionExtensions
{
    /// <summary>
    /// Adds <see cref="Serializer"/>, <see cref="DeepCopier"/> and their typed forms; grain references are bound to the silo or client of
    /// the services, if any.
    /// </summary>
    public static IServiceCollection AddSerializer(this IServiceCollection services, Action<ISerializerBuilder>? configure = null)
    {
        services.TryAddSingleton(static provider => new Serializer(provider.GetService<CallRuntime>()));
        services.TryAddSingleton<DeepCopier>();
        services.TryAddSingleton(typeof(Serializer<>));
        services.TryAddSingleton(typeof(DeepCopier<>));
        configure?.Invoke(new SerializerBuilder(services));
        return services;
    }
}
