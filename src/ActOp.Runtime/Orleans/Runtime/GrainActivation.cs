using System.Collections.Concurrent;
using System.Collections.Immutable;
using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.GrainDirectory;
using Orleans.GrainReferences;
using Orleans.Metadata;
using Orleans.Runtime.GrainDirectory;
using Orleans.Runtime.Placement;
using Orleans.Serialization.Session;

namespace Orleans.Runtime;

/// <summary>
/// A service that adds components to grain classes, such as an <see cref="IGrainActivator"/>. Called once per class and silo, before its
/// first activation.
/// </summary>
public interface IConfigureGrainTypeComponents
{
    /// <summary>Adds to <paramref name="shared"/>.</summary>
    /// <param name="grainType">The grain's type.</param>
    /// <param name="properties">What the cluster knows of the grain's type.</param>
    /// <param name="shared">The components that all activations of the class share.</param>
    void Configure(GrainType grainType, GrainProperties properties, GrainTypeSharedContext shared);
}

/// <summary>
/// What all activations of a grain class on a silo share: components, which are set while the class is configured and then only read, and
/// the settings of the class. Any thread.
/// </summary>
public sealed class GrainTypeSharedContext
{
    private readonly Dictionary<Type, object> _components = [];
    private readonly IServiceProvider _services;
    private readonly GrainProperties _properties;
    private readonly TimeSpan? _ownAge;
    private readonly GrainType _grainType;
    private ILogger? _logger;

    /// <summary>The context of a grain type of which this process has the class.</summary>
    /// <exception cref="KeyNotFoundException">It does not have the class.</exception>
    public GrainTypeSharedContext(
        GrainType grainType, IClusterManifestProvider clusterManifestProvider, GrainClassMap grainClassMap,
        PlacementStrategyResolver placementStrategyResolver, IOptions<SiloMessagingOptions> messagingOptions,
        IOptions<GrainCollectionOptions> collectionOptions, IOptions<SchedulingOptions> schedulingOptions, IGrainRuntime grainRuntime,
        ILoggerFactory loggerFactory, GrainReferenceActivator grainReferenceActivator, IServiceProvider serviceProvider,
        SerializerSessionPool serializerSessionPool)
    {
        if (!grainClassMap.TryGetGrainClass(grainType, out var grainClass))
            throw new KeyNotFoundException("There is no class of the grain type " + grainType + ".");
        _grainType = grainType;
        _services = serviceProvider;
        GrainTypeName = NameOf(grainClass);
        _properties = new GrainPropertiesResolver(clusterManifestProvider).TryGetGrainProperties(grainType, out var properties)
            ? properties! : new GrainProperties(ImmutableDictionary<string, string>.Empty);
        PlacementStrategy = placementStrategyResolver.GetPlacementStrategy(grainType);
        MessagingOptions = messagingOptions.Value;
        CollectionOptions = collectionOptions.Value;
        SchedulingOptions = schedulingOptions.Value;
        Runtime = grainRuntime;
        _logger = loggerFactory.CreateLogger(grainClass);
        GrainReferenceActivator = grainReferenceActivator;
        SerializerSessionPool = serializerSessionPool;
    }

    internal GrainTypeSharedContext(GrainClass grainClass, IServiceProvider services)
    {
        _grainType = grainClass.GrainType;
        _services = services;
        GrainTypeName = NameOf(grainClass.Type);
        _properties = new GrainProperties(grainClass.Properties);
        _ownAge = grainClass.KeepAlive ? Timeout.InfiniteTimeSpan : grainClass.CollectionAge;
        PlacementStrategy = grainClass.Placement;
    }

    /// <summary>How long an activation may be idle before it ends.</summary>
    public TimeSpan CollectionAgeLimit => _ownAge ?? AgeOf(_properties.Properties.GetValueOrDefault(
        WellKnownGrainTypeProperties.IdleDeactivationPeriod)) ?? AgeOf(CollectionOptions);

