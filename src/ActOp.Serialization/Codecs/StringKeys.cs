using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The comparers of strings that keep their meaning on the wire; all others become the default one.</summary>
internal static class StringKeys
{
    private const byte Default = 0;
    private const byte Ordinal = 1;
    private const byte OrdinalIgnoreCase = 2;

    internal static void Write<T>(ref WireWriter writer, IEqualityComparer<T> comparer) => writer.WriteByte(Code(comparer));

    internal static void WriteOrder<T>(ref WireWriter writer, IComparer<T> comparer) => writer.WriteByte(Code(comparer));

    internal static IEqualityComparer<T>? Read<T>(ref WireReader reader) => Comparer(reader.ReadByte()) as IEqualityComparer<T>;

    internal static IComparer<T>? ReadOrder<T>(ref WireReader reader) => Comparer(reader.ReadByte()) as IComparer<T>;

    private static byte Code(object comparer) =>
        comparer.Equals(StringComparer.OrdinalIgnoreCase) ? OrdinalIgnoreCase
        : comparer.Equals(StringComparer.Ordinal) ? Ordinal
        : Default;

    private static StringComparer? Comparer(byte code) => code switch
    {
        Default => null,
        Ordinal => StringComparer.Ordinal,
        OrdinalIgnoreCase => StringComparer.OrdinalIgnoreCase,
        _ => throw Parsing.Invalid("comparer"),
    };
}
