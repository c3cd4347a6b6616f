using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items; bytes in one piece.</summary>
internal sealed class ArrayCodec<T> : ReferenceCodec<T[]>
{
    protected override void WriteBody(ref WireWriter writer, T[] value)
    {
        writer.WriteVarUInt32((uint)value.Length);
        if (typeof(T) == typeof(byte) && value is byte[] bytes)
        {
            writer.WriteRaw(bytes);
            return;
        }

        var codec = Codec<T>.Default;
        foreach (var item in value)
            codec.Write(ref writer, item);
    }

    protected override T[] ReadBody(ref WireReader reader, int at) => Items.Read<T>(ref reader, reader.ReadCount(), at);

    protected override T[] CopyBody(T[] value, CopyContext context)
    {
        var copy = value.AsSpan().ToArray();
        context.RecordCopy(value, copy);
        var codec = Codec<T>.Default;
        if (codec.IsImmutable)
            return copy;
        for (var i = 0; i < copy.Length; i++)
            copy[i] = codec.Copy(copy[i], context);
        return copy;
    }
}
