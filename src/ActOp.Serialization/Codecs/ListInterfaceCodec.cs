namespace ActOp.Serialization.Codecs;

/// <summary>Interfaces that a list implements.</summary>
internal sealed class ListInterfaceCodec<T, TItem> : CollectionInterfaceCodec<T>
    where T : class, IEnumerable<TItem>
{
    protected override T Replace(T value) => (T)(object)new List<TItem>(value);
}
