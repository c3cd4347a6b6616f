using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Configuration.Internal;

/// <summary>Registers services under further types.</summary>
public static class ServiceCollectionExtensions
{
    /// <summary>The service is the object that is registered as <typeparamref name="TImplementation"/>.</summary>
    public static void AddFromExisting<TService, TImplementation>(this IServiceCollection services)
        where TImplementation : TService => services.AddFromExisting(typeof(TService), typeof(TImplementation));

    /// <summary>The service is the object that is registered as <paramref name="implementation"/>.</summary>
    public static void AddFromExisting(this IServiceCollection services, Type service, Type implementation)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(service);
        ArgumentNullException.ThrowIfNull(implementation);
        var registration = services.FirstOrDefault(one => !one.IsKeyedService && one.ServiceType == implementation)
            ?? throw new ArgumentNullException(nameof(implementation), "There is no registration of " + implementation + ".");
        services.Add(ServiceDescriptor.Describe(service, provider => provider.GetRequiredService(implementation), registration.Lifetime));
    }

    /// <summary>As the other method, unless the service is registered or the implementation is not.</summary>
    public static void TryAddFromExisting<TService, TImplementation>(this IServiceCollection services)
        where TImplementation : TService
    {
        ArgumentNullException.ThrowIfNull(services);
        if (services.All(static one => one.IsKeyedService || one.ServiceType != typeof(TService))
            && services.Any(static one => !one.IsKeyedService && one.ServiceType == typeof(TImplementation)))
        {
            services.AddFromExisting<TService, TImplementation>();
        }
    }
}
