using System.Reflection;
using System.Runtime.CompilerServices;

namespace ActOp.Wire;

/// <summary>Writes, reads and deep-copies values whose static type is <typeparamref name="T"/>. Stateless; used from any thread.</summary>
/// <remarks>Every value takes at least one byte, so that a reader can check counts against the bytes that are left.</remarks>
/// <typeparam name="T">The static type: for a class that is not sealed, or an interface, the codec writes the actual type too.</typeparam>
public abstract class Codec<T>
{
    private static Codec<T>? s_default;

    /// <summary>The codec of <typeparamref name="T"/>.</summary>
    /// <exception cref="Orleans.Serialization.CodecNotFoundException">No codec is registered for the type.</exception>
    public static Codec<T> Default => s_default ??= (Codec<T>)CodecSource.Resolve(typeof(T));

    /// <summary>True when values can be shared between grains without a copy.</summary>
    public abstract bool IsImmutable { get; }

    /// <summary>A deep copy; <paramref name="value"/> itself when <see cref="IsImmutable"/>.</summary>
    public abstract T Copy(T value, CopyContext context);

    /// <summary>Writes the whole value, null included.</summary>
    public abstract void Write(ref WireWriter writer, T value);

    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    public abstract T Read(ref WireReader reader);

    /// <summary>Writes the value as a member, with its tag.</summary>
    /// <param name="writer">Where to.</param>
    /// <param name="delta">The member's id less the id of the member before; the first one's id plus one.</param>
    /// <param name="value">The value.</param>
    public virtual void WriteMember(ref WireWriter writer, uint delta, T value)
    {
        if (value is null)
        {
            writer.WriteTag(delta, WireKind.Null);
            return;
        }

        writer.WriteTag(delta, WireKind.Block);
        var at = writer.BeginLength();
        Write(ref writer, value);
        writer.EndLength(at);
    }

    /// <summary>Reads a member whose tag was read.</summary>
    public virtual T ReadMember(ref WireReader reader, WireKind kind)
    {
        if (kind == WireKind.Null)
            return default!;
        if (kind != WireKind.Block)
            throw WireReader.WrongKind(kind, typeof(T));
        var end = reader.ReadLengthEnd();
        var value = Read(ref reader);
        if (reader.Position > end)
        {
            throw new Orleans.Serialization.SerializerException(
                "A member of type " + typeof(T) + " is longer than its length in the message.");
        }

        reader.Position = end;
        return value;
    }
}

/// <summary>How long the value of a tagged member is, so that a reader that does not know the member can skip it.</summary>
public enum WireKind : byte
{
    /// <summary>A varint of 1 to 10 bytes.</summary>
    Varint = 0,

    /// <summary>4 bytes.</summary>
    Fixed32 = 1,

    /// <summary>8 bytes.</summary>
    Fixed64 = 2,

    /// <summary>A varint length, then so many bytes.</summary>
    Bytes = 3,

    /// <summary>A length of 4 bytes, then so many bytes, which a codec wrote.</summary>
    Block = 4,

    /// <summary>Nothing: the value is null or the default.</summary>
    Null = 5,

    /// <summary>16 bytes.</summary>
    Fixed128 = 6,

    /// <summary>No member: the end of the members of one type.</summary>
    End = 7,
}

/// <summary>Where <see cref="Codec{T}.Default"/> finds codecs; the serialization library installs itself here.</summary>
internal static class CodecSource
{
    /// <summary>Finds the codec of a type; throws CodecNotFoundException when there is none.</summary>
    internal static Func<Type, object>? Resolver { get; set; }

    internal static object Resolve(Type type)
    {
        if (Resolver is null)
            RuntimeHelpers.RunModuleConstructor(Assembly.Load("ActOp.Serialization").ManifestModule.ModuleHandle);
        return Resolver!(type);
    }
}
