namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class ImmutableHashSetCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableHashSet<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableHashSet<T> FromArray(T[] items) => [.. items];
}
