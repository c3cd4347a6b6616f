using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// How instances of one grain class are made and disposed: by the activator of the application, if the class has one as a component, or by
/// the constructor with services of the container. The constructors are read once.
/// </summary>
/// <remarks>
/// Immutable; any thread. If a configurator of components throws, the activation fails with its exception and the next one calls it again.
/// </remarks>
internal sealed class GrainConstruction
{
    private readonly IGrainActivator? _activator;
    private readonly ObjectFactory? _factory;
    private readonly GrainConstructorArgumentFactory? _arguments;
    private readonly IConfigureGrainContext[] _configurators;
    private readonly Type _type;

    internal GrainConstruction(
        Type type, IServiceProvider services, ServiceLifetimes? lifetimes, GrainTypeSharedContext components,
        IConfigureGrainContext[] configurators)
    {
        Components = components;
        _type = type;
        _configurators = configurators;
        _activator = components.GetComponent<IGrainActivator>();
        if (_activator is not null)
        {
            NeedsScope = true;
            return;
        }

        var parameters = type.GetConstructors().SelectMany(static constructor => constructor.GetParameters()).ToArray();
        NeedsScope = Array.Exists(
            parameters,
            parameter => parameter.ParameterType != typeof(IGrainContext) && !Facets.IsFacet(parameter)
                && !IsSingleton(parameter, lifetimes));
        _arguments = new GrainConstructorArgumentFactory(services, type);
        _factory = ActivatorUtilities.CreateFactory(type, _arguments.ArgumentTypes);
        components.SetComponent<IGrainActivator>(new DefaultGrainActivator(services, type));
    }

    /// <summary>What the application has added to the class.</summary>
    internal GrainTypeSharedContext Components { get; }

    /// <summary>Whether the application makes and disposes the instances.</summary>
    internal bool IsCustom => _activator is not null;

    /// <summary>Whether a constructor may want something of the service provider that is not the same for all.</summary>
    internal bool NeedsScope { get; }

    private static bool IsSingleton(ParameterInfo parameter, ServiceLifetimes? lifetimes) =>
        lifetimes is not null && !parameter.IsDefined(typeof(FromKeyedServicesAttribute)) && lifetimes.IsSingleton(parameter.ParameterType);

    internal object Make(IServiceProvider services, Activation activation)
    {
        foreach (var configurator in _configurators)
            configurator.Configure(activation);
        return _factory is not null
            ? Construct(services, activation)
            : _activator!.CreateInstance(activation)
                ?? throw new InvalidOperationException(_activator.GetType() + " made no instance for " + activation.GrainId + ".");
    }

    private object Construct(IServiceProvider services, Activation activation)
    {
        try
        {
            return _factory!(services, _arguments!.CreateArguments(activation));
        }
        catch (Exception exception)
        {
            throw DefaultGrainActivator.Failed(_type, exception);
        }
    }

    /// <summary>Disposes an instance that <see cref="Make"/> has returned.</summary>
    internal async ValueTask DisposeAsync(Activation activation, object instance)
    {
        if (_activator is not null)
            await _activator.DisposeInstance(activation, instance);
        else if (instance is IAsyncDisposable asyncDisposable)
            await asyncDisposable.DisposeAsync();
        else
            (instance as IDisposable)?.Dispose();
    }
}

/// <summary>
/// Which services of the application are singletons: an activation that uses only singletons needs no service scope. Reads the host's
/// service collection; unknown services count as not singleton. Any thread, after the registration has ended.
/// </summary>
internal sealed class ServiceLifetimes(IServiceCollection services)
{
    /// <summary>Whether the service resolves to the same object in every scope.</summary>
    internal bool IsSingleton(Type service) => FindDescriptor(service) is { Lifetime: ServiceLifetime.Singleton };

    /// <summary>The effective registration: the last one of the type, else the last one of its generic definition.</summary>
    private ServiceDescriptor? FindDescriptor(Type service) =>
        Last(service) ?? (service.IsConstructedGenericType ? Last(service.GetGenericTypeDefinition()) : null);

    private ServiceDescriptor? Last(Type service) => services.LastOrDefault(one => !one.IsKeyedService && one.ServiceType == service);
}
