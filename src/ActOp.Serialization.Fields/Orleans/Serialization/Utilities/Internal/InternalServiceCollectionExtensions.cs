using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Serialization.Utilities.Internal;

/// <summary>Registers a service as another that exists.</summary>
public static class InternalServiceCollectionExtensions
{
    /// <summary>Resolves <typeparamref name="TService"/> as <typeparamref name="TImplementation"/>, with its lifetime.</summary>
    public static void AddFromExisting<TService, TImplementation>(this IServiceCollection services)
        where TImplementation : TService => services.AddFromExisting(typeof(TService), typeof(TImplementation));

    /// <summary>Resolves a service as another, with its lifetime; nothing when the other is not registered.</summary>
    public static void AddFromExisting(this IServiceCollection services, Type service, Type implementation)
    {
        if (services.FirstOrDefault(s => s.ServiceType == implementation) is { } registered)
            services.Add(new ServiceDescriptor(service, provider => provider.GetRequiredService(implementation), registered.Lifetime));
    }
}
