using ActOp.Runtime.GrainServices;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace Orleans.Hosting;

/// <summary>Services that every silo runs.</summary>
public static class GrainServicesSiloBuilderExtensions
{
    /// <summary>Adds a grain service.</summary>
    /// <exception cref="ArgumentException">The class does not derive from <see cref="GrainService"/>.</exception>
    public static IServiceCollection AddGrainService(this IServiceCollection services, Type grainServiceType)
    {
        ArgumentNullException.ThrowIfNull(grainServiceType);
        if (!typeof(GrainService).IsAssignableFrom(grainServiceType) || grainServiceType.IsAbstract)
            throw new ArgumentException(grainServiceType + " is no class that derives from GrainService.", nameof(grainServiceType));
        services.AddSingleton(new GrainServiceClass(grainServiceType));
        return services;
    }

    /// <inheritdoc cref="AddGrainService(IServiceCollection, Type)"/>
    public static IServiceCollection AddGrainService<T>(this IServiceCollection services) => services.AddGrainService(typeof(T));

    /// <inheritdoc cref="AddGrainService(IServiceCollection, Type)"/>
    public static ISiloBuilder AddGrainService<T>(this ISiloBuilder builder)
        where T : GrainService
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddGrainService(typeof(T));
        return builder;
    }
}
