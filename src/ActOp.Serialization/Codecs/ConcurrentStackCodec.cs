namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class ConcurrentStackCodec<T> : WrappedCodec<System.Collections.Concurrent.ConcurrentStack<T>, T>
{
    protected override bool IsWrapperImmutable => false;

    protected override System.Collections.Concurrent.ConcurrentStack<T> FromArray(T[] items) => new(Enumerable.Reverse(items));
}
