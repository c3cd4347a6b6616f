namespace ActOp.Serialization.Codecs;

/// <summary>The items as an array.</summary>
internal sealed class ImmutableStackCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableStack<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableStack<T> FromArray(T[] items) => System.Collections.Immutable.ImmutableStack.CreateRange(Enumerable.Reverse(items));
}
