using Orleans.Runtime;

namespace Orleans;

/// <summary>Makes references to grains and observers. Making one asks nobody and activates nothing.</summary>
/// <remarks>
/// Which class a grain is of follows from the interface: the class that implements it, or, when several do, the one that
/// <see cref="Orleans.Metadata.DefaultGrainTypeAttribute"/> names, that is named like the interface, or whose name starts with the given
/// prefix. All methods throw <see cref="ArgumentException"/> when there is none or no single one.
/// </remarks>
public interface IGrainFactory
{
    /// <summary>A reference to an object of this process that grains can call. The runtime does not keep the object alive.</summary>
    /// <exception cref="ArgumentException">The type is no interface, or the object is a grain or a reference.</exception>
    TGrainObserverInterface CreateObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver;

    /// <summary>Ends calls to the object of a reference made by <see cref="CreateObjectReference"/>.</summary>
    void DeleteObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver;

    /// <summary>A reference to the grain with this id through the interface of this name.</summary>
    IAddressable GetGrain(GrainId grainId, GrainInterfaceType interfaceType);

    /// <summary>A reference to the grain with this id that has no interface yet.</summary>
    IAddressable GetGrain(GrainId grainId);

    /// <summary>A reference to a grain by its key.</summary>
    IAddressable GetGrain(Type interfaceType, IdSpan grainKey, string grainClassNamePrefix);

    /// <summary>A reference to a grain by its key.</summary>
    IAddressable GetGrain(Type interfaceType, IdSpan grainKey);

    /// <summary>A reference to a grain by its key.</summary>
    /// <exception cref="ArgumentException">The extension is null, empty or blank.</exception>
    IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey, string keyExtension);

    /// <summary>A reference to a grain by its key.</summary>
    IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey);

    /// <summary>A reference to a grain by its key.</summary>
    /// <exception cref="ArgumentException">The extension is null, empty or blank.</exception>
    IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey, string keyExtension);

    /// <summary>A reference to a grain by its key.</summary>
    IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey);

    /// <summary>A reference to a grain by its key.</summary>
    IGrain GetGrain(Type grainInterfaceType, string grainPrimaryKey);

    /// <summary>A reference to the grain with this id.</summary>
    TGrainInterface GetGrain<TGrainInterface>(GrainId grainId)
        where TGrainInterface : IAddressable;

    /// <summary>A reference to a grain by its key.</summary>
    /// <exception cref="ArgumentException">The extension is null, empty or blank.</exception>
    TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidCompoundKey;

    /// <summary>A reference to a grain by its key.</summary>
    TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidKey;

    /// <summary>A reference to a grain by its key.</summary>
    /// <exception cref="ArgumentException">The extension is null, empty or blank.</exception>
    TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerCompoundKey;

    /// <summary>A reference to a grain by its key.</summary>
    TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerKey;

    /// <summary>A reference to a grain by its key.</summary>
    TGrainInterface GetGrain<TGrainInterface>(string primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithStringKey;
}
