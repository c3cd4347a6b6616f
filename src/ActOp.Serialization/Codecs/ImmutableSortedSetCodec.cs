namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class ImmutableSortedSetCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableSortedSet<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableSortedSet<T> FromArray(T[] items) => [.. items];
}
