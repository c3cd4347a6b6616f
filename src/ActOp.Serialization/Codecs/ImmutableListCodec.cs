namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class ImmutableListCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableList<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableList<T> FromArray(T[] items) => [.. items];
}
