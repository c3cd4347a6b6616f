using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Reads the items of arrays without believing a count before the items are there.</summary>
internal static class Items
{
    /// <summary>Items that memory is taken for at once; a hostile count costs no more than this.</summary>
    private const int Trusted = 4096;

    /// <summary>Reads <paramref name="count"/> items; records the array at <paramref name="at"/> if that is not negative.</summary>
    internal static T[] Read<T>(ref WireReader reader, int count, int at)
    {
        if (typeof(T) == typeof(byte))
        {
            var bytes = (T[])(object)reader.ReadRaw(count).ToArray();
            if (at >= 0)
                reader.Session.AddRead(at, bytes);
            return bytes;
        }

        var codec = Codec<T>.Default;
        if (count <= Trusted)
        {
            var items = new T[count];
            if (at >= 0)
                reader.Session.AddRead(at, items);
            for (var i = 0; i < count; i++)
                items[i] = codec.Read(ref reader);
            return items;
        }

        return ReadLarge(ref reader, count, at, codec);
    }

    /// <summary>A large array exists, and can be referred to, only after its first pass: its items are counted by reading them.</summary>
    private static T[] ReadLarge<T>(ref WireReader reader, int count, int at, Codec<T> codec)
    {
        T[] items;
        if (at >= 0 && !typeof(T).IsValueType)
        {
            items = new T[count]; // A reference is 8 bytes and every item at least one on the wire: at most 8 times the message.
            reader.Session.AddRead(at, items);
            for (var i = 0; i < count; i++)
                items[i] = codec.Read(ref reader);
            return items;
        }

        items = new T[Trusted];
        for (var i = 0; i < count; i++)
        {
            if (i == items.Length)
                Array.Resize(ref items, (int)Math.Min(2L * i, count));
            items[i] = codec.Read(ref reader);
        }

        Array.Resize(ref items, count);
        if (at >= 0)
            reader.Session.AddRead(at, items);
        return items;
    }
}
