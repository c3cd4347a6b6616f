namespace ActOp.Serialization.Codecs;

/// <summary>The pairs as an array.</summary>
internal sealed class ImmutableSortedDictionaryCodec<TKey, TValue> : WrappedCodec<System.Collections.Immutable.ImmutableSortedDictionary<TKey, TValue>, KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableSortedDictionary<TKey, TValue> FromArray(KeyValuePair<TKey, TValue>[] items) => System.Collections.Immutable.ImmutableSortedDictionary.CreateRange(items);
}
