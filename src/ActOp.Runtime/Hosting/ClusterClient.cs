using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// The client that applications inject: on a silo the hosted one, else the external one. All is done by the node's factory.
/// </summary>
internal sealed class ClusterClient(Node node) : IClusterClient
{
    private readonly GrainFactory _factory = node.Factory;

    public IServiceProvider ServiceProvider => node.Services;

    public TGrainObserverInterface CreateObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver => _factory.CreateObjectReference<TGrainObserverInterface>(obj);

    public void DeleteObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver => _factory.DeleteObjectReference<TGrainObserverInterface>(obj);

    public IAddressable GetGrain(GrainId grainId, GrainInterfaceType interfaceType) => _factory.GetGrain(grainId, interfaceType);

    public IAddressable GetGrain(GrainId grainId) => _factory.GetGrain(grainId);

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey, string grainClassNamePrefix) => _factory.GetGrain(interfaceType, grainKey, grainClassNamePrefix);

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey) => _factory.GetGrain(interfaceType, grainKey);

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey, string keyExtension) => _factory.GetGrain(grainInterfaceType, grainPrimaryKey, keyExtension);

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey) => _factory.GetGrain(grainInterfaceType, grainPrimaryKey);

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey, string keyExtension) => _factory.GetGrain(grainInterfaceType, grainPrimaryKey, keyExtension);

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey) => _factory.GetGrain(grainInterfaceType, grainPrimaryKey);

    public IGrain GetGrain(Type grainInterfaceType, string grainPrimaryKey) => _factory.GetGrain(grainInterfaceType, grainPrimaryKey);

    public TGrainInterface GetGrain<TGrainInterface>(GrainId grainId)
        where TGrainInterface : IAddressable => _factory.GetGrain<TGrainInterface>(grainId);

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidCompoundKey => _factory.GetGrain<TGrainInterface>(primaryKey, keyExtension, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidKey => _factory.GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerCompoundKey => _factory.GetGrain<TGrainInterface>(primaryKey, keyExtension, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerKey => _factory.GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(string primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithStringKey => _factory.GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix);
}
