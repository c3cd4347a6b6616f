using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace Orleans.Hosting;

/// <summary>Extensions that any grain of a silo gets when it is called through them.</summary>
public static class HostingGrainExtensions
{
    /// <summary>Makes a <typeparamref name="TExtension"/> for each activation that is called through the interface.</summary>
    public static ISiloBuilder AddGrainExtension<TExtensionInterface, TExtension>(this ISiloBuilder builder)
        where TExtensionInterface : class, IGrainExtension
        where TExtension : class, TExtensionInterface
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddGrainExtension<TExtensionInterface, TExtension>();
        return builder;
    }

    /// <summary>As for a silo: for the observers of a client.</summary>
    public static IClientBuilder AddGrainExtension<TExtensionInterface, TExtension>(this IClientBuilder builder)
        where TExtensionInterface : class, IGrainExtension
        where TExtension : class, TExtensionInterface
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddGrainExtension<TExtensionInterface, TExtension>();
        return builder;
    }

    /// <summary>Makes a <typeparamref name="TExtension"/> for each activation that is called through the interface.</summary>
    public static IServiceCollection AddGrainExtension<TExtensionInterface, TExtension>(this IServiceCollection services)
        where TExtensionInterface : class, IGrainExtension
        where TExtension : class, TExtensionInterface =>
        services.AddKeyedTransient<IGrainExtension, TExtension>(typeof(TExtensionInterface));
}
