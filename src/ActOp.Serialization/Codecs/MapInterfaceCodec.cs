namespace ActOp.Serialization.Codecs;

/// <summary>Interfaces that a dictionary implements.</summary>
internal sealed class MapInterfaceCodec<T, TKey, TValue> : CollectionInterfaceCodec<T>
    where T : class, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override T Replace(T value) => (T)(object)new Dictionary<TKey, TValue>(value);
}
