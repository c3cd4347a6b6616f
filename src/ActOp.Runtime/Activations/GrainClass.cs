using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Reflection;
using ActOp.Calls;
using ActOp.Runtime.Groups;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Concurrency;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Activations;

/// <summary>
/// What the runtime knows of a grain class: one per class, and per constructed generic class. Any thread: immutable except for two caches.
/// </summary>
internal sealed class GrainClass
{
    private static readonly MethodInfo OnInstanceDefinition =
        typeof(GrainClass).GetMethod(nameof(OnInstance), BindingFlags.NonPublic | BindingFlags.Static)!;

    private readonly Func<Call, object?, bool>? _mayInterleave;
    private readonly ConcurrentDictionary<GrainGroup, ActivationHome> _homes = new();
    private GrainConstruction? _construction;
    private ActivationHome? _home;

    internal GrainClass(GrainType grainType, Type type, PlacementStrategy placement)
    {
        GrainType = grainType;
        Type = type;
        Placement = placement;
        Reentrant = type.IsDefined(typeof(ReentrantAttribute), inherit: true);
        IsOfRuntime = type.Assembly.IsDefined(typeof(OfRuntimeAttribute), inherit: false);
        Group = NodeGroups.NameOf(type);
        Worker = placement as StatelessWorkerPlacement;
        KeepAlive = type.IsDefined(typeof(KeepAliveAttribute), inherit: true);
        CollectionAge = type.GetCustomAttribute<CollectionAgeLimitAttribute>(inherit: true) is { } limit
            ? (limit.AlwaysActive ? Timeout.InfiniteTimeSpan : limit.AgeLimit) : null;
        Immovable = type.GetCustomAttribute<ImmovableAttribute>(inherit: true) is not null;
        Movable = type.IsDefined(typeof(ActOp.Placement.MovableAttribute), inherit: true);
        HoldsNoState = ActOp.Serialization.TypeManifest.HoldsNoState(type);
        HasActivationHook = HasHook(type, nameof(IGrainBase.OnActivateAsync));
        HasDeactivationHook = HasHook(type, nameof(IGrainBase.OnDeactivateAsync));
        Filters = typeof(IIncomingGrainCallFilter).IsAssignableFrom(type);
        if (type.GetCustomAttribute<MayInterleaveAttribute>(inherit: true) is { } mayInterleave)
            _mayInterleave = BindPredicate(type, mayInterleave.CallbackMethodName);
    }

    /// <summary>
    /// The class of system targets and observers, which are not grains. They are never collected and never migrate.
    /// </summary>
    internal static GrainClass Special(string name, Type type, bool reentrant) =>
        new(GrainType.Create(name), type, new PreferLocalPlacement()) { IsOrdinary = false, Reentrant = reentrant, KeepAlive = true };

    /// <summary>
    /// False for system targets and observers: their messages are not part of the communication graph of the application.
    /// </summary>
    internal bool IsOrdinary { get; private init; } = true;

    /// <summary>A grain of the runtime itself, such as a queue of streams: it is in no trace of the application.</summary>
    internal bool IsOfRuntime { get; }

    /// <summary>What the silo tells others of the class.</summary>
    internal ImmutableDictionary<string, string> Properties { get; init; } = ImmutableDictionary<string, string>.Empty;

    internal GrainType GrainType { get; }

    internal Type Type { get; }

    internal PlacementStrategy Placement { get; }

    internal bool Reentrant { get; private init; }

    internal bool HasPredicate => _mayInterleave is not null;

    /// <summary>Set for stateless workers.</summary>
    internal StatelessWorkerPlacement? Worker { get; }

    /// <summary>The group that the class names, or null.</summary>
    internal string? Group { get; }

    internal bool KeepAlive { get; private init; }

    /// <summary>The collection age of the class; infinite if it is never collected, null for the configured one.</summary>
    internal TimeSpan? CollectionAge { get; }

    internal bool Immovable { get; }

    /// <summary>Marked by its author: it loses nothing when it migrates.</summary>
    internal bool Movable { get; }

    /// <summary>The generator has found that its instances have only injected services and immutable values.</summary>
    internal bool HoldsNoState { get; }

    /// <summary>The class itself is an incoming call filter.</summary>
    internal bool Filters { get; }

    /// <summary>The class has an OnActivateAsync of its own.</summary>
    internal bool HasActivationHook { get; }

