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
