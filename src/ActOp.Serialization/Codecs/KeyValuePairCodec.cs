using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Key and value.</summary>
internal sealed class KeyValuePairCodec<TKey, TValue> : Codec<KeyValuePair<TKey, TValue>>
{
    public override bool IsImmutable => Codec<TKey>.Default.IsImmutable && Codec<TValue>.Default.IsImmutable;

    public override KeyValuePair<TKey, TValue> Copy(KeyValuePair<TKey, TValue> value, CopyContext context) =>
        new(Codec<TKey>.Default.Copy(value.Key, context), Codec<TValue>.Default.Copy(value.Value, context));

    public override void Write(ref WireWriter writer, KeyValuePair<TKey, TValue> value)
    {
        Codec<TKey>.Default.Write(ref writer, value.Key);
        Codec<TValue>.Default.Write(ref writer, value.Value);
    }

    public override KeyValuePair<TKey, TValue> Read(ref WireReader reader)
    {
        var key = Codec<TKey>.Default.Read(ref reader);
        if (key is null)
            throw new Orleans.Serialization.SerializerException("The wire has a null key.");
        return new(key, Codec<TValue>.Default.Read(ref reader));
    }
}
