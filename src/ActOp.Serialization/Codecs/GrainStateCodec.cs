using ActOp.Wire;
using Orleans;

namespace ActOp.Serialization.Codecs;

/// <summary>A state with its version, as storage providers that are grains send it.</summary>
internal sealed class GrainStateCodec<T> : ReferenceCodec<GrainState<T>>
{
    protected override void WriteBody(ref WireWriter writer, GrainState<T> value)
    {
        writer.WriteNullableString(value.ETag);
        writer.WriteByte(value.RecordExists ? (byte)1 : (byte)0);
        Codec<T>.Default.Write(ref writer, value.State!);
    }

    protected override GrainState<T> ReadBody(ref WireReader reader, int at)
    {
        var value = new GrainState<T>();
        Record(ref reader, at, value);
        value.ETag = reader.ReadNullableString();
        value.RecordExists = reader.ReadByte() != 0;
        value.State = Codec<T>.Default.Read(ref reader);
        return value;
    }

    protected override GrainState<T> CopyBody(GrainState<T> value, CopyContext context)
    {
        var copy = new GrainState<T> { ETag = value.ETag, RecordExists = value.RecordExists };
        context.RecordCopy(value, copy);
        copy.State = Codec<T>.Default.Copy(value.State!, context);
        return copy;
    }
}
