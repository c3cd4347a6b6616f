namespace ActOp.Serialization.Codecs;

/// <summary>The pairs as an array.</summary>
internal sealed class ImmutableDictionaryCodec<TKey, TValue> : WrappedCodec<System.Collections.Immutable.ImmutableDictionary<TKey, TValue>, KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableDictionary<TKey, TValue> FromArray(KeyValuePair<TKey, TValue>[] items) => System.Collections.Immutable.ImmutableDictionary.CreateRange(items);
}