    /// <summary>The directory of the application in which the grains are registered; null for the one of the runtime, or none.</summary>
    public IGrainDirectory? GrainDirectory => PlacementStrategy.IsUsingGrainDirectory ? FindDirectory() : null;

    /// <summary>Makes references.</summary>
    public GrainReferenceActivator GrainReferenceActivator
    {
        get => field ??= _services.GetRequiredService<GrainReferenceActivator>();
        private init;
    }

    /// <summary>The full name of the grain class.</summary>
    public string GrainTypeName { get; }

    /// <summary>A logger of the grain class.</summary>
    public ILogger Logger => _logger ??= _services.GetRequiredService<ILoggerFactory>().CreateLogger(GrainTypeName);

    /// <summary>The activation of a request that has run for so long is given up.</summary>
    public TimeSpan MaxRequestProcessingTime => MessagingOptions.MaxRequestProcessingTime;

    /// <summary>A request that has run for so long is logged.</summary>
    public TimeSpan MaxWarningRequestProcessingTime => MessagingOptions.RequestProcessingWarningTime;

    /// <summary>The options of the silo.</summary>
    public SiloMessagingOptions MessagingOptions
    {
        get => field ??= Option<SiloMessagingOptions>();
        private init;
    }

    /// <summary>How silos are chosen for activations.</summary>
    public PlacementStrategy PlacementStrategy { get; }

    /// <summary>The silo, as grains see it.</summary>
    public IGrainRuntime Runtime
    {
        get => field ??= _services.GetRequiredService<IGrainRuntime>();
        private init;
    }

    /// <summary>The options of the silo.</summary>
    public SchedulingOptions SchedulingOptions
    {
        get => field ??= Option<SchedulingOptions>();
        private init;
    }

    /// <summary>Sessions for serializers.</summary>
    public SerializerSessionPool SerializerSessionPool
    {
        get => field ??= _services.GetRequiredService<SerializerSessionPool>();
        private init;
    }

    private GrainCollectionOptions CollectionOptions
    {
        get => field ??= Option<GrainCollectionOptions>();
        init;
    }

    /// <summary>The component of that type, or null.</summary>
    public object? GetComponent(Type componentType) => _components.GetValueOrDefault(componentType);

    /// <summary>The component of that type, or null.</summary>
    public TComponent? GetComponent<TComponent>()
        where TComponent : class => (TComponent?)GetComponent(typeof(TComponent));

    /// <summary>Sets the component of that type, or removes it.</summary>
    public void SetComponent<TComponent>(TComponent? instance)
        where TComponent : class
    {
        if (instance is null)
            _components.Remove(typeof(TComponent));
        else
            _components[typeof(TComponent)] = instance;
    }

    private static string NameOf(Type grainClass) => grainClass.FullName ?? grainClass.Name;

    private static TimeSpan? AgeOf(string? property) => property switch
    {
        null => null,
        WellKnownGrainTypeProperties.IndefiniteIdleDeactivationPeriodValue => Timeout.InfiniteTimeSpan,
        _ => TimeSpan.TryParse(property, System.Globalization.CultureInfo.InvariantCulture, out var age) ? age : null,
    };

    private TimeSpan AgeOf(GrainCollectionOptions options) =>
        options.ClassSpecificCollectionAge.TryGetValue(GrainTypeName, out var age) ? age : options.CollectionAge;

    private TOptions Option<TOptions>()
        where TOptions : class => _services.GetRequiredService<IOptions<TOptions>>().Value;

    private IGrainDirectory? FindDirectory()
    {
        foreach (var resolver in _services.GetServices<IGrainDirectoryResolver>())
        {
            if (resolver.TryResolveGrainDirectory(_grainType, _properties, out var found))
                return found;
        }

        return _services.GetKeyedService<IGrainDirectory>(
            _properties.Properties.GetValueOrDefault(WellKnownGrainTypeProperties.GrainDirectory)
                ?? GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY);
    }
}

