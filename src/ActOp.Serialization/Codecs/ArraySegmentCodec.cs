using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class ArraySegmentCodec<T> : Codec<ArraySegment<T>>
{
    public override bool IsImmutable => false;

    public override ArraySegment<T> Copy(ArraySegment<T> value, CopyContext context) => Codec<T[]>.Default.Copy(value.AsSpan().ToArray(), context);

    public override void Write(ref WireWriter writer, ArraySegment<T> value) => ReadOnlyMemoryCodec<T>.WriteItems(ref writer, value);

    public override ArraySegment<T> Read(ref WireReader reader) => Items.Read<T>(ref reader, reader.ReadCount(), -1);
}
