using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// Comparers of collections on the wire: a number for those of the framework, the object itself when its class has a codec. Others are
/// refused, because the default comparer would change the behaviour of the collection.
/// </summary>
internal static class Comparers
{
    private const byte Default = 0;
    private const byte Object = 255;

    // The position in this list is the number on the wire: append only.
    private static readonly object[] Known =
    [
        StringComparer.Ordinal, StringComparer.OrdinalIgnoreCase, StringComparer.InvariantCulture,
        StringComparer.InvariantCultureIgnoreCase, ReferenceEqualityComparer.Instance,
    ];

    private static readonly string[] Names = ["Ordinal", "OrdinalIgnoreCase", "InvariantCulture", "InvariantCultureIgnoreCase",
        "Reference"];

    internal static void Write<T>(ref WireWriter writer, IEqualityComparer<T> comparer) =>
        Write(ref writer, comparer, EqualityComparer<T>.Default);

    internal static void WriteOrder<T>(ref WireWriter writer, IComparer<T> comparer) => Write(ref writer, comparer, Comparer<T>.Default);

    /// <summary>Null for the default comparer.</summary>
    internal static IEqualityComparer<T>? Read<T>(ref WireReader reader) => Fit<IEqualityComparer<T>>(Read(ref reader));

    /// <summary>Null for the default comparer.</summary>
    internal static IComparer<T>? ReadOrder<T>(ref WireReader reader) => Fit<IComparer<T>>(Read(ref reader));

    /// <summary>Identifies comparers that cannot be serialized; empty for the default one.</summary>
    internal static string NameOf(object comparer, object byDefault)
    {
        if (comparer.Equals(byDefault))
            return "";
        var known = Array.FindIndex(Known, comparer.Equals);
        return known >= 0 ? Names[known] : comparer.GetType().FullName!;
    }

    private static void Write(ref WireWriter writer, object comparer, object byDefault)
    {
        if (comparer.Equals(byDefault))
        {
            writer.WriteByte(Default);
            return;
        }

        var known = Array.FindIndex(Known, comparer.Equals);
        if (known >= 0)
        {
            writer.WriteByte((byte)(known + 1));
            return;
        }

        if (!AnyCodec.CanWrite(comparer.GetType()))
        {
            throw new SerializerException(
                "A collection with the comparer " + comparer.GetType() +
                    " cannot be sent: mark the comparer's class with [GenerateSerializer].");
        }

        writer.WriteByte(Object);
        Codec<object>.Default.Write(ref writer, comparer);
    }

    private static object? Read(ref WireReader reader) => reader.ReadByte() switch
    {
        Default => null,
        Object => Codec<object>.Default.Read(ref reader) ?? throw Parsing.Invalid("comparer"),
        var number when number <= Known.Length => Known[number - 1],
        _ => throw Parsing.Invalid("comparer"),
    };

    private static TComparer? Fit<TComparer>(object? comparer)
        where TComparer : class => comparer is null ? null : comparer as TComparer ?? throw Parsing.Invalid("comparer");
}
