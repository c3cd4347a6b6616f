using Orleans.Runtime;

namespace Orleans;

/// <summary>Creates references to grains and observers. Local: sends no message and activates no grain.</summary>
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

/// <summary>A connection to the cluster for code outside of the grains.</summary>
public interface IClusterClient : IGrainFactory
{
    /// <summary>The client's services.</summary>
    IServiceProvider ServiceProvider { get; }
}

/// <summary>More ways to get a reference.</summary>
public static class GrainFactoryExtensions
{
    /// <summary>
    /// A reference to the grain with the given key, of the class whose name starts with <paramref name="grainClassNamePrefix"/>.
    /// </summary>
    public static TGrainInterface GetGrain<TGrainInterface>(
        this IGrainFactory grainFactory, IdSpan grainPrimaryKey, string grainClassNamePrefix)
        where TGrainInterface : IGrain
    {
        ArgumentNullException.ThrowIfNull(grainFactory);
        return (TGrainInterface)grainFactory.GetGrain(typeof(TGrainInterface), grainPrimaryKey, grainClassNamePrefix);
    }

    /// <summary>A reference to the grain with the given key.</summary>
    public static TGrainInterface GetGrain<TGrainInterface>(this IGrainFactory grainFactory, IdSpan grainPrimaryKey)
        where TGrainInterface : IGrain
    {
        ArgumentNullException.ThrowIfNull(grainFactory);
        return (TGrainInterface)grainFactory.GetGrain(typeof(TGrainInterface), grainPrimaryKey);
    }
}

/// <summary>Identity of grains and references to them.</summary>
public static class GrainExtensions
{
    /// <summary>
    /// A reference to the grain through <paramref name="interfaceType"/>; whether the grain has it shows at the first call.
    /// </summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public static object AsReference(this IAddressable grain, Type interfaceType) => References.Cast(grain, interfaceType);

    /// <summary>
    /// A reference to the grain through <typeparamref name="TGrainInterface"/>; whether the grain has it shows at the first call.
    /// </summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public static TGrainInterface AsReference<TGrainInterface>(this IAddressable grain) =>
        (TGrainInterface)References.Cast(grain, typeof(TGrainInterface));

    /// <summary>
    /// A reference to the grain through <paramref name="interfaceType"/>; whether the grain has it shows at the first call.
    /// </summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public static object Cast(this IAddressable grain, Type interfaceType) => References.Cast(grain, interfaceType);

    /// <summary>
    /// A reference to the grain through <typeparamref name="TGrainInterface"/>; whether the grain has it shows at the first call.
    /// </summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public static TGrainInterface Cast<TGrainInterface>(this IAddressable grain) =>
        (TGrainInterface)References.Cast(grain, typeof(TGrainInterface));

    /// <summary>The grain's id.</summary>
    /// <exception cref="ArgumentException">The object is neither a grain nor a reference to one.</exception>
    /// <exception cref="InvalidOperationException">The grain was not made by the runtime.</exception>
    public static GrainId GetGrainId(this IAddressable grain) => References.IdOf(grain);

    /// <summary>The grain's key as a Guid, and its extension or null. A number becomes the last eight bytes, the lowest first.</summary>
    /// <exception cref="InvalidOperationException">The key is neither a Guid nor a number.</exception>
    public static Guid GetPrimaryKey(this IAddressable grain, out string? keyExt)
    {
        var id = References.IdOf(grain);
        if (id.TryGetGuidKey(out var key, out keyExt))
            return key;
        if (!id.TryGetIntegerKey(out var number, out keyExt))
            throw new InvalidOperationException("The key of grain " + id + " is neither a Guid nor a number.");
        Span<byte> bytes = stackalloc byte[16];
        System.Buffers.Binary.BinaryPrimitives.WriteInt64LittleEndian(bytes[8..], number);
        return new Guid(bytes);
    }

    /// <summary>The grain's key as a Guid. A number becomes the last eight bytes, the lowest first.</summary>
    /// <exception cref="InvalidOperationException">The key is neither a Guid nor a number.</exception>
    public static Guid GetPrimaryKey(this IAddressable grain) => grain.GetPrimaryKey(out _);

    /// <summary>The grain's key as a number, and its extension or null.</summary>
    /// <exception cref="InvalidOperationException">The key is no number.</exception>
    public static long GetPrimaryKeyLong(this IAddressable grain, out string? keyExt)
    {
        var id = References.IdOf(grain);
        return id.TryGetIntegerKey(out var key, out keyExt)
            ? key : throw new InvalidOperationException("The key of grain " + id + " is not a number.");
    }

    /// <summary>The grain's key as a number.</summary>
    /// <exception cref="InvalidOperationException">The key is no number.</exception>
    public static long GetPrimaryKeyLong(this IAddressable grain) => grain.GetPrimaryKeyLong(out _);

    /// <summary>The grain's key as text, whatever its kind.</summary>
    public static string GetPrimaryKeyString(this IAddressable grain) => References.IdOf(grain).Key.ToString();

    /// <summary>True when the key can be read as a number.</summary>
    public static bool IsPrimaryKeyBasedOnLong(this IAddressable grain) => References.IdOf(grain).TryGetIntegerKey(out _, out _);
}