/// <summary>Finds what the activations of a grain class share.</summary>
/// <remarks>Any thread. Keeps the contexts of classes that its silo does not host.</remarks>
public class GrainTypeSharedContextResolver
{
    private readonly ConcurrentDictionary<GrainType, GrainTypeSharedContext> _others = new();
    private readonly IConfigureGrainTypeComponents[] _configurators;
    private readonly GrainPropertiesResolver _properties;
    private readonly IServiceProvider _services;

    /// <summary>Creates the resolver.</summary>
    /// <param name="configurators">Add components to classes that the silo does not host.</param>
    /// <param name="grainPropertiesResolver">Finds the properties of grain types.</param>
    /// <param name="serviceProvider">The services of the silo.</param>
    public GrainTypeSharedContextResolver(
        IEnumerable<IConfigureGrainTypeComponents> configurators, GrainPropertiesResolver grainPropertiesResolver,
        IServiceProvider serviceProvider)
    {
        _configurators = [.. configurators];
        _properties = grainPropertiesResolver;
        _services = serviceProvider;
    }

    /// <summary>The context of the grain type: the one that the activations of the silo use, if it hosts the class.</summary>
    /// <exception cref="KeyNotFoundException">This process does not have the class.</exception>
    public GrainTypeSharedContext GetComponents(GrainType grainType)
    {
        if (_services.GetService<GrainClasses>() is { } classes && classes.TryGet(grainType, out var hosted))
            return hosted.ConstructionOn(_services).Components;
        return _others.TryGetValue(grainType, out var known) ? known : _others.GetOrAdd(grainType, Make(grainType));
    }

    private GrainTypeSharedContext Make(GrainType grainType)
    {
        var shared = ActivatorUtilities.CreateInstance<GrainTypeSharedContext>(_services, grainType);
        if (!_properties.TryGetGrainProperties(grainType, out var properties))
            properties = new GrainProperties(ImmutableDictionary<string, string>.Empty);
        foreach (var configurator in _configurators)
            configurator.Configure(grainType, properties!, shared);
        return shared;
    }
}

/// <summary>
/// The arguments of a grain's constructor that do not come from the container: facets, and the activation. Read once; any thread.
/// </summary>
public class GrainConstructorArgumentFactory
{
    private readonly Facets? _facets;
    private readonly bool _takesContext;

    /// <summary>Reads the constructors of the class.</summary>
    /// <exception cref="OrleansException">No mapper is registered for the attribute of a facet.</exception>
    public GrainConstructorArgumentFactory(IServiceProvider serviceProvider, Type grainType)
    {
        ArgumentNullException.ThrowIfNull(grainType);
        _facets = Facets.FindFacets(grainType, serviceProvider);
        _takesContext = _facets is null && Array.Exists(grainType.GetConstructors(), static constructor =>
            Array.Exists(constructor.GetParameters(), static parameter => parameter.ParameterType == typeof(IGrainContext)));
        ArgumentTypes = _facets?.ArgumentTypes ?? (_takesContext ? [typeof(IGrainContext)] : []);
    }

    /// <summary>The types of the arguments, in the order of the parameters.</summary>
    public Type[] ArgumentTypes { get; }

    /// <summary>The arguments for one activation.</summary>
    public object[] CreateArguments(IGrainContext grainContext) =>
        _facets?.MakeArguments(grainContext) ?? (_takesContext ? [grainContext] : []);
}

/// <summary>Makes the objects of a grain class as the runtime does: by the constructor, with facets and services.</summary>
/// <remarks>Any thread. Holds the constructor, which is read with the first object.</remarks>
public class DefaultGrainActivator : IGrainActivator
{
    private readonly IServiceProvider _services;
    private readonly Type _type;
    private GrainConstructorArgumentFactory? _arguments;
    private ObjectFactory? _factory;

    /// <summary>Creates the activator of a class.</summary>
    public DefaultGrainActivator(IServiceProvider serviceProvider, Type grainClass)
    {
        ArgumentNullException.ThrowIfNull(grainClass);
        _services = serviceProvider;
        _type = grainClass;
    }