    /// <summary>The class has an OnDeactivateAsync of its own.</summary>
    internal bool HasDeactivationHook { get; }

    /// <summary>
    /// The object that the activations of this class share, until they join a group. All activations of a class on a node use one stage.
    /// </summary>
    internal ActivationHome HomeOn(ActivationParts parts, Stage stage) => _home ??= NewHome(parts, stage);

    /// <summary>The object that the activations of this class in the group share.</summary>
    internal ActivationHome HomeIn(GrainGroup group, ActivationHome first) => _homes.GetOrAdd(
        group, static (group, first) => new ActivationHome(first.Parts, first.Class, first.Stage, group), first);

    /// <summary>How instances are constructed. Created for the first instance, because system targets and observers need none.</summary>
    internal GrainConstruction ConstructionOn(IServiceProvider services) =>
        _construction ??= new GrainConstruction(Type, services, services.GetService<ServiceLifetimes>(), ConfiguredBy(services),
            [.. ContextConfigurators(services)]);

    /// <summary>As <see cref="ConstructionOn"/>; null before the first instance.</summary>
    internal GrainConstruction? Construction => _construction;

    internal bool UsesDirectory => Worker is null;

    internal bool MayInterleave(Call call, object? instance) => _mayInterleave is not null && _mayInterleave(call, instance);

    private ActivationHome NewHome(ActivationParts parts, Stage stage)
    {
        if (parts.Groups is not { } groups || !ReferenceEquals(stage, parts.Stages.Work) || (!IsOrdinary && IsOfRuntime))
            return new ActivationHome(parts, this, stage);
        return new ActivationHome(parts, this, stage, groups.OfClass(Group), groups.AreChosen);
    }

    private IEnumerable<IConfigureGrainContext> ContextConfigurators(IServiceProvider services)
    {
        foreach (var provider in services.GetServices<IConfigureGrainContextProvider>())
        {
            if (provider.TryGetConfigurator(GrainType, new GrainProperties(Properties), out var configurator) && configurator is not null)
                yield return configurator;
        }
    }

    private GrainTypeSharedContext ConfiguredBy(IServiceProvider services)
    {
        var shared = new GrainTypeSharedContext(this, services);
        foreach (var configurator in services.GetServices<IConfigureGrainTypeComponents>())
            configurator.Configure(GrainType, new GrainProperties(Properties), shared);
        return shared;
    }

    /// <summary>Whether the class overrides the hook. Those of <see cref="Grain"/> and of the interface do nothing.</summary>
    private static bool HasHook(Type type, string name)
    {
        if (type.IsInterface || !typeof(IGrainBase).IsAssignableFrom(type))
            return false;
        var map = type.GetInterfaceMap(typeof(IGrainBase));
        var hook = Array.FindIndex(map.InterfaceMethods, method => method.Name == name);
        return map.TargetMethods[hook].DeclaringType is var owner && owner != typeof(Grain) && owner != typeof(IGrainBase);
    }

    private static Func<Call, object?, bool> BindPredicate(Type type, string name)
    {
        const BindingFlags Any = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags
            .FlattenHierarchy;
        var method = type.GetMethod(name, Any)
            ?? throw new OrleansConfigurationException("[MayInterleave] on " + type + " names a method that does not exist: " + name + ".");
        if (method.ReturnType != typeof(bool) || method.IsGenericMethodDefinition
            || method.GetParameters() is not [{ ParameterType: var parameter }] || !parameter.IsAssignableFrom(typeof(IInvokable)))
        {
            throw new OrleansConfigurationException(
                "[MayInterleave] on " + type + ": " + name + " must take one IInvokable and return bool.");
        }

        // A delegate passes on the exception of the predicate itself, and costs no reflection per request.
        if (method.IsStatic)
        {
            var asked = method.CreateDelegate<Func<IInvokable, bool>>();
            return (call, _) => asked(((RequestBase)call).Visible);
        }

        return (Func<Call, object?, bool>)OnInstanceDefinition.MakeGenericMethod(type).Invoke(null, [method])!;
    }

    private static Func<Call, object?, bool> OnInstance<TGrain>(MethodInfo method)
        where TGrain : class
    {
        var asked = method.CreateDelegate<Func<TGrain, IInvokable, bool>>();
        return (call, instance) => asked((TGrain)instance!, ((RequestBase)call).Visible);
    }
}
