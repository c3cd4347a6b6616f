using System.Buffers;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Runtime.Serialization;

/// <summary>Addresses of silos, as their parsable text, in the data of an application's codecs.</summary>
public sealed class SiloAddressCodec : IFieldCodec<SiloAddress>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, SiloAddress? value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(SiloAddress), WireType.LengthPrefixed);
        var text = System.Text.Encoding.UTF8.GetBytes(value!.ToParsableString());
        writer.WriteVarUInt32((uint)text.Length);
        writer.Write(text);
    }

    public SiloAddress ReadValue<TReaderInput>(ref Reader<TReaderInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<SiloAddress, TReaderInput>(ref reader, field);
        field.EnsureWireType(WireType.LengthPrefixed);
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var value = SiloAddress.TryParse(reader.ReadBytes(reader.ReadVarUInt32()), out var address)
            ? address!
            : throw new SerializerException("The data have an address of a silo that cannot be read.");
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }
}
