using Microsoft.Extensions.DependencyInjection;
using Orleans.GrainDirectory;
using Orleans.Hosting;

namespace Orleans.Runtime.Hosting;

/// <summary>Registers grain directories of the application.</summary>
public static class DirectorySiloBuilderExtensions
{
    /// <summary>
    /// The directory of the grains whose class names it (<see cref="GrainDirectoryAttribute"/>); with the name <c>default</c> the one of
    /// all other grains too. If it takes part in the lifecycle of the silo, it is asked to.
    /// </summary>
    public static ISiloBuilder AddGrainDirectory<T>(
        this ISiloBuilder builder, string name, Func<IServiceProvider, string, T> implementationFactory)
        where T : class, IGrainDirectory
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddGrainDirectory(name, implementationFactory);
        return builder;
    }

    /// <inheritdoc cref="AddGrainDirectory{T}(ISiloBuilder, string, Func{IServiceProvider, string, T})"/>
    public static IServiceCollection AddGrainDirectory<T>(
        this IServiceCollection collection, string name, Func<IServiceProvider, string, T> implementationFactory)
        where T : class, IGrainDirectory
    {
        ArgumentNullException.ThrowIfNull(implementationFactory);
        collection.AddKeyedSingleton<IGrainDirectory>(name, (services, _) => implementationFactory(services, name));
        if (typeof(ILifecycleParticipant<ISiloLifecycle>).IsAssignableFrom(typeof(T)))
        {
            collection.AddSingleton(services =>
                (ILifecycleParticipant<ISiloLifecycle>)services.GetRequiredKeyedService<IGrainDirectory>(name));
        }

        return collection;
    }
}
