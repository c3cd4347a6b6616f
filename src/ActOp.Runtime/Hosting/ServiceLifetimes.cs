using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// Which services of the application are singletons, as it registered them: an instance that wants nothing else needs no service scope of
/// its own. Reads the collection given to the host when it is asked; what is not found there counts as no singleton. Any thread, after the
/// registration has ended.
/// </summary>
internal sealed class ServiceLifetimes(IServiceCollection services)
{
    /// <summary>The service resolves to the same object in every scope.</summary>
    internal bool IsSingleton(Type service) => Find(service) is { Lifetime: ServiceLifetime.Singleton };

    /// <summary>The registration that counts, which is the last one; an open generic one where there is none for the type itself.</summary>
    private ServiceDescriptor? Find(Type service) =>
        Last(service) ?? (service.IsConstructedGenericType ? Last(service.GetGenericTypeDefinition()) : null);

    private ServiceDescriptor? Last(Type service) => services.LastOrDefault(one => !one.IsKeyedService && one.ServiceType == service);
}
