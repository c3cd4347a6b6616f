using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>How instances of one grain class are made: its constructors are read once.</summary>
internal sealed class GrainConstruction
{
    private readonly ObjectFactory _factory;
    private readonly bool _takesContext;

    internal GrainConstruction(Type type, ServiceLifetimes? lifetimes)
    {
        var parameters = type.GetConstructors().SelectMany(static constructor => constructor.GetParameters()).ToArray();
        _takesContext = Array.Exists(parameters, static parameter => parameter.ParameterType == typeof(IGrainContext));
        NeedsScope = Array.Exists(
            parameters,
            parameter => parameter.ParameterType != typeof(IGrainContext) && !IsSingleton(parameter, lifetimes));
        _factory = ActivatorUtilities.CreateFactory(type, _takesContext ? [typeof(IGrainContext)] : []);
    }

    /// <summary>Whether a constructor may want something of the service provider that is not the same for all.</summary>
    internal bool NeedsScope { get; }

    private static bool IsSingleton(ParameterInfo parameter, ServiceLifetimes? lifetimes) =>
        lifetimes is not null && !parameter.IsDefined(typeof(FromKeyedServicesAttribute)) && lifetimes.IsSingleton(parameter.ParameterType);

    internal object Make(IServiceProvider services, Activation activation) => _factory(services, _takesContext ? [activation] : []);
}

/// <summary>
/// Which services of the application are singletons: an activation that uses only singletons needs no service scope. Reads the host's
/// service collection; unknown services count as not singleton. Any thread, after the registration has ended.
/// </summary>
internal sealed class ServiceLifetimes(IServiceCollection services)
{
    /// <summary>Whether the service resolves to the same object in every scope.</summary>
    internal bool IsSingleton(Type service) => Find(service) is { Lifetime: ServiceLifetime.Singleton };

    /// <summary>The effective registration: the last one of the type, else the last one of its generic definition.</summary>
    private ServiceDescriptor? Find(Type service) =>
        Last(service) ?? (service.IsConstructedGenericType ? Last(service.GetGenericTypeDefinition()) : null);

    private ServiceDescriptor? Last(Type service) => services.LastOrDefault(one => !one.IsKeyedService && one.ServiceType == service);
}
