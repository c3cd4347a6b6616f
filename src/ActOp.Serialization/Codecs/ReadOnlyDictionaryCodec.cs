namespace ActOp.Serialization.Codecs;

/// <summary>The pairs as an array.</summary>
internal sealed class ReadOnlyDictionaryCodec<TKey, TValue> : WrappedCodec<System.Collections.ObjectModel.ReadOnlyDictionary<TKey, TValue>, KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override bool IsWrapperImmutable => false;

    protected override System.Collections.ObjectModel.ReadOnlyDictionary<TKey, TValue> FromArray(KeyValuePair<TKey, TValue>[] items) => new(new Dictionary<TKey, TValue>(items));
}
