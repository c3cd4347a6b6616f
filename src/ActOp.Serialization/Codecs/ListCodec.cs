using System.Runtime.InteropServices;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class ListCodec<T> : ReferenceCodec<List<T>>
{
    private const int TrustedCapacity = 4096;

    protected override void WriteBody(ref WireWriter writer, List<T> value)
    {
        var codec = Codec<T>.Default;
        writer.WriteVarUInt32((uint)value.Count);
        foreach (var item in value)
            codec.Write(ref writer, item);
    }

    protected override List<T> ReadBody(ref WireReader reader, int at)
    {
        var codec = Codec<T>.Default;
        var count = reader.ReadCount();
        var list = new List<T>(Math.Min(count, TrustedCapacity));
        Record(ref reader, at, list);
        for (var i = 0; i < count; i++)
            list.Add(codec.Read(ref reader));
        return list;
    }

    protected override List<T> CopyBody(List<T> value, CopyContext context)
    {
        var codec = Codec<T>.Default;
        var copy = new List<T>(value.Count);
        context.RecordCopy(value, copy);
        if (codec.IsImmutable)
        {
            copy.AddRange(CollectionsMarshal.AsSpan(value));
            return copy;
        }

        foreach (var item in value)
            copy.Add(codec.Copy(item, context));
        return copy;
    }
}
