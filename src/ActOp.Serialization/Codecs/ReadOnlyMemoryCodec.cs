using System.Runtime.InteropServices;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items. Copied, because the array below may change.</summary>
internal sealed class ReadOnlyMemoryCodec<T> : Codec<ReadOnlyMemory<T>>
{
    public override bool IsImmutable => false;

    public override ReadOnlyMemory<T> Copy(ReadOnlyMemory<T> value, CopyContext context) => Codec<T[]>.Default.Copy(value.ToArray(), context);

    public override void Write(ref WireWriter writer, ReadOnlyMemory<T> value) => WriteItems(ref writer, value.Span);

    public override ReadOnlyMemory<T> Read(ref WireReader reader) => Items.Read<T>(ref reader, reader.ReadCount(), -1);

    internal static void WriteItems(ref WireWriter writer, ReadOnlySpan<T> items)
    {
        writer.WriteVarUInt32((uint)items.Length);
        if (typeof(T) == typeof(byte))
        {
            writer.WriteRaw(MemoryMarshal.CreateReadOnlySpan(ref System.Runtime.CompilerServices.Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(items)), items.Length));
            return;
        }

        foreach (var item in items)
            Codec<T>.Default.Write(ref writer, item);
    }
}
