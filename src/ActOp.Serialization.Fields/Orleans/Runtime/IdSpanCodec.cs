using System.Buffers;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Runtime;

/// <summary>The bytes of keys and types, in the data of an application's codecs. The hash is computed again when they are read.</summary>
public sealed class IdSpanCodec : IFieldCodec<IdSpan>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, IdSpan value)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(IdSpan), WireType.LengthPrefixed);
        WriteRaw(ref writer, value);
    }

    public IdSpan ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        field.EnsureWireType(WireType.LengthPrefixed);
        return ReadRaw(ref reader);
    }

    /// <summary>Writes the value without a header: its length and its bytes.</summary>
    public static void WriteRaw<TBufferWriter>(ref Writer<TBufferWriter> writer, IdSpan value)
        where TBufferWriter : IBufferWriter<byte>
    {
        var bytes = value.AsSpan();
        writer.WriteVarUInt32((uint)bytes.Length);
        writer.Write(bytes);
    }

    /// <summary>Reads what <see cref="WriteRaw"/> has written.</summary>
    public static IdSpan ReadRaw<TInput>(ref Reader<TInput> reader)
    {
        var length = reader.ReadVarUInt32();
        return length == 0 ? default : new IdSpan(reader.ReadBytes(length));
    }
}
