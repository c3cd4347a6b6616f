using System.Collections.Concurrent;
using ActOp.Foundation;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.GrainReferences;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>Makes references. Local and cheap: nothing is sent, nothing is activated. Any thread.</summary>
internal sealed class GrainFactory(GrainClasses classes, ActivationTable activations, CallSender calls) : IGrainFactory
{
    /// <summary>More than an application has pairs of grain types and interfaces.</summary>
    private const int MaxShared = 65_536;

    private readonly ConcurrentDictionary<(GrainType, Type), (GrainReferenceShared Shared, GrainInterface Entry)> _shared = new();
    private readonly ConcurrentDictionary<(string, SiloAddress, Type), GrainReference> _systemTargets = new();
    private IGrainReferenceActivatorProvider[]? _activators;
    private int _sharedCount;

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidKey =>
            Get<TGrainInterface>(GrainIdKeyExtensions.CreateGuidKey(primaryKey), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerKey =>
            Get<TGrainInterface>(GrainIdKeyExtensions.CreateIntegerKey(primaryKey), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(string primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithStringKey => Get<TGrainInterface>(StringKey(primaryKey), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidCompoundKey
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(keyExtension);
        return Get<TGrainInterface>(GrainIdKeyExtensions.CreateGuidKey(primaryKey, keyExtension), grainClassNamePrefix);
    }

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerCompoundKey
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(keyExtension);
        return Get<TGrainInterface>(GrainIdKeyExtensions.CreateIntegerKey(primaryKey, keyExtension), grainClassNamePrefix);
    }

    public TGrainInterface GetGrain<TGrainInterface>(GrainId grainId)
        where TGrainInterface : IAddressable => (TGrainInterface)(object)Create(grainId, typeof(TGrainInterface));

    public IAddressable GetGrain(GrainId grainId) => CreateUntyped(grainId);

    public IAddressable GetGrain(GrainId grainId, GrainInterfaceType interfaceType) =>
        TypeManifest.TryGetInterface(interfaceType.ToString()!, out var entry)
        ? Create(grainId, entry.Type)
        : throw new ArgumentException("No grain interface has the name " + interfaceType + ".", nameof(interfaceType));

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey, string grainClassNamePrefix) =>
        Create(GrainId.Create(classes.Resolve(interfaceType, grainClassNamePrefix), grainKey), interfaceType);

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey) =>
        Create(GrainId.Create(classes.Resolve(interfaceType, null), grainKey), interfaceType);

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey) =>
        (IGrain)GetGrain(grainInterfaceType, GrainIdKeyExtensions.CreateGuidKey(grainPrimaryKey));

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey) =>
        (IGrain)GetGrain(grainInterfaceType, GrainIdKeyExtensions.CreateIntegerKey(grainPrimaryKey));

    public IGrain GetGrain(Type grainInterfaceType, string grainPrimaryKey) =>
        (IGrain)GetGrain(grainInterfaceType, StringKey(grainPrimaryKey));

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey, string keyExtension)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(keyExtension);
        return (IGrain)GetGrain(grainInterfaceType, GrainIdKeyExtensions.CreateGuidKey(grainPrimaryKey, keyExtension));
    }

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey, string keyExtension)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(keyExtension);
        return (IGrain)GetGrain(grainInterfaceType, GrainIdKeyExtensions.CreateIntegerKey(grainPrimaryKey, keyExtension));
    }

    public TGrainObserverInterface CreateObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver
    {
        ArgumentNullException.ThrowIfNull(obj);
        if (!typeof(TGrainObserverInterface).IsInterface)
            throw new ArgumentException(typeof(TGrainObserverInterface) + " is not an interface.", nameof(obj));
        if (obj is GrainReference or Grain)
            throw new ArgumentException("A grain or a reference cannot be passed to CreateObjectReference; use AsReference.", nameof(obj));
        if (obj is not TGrainObserverInterface)
        {
            throw new ArgumentException("The object of type " + obj.GetType() + " does not implement " + typeof(TGrainObserverInterface)
                + ".", nameof(obj));
        }

        return (TGrainObserverInterface)(object)Create(activations.AddObserver(obj).GrainId, typeof(TGrainObserverInterface));
    }

    public void DeleteObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver
    {
        ArgumentNullException.ThrowIfNull(obj);
        if (obj is not GrainReference reference)
        {
            throw new ArgumentException("The argument of DeleteObjectReference must be a reference that CreateObjectReference returned.",
                nameof(obj));
        }

        if (activations.TryGet(reference.GrainId, out var activation))
            activation.EndObserver();
    }

    internal T GetSystemTarget<T>(string name, SiloAddress silo)
        where T : ISystemTarget =>
            (T)(object)_systemTargets.GetOrAdd((name, silo, typeof(T)),
                static (key, factory) => factory.Create(SystemGrainIds.SystemTarget(key.Item1, key.Item2), key.Item3), this);

    /// <summary>Number of cached references to system targets.</summary>
    internal int SystemTargets => _systemTargets.Count;

    /// <summary>
    /// Removes the references to system targets of silos that are no longer members. A removed reference is created again when it is
    /// needed.
    /// </summary>
    internal void OnView(View view)
    {
        foreach (var (key, _) in _systemTargets)
        {
            if (view.StatusOf(key.Item2) is SiloStatus.None or SiloStatus.Dead)
                _systemTargets.TryRemove(key, out _);
        }
    }

    internal object Cast(GrainReference reference, Type interfaceType) => Create(reference.GrainId, interfaceType);

    /// <summary>A reference without an interface: it must be cast before calls.</summary>
    internal GrainReference CreateUntyped(GrainId id)
    {
        var entry = classes.TryGet(id.Type, out var grainClass) ? FirstInterface(grainClass.Type) : FirstInterface(id.Type);
        return entry is null
            ? throw new ArgumentException("No grain class of the cluster with an interface of this process has the grain type " + id.Type
                + ".")
            : Create(id, entry);
    }

    internal GrainReference Create(GrainId id, Type interfaceType)
    {
        var (shared, entry) = _shared.TryGetValue((id.Type, interfaceType), out var found) ? found : Share((id.Type, interfaceType));
        return entry.CreateReference(shared, id.Key);
    }

    /// <summary>A reference to the same grain for a broadcast, whose calls are collected; the given one if it knows no interface.</summary>
    internal GrainReference CreateCollected(GrainReference reference)
    {
        if (reference.Shared.IsCollected || reference.Shared.Type is not { } type)
            return reference;
        var (shared, entry) = _shared.TryGetValue((reference.Shared.GrainType, type), out var found)
            ? found : Share((reference.Shared.GrainType, type));
        var made = entry.CreateReference(shared.Collected, reference.GrainId.Key);
        made.Hint = reference.Hint;
        return made;
    }

    /// <summary>Peers send references with grain types of their choice, so not all are kept.</summary>
    private (GrainReferenceShared Shared, GrainInterface Entry) Share((GrainType Type, Type Interface) key)
    {
        var made = MakeShared(key);
        if (Volatile.Read(ref _sharedCount) < MaxShared && _shared.TryAdd(key, made))
            Interlocked.Increment(ref _sharedCount);
        return made;
    }

    private static Type? FirstInterface(Type grainClass) => grainClass.GetInterfaces().FirstOrDefault(TypeManifest.IsGrainInterface);

    /// <summary>An interface of a class that other silos host.</summary>
    private Type? FirstInterface(GrainType grainType)
    {
        foreach (var name in classes.InterfacesOf(grainType))
        {
            if (TypeManifest.TryGetInterface(name, out var found) && !found.Type.IsGenericTypeDefinition)
                return found.Type;
        }

        return null;
    }

    private static IdSpan StringKey(string key)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(key);
        return IdSpan.Create(key);
    }

    private TGrainInterface Get<TGrainInterface>(IdSpan key, string? prefix) =>
        (TGrainInterface)(object)Create(GrainId.Create(classes.Resolve(typeof(TGrainInterface), prefix), key), typeof(TGrainInterface));

    /// <summary>The interface with references that the application makes; null if it does not.</summary>
    private GrainInterface? OfApplication(GrainReferenceShared shared)
    {
        if (shared.GrainType.IsSystemTarget())
            return null;
        _activators ??= [.. calls.Services.GetServices<IGrainReferenceActivatorProvider>()];
        return GrainReferenceActivator.FindProvider(_activators, shared.GrainType, shared.InterfaceType) is { } activator
            ? new GrainInterface(shared.Type!, shared.InterfaceName,
                (of, key) => activator.CreateReference(GrainId.Create(of.GrainType, key)) ?? throw new InvalidOperationException(
                    "The reference activator " + activator.GetType() + " has returned no reference to " + of.GrainType + "."))
            : null;
    }

    private (GrainReferenceShared, GrainInterface) MakeShared((GrainType Type, Type Interface) key)
    {
        if (!key.Interface.IsInterface)
            throw new ArgumentException(key.Interface + " is not an interface.");
        if (!TypeManifest.TryGetInterface(key.Interface, out var entry))
            throw new ArgumentException("The interface " + key.Interface + " is not a grain interface that generated code has registered.");
        var shared = new GrainReferenceShared(
            key.Type, GrainInterfaceType.Create(entry.Name), entry.Name, calls, classes.VersionOf(entry.Name), key.Interface);
        return (shared, OfApplication(shared) ?? entry);
    }
}
