namespace ActOp.Serialization.Codecs;

/// <summary>Interfaces that a set implements.</summary>
internal sealed class SetInterfaceCodec<T, TItem> : CollectionInterfaceCodec<T>
    where T : class, IEnumerable<TItem>
{
    protected override T Replace(T value) => (T)(object)new HashSet<TItem>(value);
}
