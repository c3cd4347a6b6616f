using ActOp.Runtime.Activations;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Hosting;

/// <summary>
/// The client that applications inject: the hosted client on a silo, otherwise the external one. Delegates to the node's factory.
/// </summary>
internal sealed class ClusterClient(GrainFactory factory, IServiceProvider services) : IClusterClient
{
    public IServiceProvider ServiceProvider => services;

    public TGrainObserverInterface CreateObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver => factory.CreateObjectReference<TGrainObserverInterface>(obj);

    public void DeleteObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver => factory.DeleteObjectReference<TGrainObserverInterface>(obj);

    public IAddressable GetGrain(GrainId grainId, GrainInterfaceType interfaceType) => factory.GetGrain(grainId, interfaceType);

    public IAddressable GetGrain(GrainId grainId) => factory.GetGrain(grainId);

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey, string grainClassNamePrefix) =>
        factory.GetGrain(interfaceType, grainKey, grainClassNamePrefix);

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey) => factory.GetGrain(interfaceType, grainKey);

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey, string keyExtension) =>
        factory.GetGrain(grainInterfaceType, grainPrimaryKey, keyExtension);

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey) => factory.GetGrain(grainInterfaceType, grainPrimaryKey);

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey, string keyExtension) =>
        factory.GetGrain(grainInterfaceType, grainPrimaryKey, keyExtension);

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey) => factory.GetGrain(grainInterfaceType, grainPrimaryKey);

    public IGrain GetGrain(Type grainInterfaceType, string grainPrimaryKey) => factory.GetGrain(grainInterfaceType, grainPrimaryKey);

    public TGrainInterface GetGrain<TGrainInterface>(GrainId grainId)
        where TGrainInterface : IAddressable => factory.GetGrain<TGrainInterface>(grainId);

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidCompoundKey =>
            factory.GetGrain<TGrainInterface>(primaryKey, keyExtension, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidKey => factory.GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerCompoundKey =>
            factory.GetGrain<TGrainInterface>(primaryKey, keyExtension, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerKey => factory.GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(string primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithStringKey => factory.GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix);
}
