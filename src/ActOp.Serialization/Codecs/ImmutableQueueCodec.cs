namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class ImmutableQueueCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableQueue<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableQueue<T> FromArray(T[] items) => [.. items];
}
