using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>Writes, reads and copies the values that travel with calls (RequestContext).</summary>
public static class ContextCodec
{
    /// <summary>Largest number of values of one call, checked on both sides.</summary>
    public const int MaxEntries = 1024;

    /// <summary>Writes the values: a count, then keys and values, whose types must be registered. Null is written as no values.</summary>
    public static void Write(ref WireWriter writer, Dictionary<string, object>? values)
    {
        if (values is null)
        {
            writer.WriteByte(0);
            return;
        }

        if (values.Count > MaxEntries)
            throw new SerializerException("The request context has more than " + MaxEntries + " values.");
        writer.WriteVarUInt32((uint)values.Count);
        foreach (var (key, value) in values)
        {
            writer.WriteString(key);
            Codec<object>.Default.Write(ref writer, value);
        }
    }

    /// <summary>Reads what <see cref="Write"/> wrote; null for no values.</summary>
    /// <exception cref="SerializerException">The data are damaged, or a value's type is not registered here.</exception>
    public static Dictionary<string, object>? Read(ref WireReader reader)
    {
        var count = reader.ReadCount(2);
        if (count == 0)
            return null;
        if (count > MaxEntries)
            throw new SerializerException("The received request context has more than " + MaxEntries + " values.");
        var values = new Dictionary<string, object>(count);
        for (var i = 0; i < count; i++)
            values[reader.ReadString()] = Codec<object>.Default.Read(ref reader);
        return values;
    }

    /// <summary>A deep copy, to be read only; <paramref name="values"/> itself when all of them are immutable, which is the rule.</summary>
    public static Dictionary<string, object>? Copy(Dictionary<string, object>? values, CopyContext context)
    {
        if (values is null)
            return null;
        Dictionary<string, object>? copy = null;
        foreach (var (key, value) in values)
        {
            var copied = Codec<object>.Default.Copy(value, context);
            if (!ReferenceEquals(copied, value))
                (copy ??= new Dictionary<string, object>(values))[key] = copied;
        }

        return copy ?? values;
    }
}
