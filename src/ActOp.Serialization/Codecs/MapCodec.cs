using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>A collection of keys and values that is filled pair by pair.</summary>
internal abstract class MapCodec<TMap, TKey, TValue> : ReferenceCodec<TMap>
    where TMap : class, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    private const int TrustedCapacity = 1024;

    private static readonly Codec<TKey> Key = Codec<TKey>.Default;
    private static readonly Codec<TValue> Value = Codec<TValue>.Default;

    protected abstract void WriteStart(ref WireWriter writer, TMap map);

    protected abstract TMap ReadStart(ref WireReader reader, int capacity);

    protected abstract TMap CreateLike(TMap map);

    protected abstract int Count(TMap map);

    protected abstract void Add(TMap map, TKey key, TValue value);

    protected override void WriteBody(ref WireWriter writer, TMap value)
    {
        var count = Count(value);
        writer.WriteVarUInt32((uint)count);
        WriteStart(ref writer, value);
        foreach (var pair in value)
        {
            if (--count < 0)
                break;
            Key.Write(ref writer, pair.Key);
            Value.Write(ref writer, pair.Value);
        }

        if (count != 0)
            throw new InvalidOperationException("The collection was changed while it was written.");
    }

    protected override TMap ReadBody(ref WireReader reader, int at)
    {
        var count = reader.ReadCount(2);
        var map = ReadStart(ref reader, Math.Min(count, TrustedCapacity));
        Record(ref reader, at, map);
        for (var i = 0; i < count; i++)
        {
            var key = Key.Read(ref reader) ?? throw new SerializerException("The wire has a null key.");
            Add(map, key, Value.Read(ref reader));
        }

        return map;
    }

    protected override TMap CopyBody(TMap value, CopyContext context)
    {
        var copy = CreateLike(value);
        context.RecordCopy(value, copy);
        foreach (var pair in value)
            Add(copy, Key.Copy(pair.Key, context), Value.Copy(pair.Value, context));
        return copy;
    }
}
