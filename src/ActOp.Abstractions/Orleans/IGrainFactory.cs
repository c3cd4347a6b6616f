using Orleans.Metadata;
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

/// <summary>Finds the grain types that implement grain interfaces in what the cluster hosts.</summary>
/// <remarks>Any thread. Keeps nothing: what the cluster hosts may change.</remarks>
public class GrainInterfaceTypeToGrainTypeResolver
{
    private readonly IClusterManifestProvider _manifests;
    private readonly Func<GrainInterfaceType, string?, GrainType?>? _constructed;

    /// <summary>Creates the resolver.</summary>
    public GrainInterfaceTypeToGrainTypeResolver(IClusterManifestProvider clusterManifestProvider)
        : this(clusterManifestProvider, null)
    {
    }

    /// <summary>Creates the resolver of a silo or client.</summary>
    /// <param name="manifests">What the cluster hosts.</param>
    /// <param name="constructed">Resolves interfaces of which this process has the type, also with type arguments; null for others.</param>
    internal GrainInterfaceTypeToGrainTypeResolver(
        IClusterManifestProvider manifests, Func<GrainInterfaceType, string?, GrainType?>? constructed)
    {
        _manifests = manifests;
        _constructed = constructed;
    }

    /// <summary>The grain type that a call through the interface means.</summary>
    /// <exception cref="ArgumentException">No class or several classes implement the interface.</exception>
    public GrainType GetGrainType(GrainInterfaceType interfaceType) => Resolve(interfaceType, null);

    /// <summary>As <see cref="GetGrainType(GrainInterfaceType)"/>, among the classes whose full names begin with the prefix.</summary>
    /// <exception cref="ArgumentException">No class or several classes implement the interface.</exception>
    public GrainType GetGrainType(GrainInterfaceType interfaceType, string prefix) =>
        Resolve(interfaceType, string.IsNullOrWhiteSpace(prefix) ? null : prefix);

    /// <summary>As <see cref="GetGrainType(GrainInterfaceType)"/>; false if no class or several classes implement the interface.</summary>
    public bool TryGetGrainType(GrainInterfaceType interfaceType, out GrainType result)
    {
        try
        {
            result = Resolve(interfaceType, null);
            return true;
        }
        catch (ArgumentException)
        {
            result = default;
            return false;
        }
    }

    private GrainType Resolve(GrainInterfaceType interfaceType, string? prefix)
    {
        if (_constructed?.Invoke(interfaceType, prefix) is { } found)
            return found;
        var all = _manifests.Current.AllGrainManifests;
        var name = interfaceType.ToString();
        var candidates = all.SelectMany(static manifest => manifest.Grains).DistinctBy(static grain => grain.Key)
            .Where(grain => grain.Value.Properties.Any(pair => pair.Value == name
                && pair.Key.StartsWith(WellKnownGrainTypeProperties.ImplementedInterfacePrefix, StringComparison.Ordinal))).ToList();
        if (prefix is not null)
        {
            var exact = candidates.FindAll(grain => ClassOf(grain.Value) == prefix);
            candidates = exact.Count == 1 ? exact
                : candidates.FindAll(grain => ClassOf(grain.Value).StartsWith(prefix, StringComparison.Ordinal));
        }

        var about = all.Select(manifest => manifest.Interfaces.GetValueOrDefault(interfaceType))
            .FirstOrDefault(static one => one is not null);
        return candidates.Count switch
        {
            1 => candidates[0].Key,
            0 => throw new ArgumentException("Could not find an implementation for interface " + interfaceType + "."),
            _ => Primary(candidates, about, interfaceType),
        };
    }

    /// <summary>The class that the interface names, or the one with the name of the interface.</summary>
    private static GrainType Primary(
        List<KeyValuePair<GrainType, GrainProperties>> candidates, GrainInterfaceProperties? about, GrainInterfaceType interfaceType)
    {
        if (about?.Properties.GetValueOrDefault(WellKnownGrainInterfaceProperties.DefaultGrainType) is { } named
            && candidates.Exists(grain => grain.Key.ToString() == named))
        {
            return GrainType.Create(named);
        }

        var name = about?.Properties.GetValueOrDefault(WellKnownGrainInterfaceProperties.TypeName) ?? "";
        var byName = candidates.FindAll(grain =>
            "I" + grain.Value.Properties.GetValueOrDefault(WellKnownGrainTypeProperties.TypeName) == name);
        return byName.Count == 1 ? byName[0].Key : throw new ArgumentException("The grain interface " + interfaceType + " is ambiguous: "
            + string.Join(", ", candidates.Select(static grain => grain.Key)) + " implement it.");
    }

    private static string ClassOf(GrainProperties properties) =>
        properties.Properties.GetValueOrDefault(WellKnownGrainTypeProperties.FullTypeName) ?? "";
}
