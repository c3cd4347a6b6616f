using ActOp.Grains;
using Orleans.Runtime;

namespace Orleans;

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
    public static TGrainInterface AsReference<TGrainInterface>(this IAddressable grain) => (TGrainInterface)References.Cast(grain, typeof(TGrainInterface));

    /// <summary>
    /// A reference to the grain through <paramref name="interfaceType"/>; whether the grain has it shows at the first call.
    /// </summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public static object Cast(this IAddressable grain, Type interfaceType) => References.Cast(grain, interfaceType);

    /// <summary>
    /// A reference to the grain through <typeparamref name="TGrainInterface"/>; whether the grain has it shows at the first call.
    /// </summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public static TGrainInterface Cast<TGrainInterface>(this IAddressable grain) => (TGrainInterface)References.Cast(grain, typeof(TGrainInterface));

    /// <summary>The grain's id.</summary>
    /// <exception cref="ArgumentException">The object is neither a grain nor a reference to one.</exception>
    /// <exception cref="InvalidOperationException">The grain was not made by the runtime.</exception>
    public static GrainId GetGrainId(this IAddressable grain) => References.IdOf(grain);

    /// <summary>The grain's key as a Guid, and its extension or null.</summary>
    /// <exception cref="InvalidOperationException">The key is no Guid.</exception>
    public static Guid GetPrimaryKey(this IAddressable grain, out string? keyExt)
    {
        var id = References.IdOf(grain);
        return id.TryGetGuidKey(out var key, out keyExt) ? key : throw new InvalidOperationException("The key of grain " + id + " is not a Guid.");
    }

    /// <summary>The grain's key as a Guid.</summary>
    /// <exception cref="InvalidOperationException">The key is no Guid.</exception>
    public static Guid GetPrimaryKey(this IAddressable grain) => grain.GetPrimaryKey(out _);

    /// <summary>The grain's key as a number, and its extension or null.</summary>
    /// <exception cref="InvalidOperationException">The key is no number.</exception>
    public static long GetPrimaryKeyLong(this IAddressable grain, out string? keyExt)
    {
        var id = References.IdOf(grain);
        return id.TryGetIntegerKey(out var key, out keyExt) ? key : throw new InvalidOperationException("The key of grain " + id + " is not a number.");
    }

    /// <summary>The grain's key as a number.</summary>
    /// <exception cref="InvalidOperationException">The key is no number.</exception>
    public static long GetPrimaryKeyLong(this IAddressable grain) => grain.GetPrimaryKeyLong(out _);

    /// <summary>The grain's key as text, whatever its kind.</summary>
    public static string GetPrimaryKeyString(this IAddressable grain) => References.IdOf(grain).Key.ToString();

    /// <summary>True when the key can be read as a number.</summary>
    public static bool IsPrimaryKeyBasedOnLong(this IAddressable grain) => References.IdOf(grain).TryGetIntegerKey(out _, out _);
}
