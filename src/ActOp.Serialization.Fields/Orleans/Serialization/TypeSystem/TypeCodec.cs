using System.Buffers;
using System.Text;
using Orleans.Serialization.Buffers;

namespace Orleans.Serialization.TypeSystem;

/// <summary>Names of types in the data of an application's codecs: a length and UTF-8.</summary>
public sealed class TypeCodec
{
    private const int MaxBytes = 8192;

    private readonly TypeConverter _converter;

    public TypeCodec(TypeConverter typeConverter) => _converter = typeConverter;

    public void WriteEncodedType<TBufferWriter>(ref Writer<TBufferWriter> writer, Type type)
        where TBufferWriter : IBufferWriter<byte> => WriteLengthPrefixed(ref writer, type);

    public void WriteLengthPrefixed<TBufferWriter>(ref Writer<TBufferWriter> writer, Type type)
        where TBufferWriter : IBufferWriter<byte>
    {
        var bytes = Encoding.UTF8.GetBytes(_converter.Format(type));
        writer.WriteVarUInt32((uint)bytes.Length);
        writer.Write(bytes);
    }

    /// <summary>The type; null when it is not known here.</summary>
    /// <exception cref="SerializerException">The name is damaged.</exception>
    public Type? TryRead<TInput>(ref Reader<TInput> reader)
    {
        var name = ReadName(ref reader);
        try
        {
            return _converter.TryParse(name, out var type) ? type : null;
        }
        catch (InvalidOperationException exception)
        {
            throw new SerializerException(exception.Message, exception);
        }
    }

    /// <exception cref="TypeLoadException">The type is not known here.</exception>
    public Type ReadLengthPrefixed<TInput>(ref Reader<TInput> reader) => _converter.Parse(ReadName(ref reader));

    public bool TryReadForAnalysis<TInput>(ref Reader<TInput> reader, out Type? type, out string typeString)
    {
        typeString = ReadName(ref reader);
        try
        {
            return _converter.TryParse(typeString, out type);
        }
        catch (Exception exception) when (exception is InvalidOperationException or TypeLoadException or SerializerException)
        {
            type = null;
            return false;
        }
    }

    private static string ReadName<TInput>(ref Reader<TInput> reader)
    {
        var length = reader.ReadVarUInt32();
        return length <= MaxBytes
            ? Encoding.UTF8.GetString(reader.ReadBytes(length)) : throw new SerializerException("A type name in the data is too long.");
    }
}
