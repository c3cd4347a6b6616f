namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class StackCodec<T> : WrappedCodec<Stack<T>, T>
{
    protected override bool IsWrapperImmutable => false;

    protected override Stack<T> FromArray(T[] items) => new(Enumerable.Reverse(items));
}
