using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>The header before objects; see <see cref="ReferenceCodec{T}"/>.</summary>
internal static class Header
{
    internal const byte Null = 0;
    internal const byte Exact = 1;
    internal const byte Typed = 2;
    internal const byte ExactTracked = 3;
    internal const byte TypedTracked = 4;

    /// <summary>True for the first occurrence of an object; otherwise a reference to it is written.</summary>
    internal static bool TryTrack(ref WireWriter writer, object value)
    {
        if (writer.Session.TryAddWritten(value, writer.Position, out var first))
            return true;
        writer.WriteVarUInt32((uint)(writer.Position - first + TypedTracked));
        return false;
    }

    /// <summary>The object that a header refers to, if it has been read.</summary>
    internal static bool TryFind<T>(ref WireReader reader, int at, uint header, out T? value)
        where T : class
    {
        value = null;
        if (!reader.Session.TryRefer(Target(at, header), out var found))
            return false;
        value = Fit<T>(found!);
        return true;
    }

    /// <summary>Reads an object that a header refers to and that lies in a member that was skipped.</summary>
    internal static T ReadSkipped<T>(Codec<T> codec, ref WireReader reader, int at, uint header)
        where T : class
    {
        var target = Target(at, header);
        if (!reader.Session.MayReadSkipped(target))
            throw new SerializerException("The message refers to an object at " + target + ", but none was read there.");
        var after = reader.Position;
        reader.Position = target;
        if (reader.ReadVarUInt32() is not (ExactTracked or TypedTracked))
            throw new SerializerException("The message refers to an object at " + target + ", but what was read there is not an object.");
        reader.Position = target;
        var value = codec.Read(ref reader);
        reader.Session.AddSkippedBytes(reader.Position - target);
        reader.Position = after;
        return value;
    }

    /// <summary>The object as the static type.</summary>
    internal static T Fit<T>(object value)
        where T : class =>
            value as T ?? throw new SerializerException(
                "The message has an object of type " + value.GetType() + " where " + typeof(T) + " is expected.");

    private static int Target(int at, uint header) =>
        header - TypedTracked <= (uint)at
            ? at - (int)(header - TypedTracked) : throw new SerializerException("The message refers to an object before its start.");
}