    /// <inheritdoc/>
    public object CreateInstance(IGrainContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        using var scope = GrainContextScope.Enter(context);
        try
        {
            _arguments ??= new GrainConstructorArgumentFactory(_services, _type);
            _factory ??= ActivatorUtilities.CreateFactory(_type, _arguments.ArgumentTypes);
            return _factory(context.ActivationServices, _arguments.CreateArguments(context));
        }
        catch (Exception exception)
        {
            throw Failed(_type, exception);
        }
    }

    /// <summary>What callers of a grain get whose constructor, or a service or facet for it, has thrown.</summary>
    internal static InvalidOperationException Failed(Type grainClass, Exception exception) =>
        new($"Failed to create an instance of grain type '{grainClass}'. See InnerException for details.", exception);

    /// <inheritdoc/>
    public async ValueTask DisposeInstance(IGrainContext context, object instance)
    {
        if (instance is IAsyncDisposable asyncDisposable)
            await asyncDisposable.DisposeAsync();
        else
            (instance as IDisposable)?.Dispose();
    }
}

/// <summary>Makes the activations of some grain types, for <see cref="GrainContextActivator"/>.</summary>
public interface IGrainContextActivator
{
    /// <summary>Makes an activation.</summary>
    /// <param name="address">The grain, and where it is.</param>
    /// <param name="configureActions">To be called for the activation.</param>
    IGrainContext CreateContext(GrainAddress address, IConfigureGrainContext[] configureActions);
}

/// <summary>
/// Finds what makes the activations of grain types, for <see cref="GrainContextActivator"/>. A silo makes its activations itself: it does
/// not start with such a service.
/// </summary>
public interface IGrainContextActivatorProvider
{
    /// <summary>What makes the activations of the grain type; false if another must be asked.</summary>
    bool TryGet(GrainType grainType, out IGrainContextActivator? activator);
}

/// <summary>Makes activations by providers of the application. Keeps what they have returned; any thread.</summary>
public sealed class GrainContextActivator
{
    private readonly ConcurrentDictionary<GrainType, (IGrainContextActivator Activator, IConfigureGrainContext[] Actions)> _known = new();
    private readonly IGrainContextActivatorProvider[] _providers;
    private readonly IConfigureGrainContextProvider[] _configurators;
    private readonly GrainPropertiesResolver _properties;

    /// <summary>Creates the activator.</summary>
    public GrainContextActivator(
        IEnumerable<IGrainContextActivatorProvider> providers, IEnumerable<IConfigureGrainContextProvider> configureContextActions,
        GrainPropertiesResolver grainPropertiesResolver)
    {
        _providers = [.. providers];
        _configurators = [.. configureContextActions];
        _properties = grainPropertiesResolver;
    }

    /// <summary>Makes an activation.</summary>
    /// <exception cref="InvalidOperationException">No provider knows the grain type.</exception>
    public IGrainContext CreateInstance(GrainAddress address)
    {
        ArgumentNullException.ThrowIfNull(address);
        var grainType = address.GrainId.Type;
        var (activator, actions) = _known.TryGetValue(grainType, out var known)
            ? known
            : _known.GetOrAdd(grainType, FindActivator(grainType));
        return activator.CreateContext(address, actions);
    }

    private (IGrainContextActivator Activator, IConfigureGrainContext[] Actions) FindActivator(GrainType grainType)
    {
        foreach (var provider in _providers)
        {
            if (!provider.TryGet(grainType, out var activator) || activator is null)
                continue;
            if (!_properties.TryGetGrainProperties(grainType, out var properties))
                properties = new GrainProperties(ImmutableDictionary<string, string>.Empty);
            var actions = new List<IConfigureGrainContext>();
            foreach (var configurator in _configurators)
            {
                if (configurator.TryGetConfigurator(grainType, properties!, out var action) && action is not null)
                    actions.Add(action);
            }

            return (activator, [.. actions]);
        }

        throw new InvalidOperationException("No " + nameof(IGrainContextActivatorProvider) + " makes activations of the grain type "
            + grainType + ".");
    }
}
