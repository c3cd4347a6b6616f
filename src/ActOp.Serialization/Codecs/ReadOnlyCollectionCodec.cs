namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class ReadOnlyCollectionCodec<T> : WrappedCodec<System.Collections.ObjectModel.ReadOnlyCollection<T>, T>
{
    protected override bool IsWrapperImmutable => false;

    protected override System.Collections.ObjectModel.ReadOnlyCollection<T> FromArray(T[] items) => new(items);
}
