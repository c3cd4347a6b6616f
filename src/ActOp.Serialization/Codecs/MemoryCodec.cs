using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class MemoryCodec<T> : Codec<Memory<T>>
{
    public override bool IsImmutable => false;

    public override Memory<T> Copy(Memory<T> value, CopyContext context) => Codec<T[]>.Default.Copy(value.ToArray(), context);

    public override void Write(ref WireWriter writer, Memory<T> value) => ReadOnlyMemoryCodec<T>.WriteItems(ref writer, value.Span);

    public override Memory<T> Read(ref WireReader reader) => Items.Read<T>(ref reader, reader.ReadCount(), -1);
}
