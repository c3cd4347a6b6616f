using System.Buffers;
using System.Text;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Session;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Utilities;

/// <summary>Describes the data of an application's codecs as text, for people.</summary>
public static class BitStreamFormatter
{
    private const int MaxDepth = 256;

    public static string Format(ReadOnlySequence<byte> data, SerializerSession session)
    {
        var reader = Reader.Create(data, session);
        return Format(ref reader);
    }

    public static string Format(ReadOnlyMemory<byte> data, SerializerSession session) => Format(data.ToArray(), session);

    public static string Format(ReadOnlySpan<byte> data, SerializerSession session) => Format(data.ToArray(), session);

    public static string Format(Stream data, SerializerSession session)
    {
        var reader = Reader.Create(data, session);
        return Format(ref reader);
    }

    public static string Format(byte[] data, SerializerSession session)
    {
        var reader = Reader.Create(data, session);
        return Format(ref reader);
    }

    public static string Format<TInput>(ref Reader<TInput> reader)
    {
        var text = new StringBuilder();
        Format(ref reader, text);
        return text.ToString();
    }

    public static void Format<TInput>(ref Reader<TInput> reader, StringBuilder result)
    {
        try
        {
            while (reader.Remaining > 0)
            {
                if (reader.PeekByte() == MarkedMessage.Mark)
                    FormatMessage(ref reader, result);
                else
                    FormatField(ref reader, result, 0);
            }
        }
        catch (Exception exception) when (exception is SerializerException or OverflowException)
        {
            result.Append("\n! ").Append(exception.Message);
        }
    }

    /// <summary>What a serializer wrote to bytes: its format has no tags, so only the bytes can be shown.</summary>
    private static void FormatMessage<TInput>(ref Reader<TInput> reader, StringBuilder result)
    {
        result.Append("\n0x").Append(reader.Position.ToString("X4", null)).Append(" [Message] ");
        FormatBytes(result, reader.ReadBytes((uint)reader.Remaining));
    }

    /// <summary>False at the end of an object.</summary>
    private static bool FormatField<TInput>(ref Reader<TInput> reader, StringBuilder result, int depth)
    {
        if (depth > MaxDepth)
            throw new SerializerException("Objects are nested more than " + MaxDepth + " deep.");
        var start = reader.Position;
        var (field, type) = reader.ReadFieldHeaderForAnalysis();
        result.Append('\n').Append(' ', depth * 2).Append("0x").Append(start.ToString("X4", null)).Append(' ');
        if (field.IsEndBaseOrEndObject)
        {
            result.Append('[').Append(field.ExtendedWireType).Append(']');
            return field.IsEndBaseFields;
        }

        result.Append("#+").Append(field.FieldIdDelta).Append(' ').Append(field.WireType).Append(" [").Append(type).Append("] ");
        FormatValue(ref reader, result, field, depth);
        return true;
    }

    private static void FormatValue<TInput>(ref Reader<TInput> reader, StringBuilder result, Field field, int depth)
    {
        switch (field.WireType)
        {
            case WireType.VarInt:
                result.Append("Value: ").Append(reader.ReadVarUInt64());
                break;
            case WireType.Fixed32:
                result.Append("Value: ").Append(reader.ReadUInt32());
                break;
            case WireType.Fixed64:
                result.Append("Value: ").Append(reader.ReadUInt64());
                break;
            case WireType.Reference:
                result.Append("Reference: ").Append(reader.ReadVarUInt32());
                break;
            case WireType.LengthPrefixed:
                FormatBytes(result, reader.ReadBytes(reader.ReadVarUInt32()));
                break;
            case WireType.TagDelimited:
                result.Append('{');
                while (FormatField(ref reader, result, depth + 1))
                {
                }

                result.Append('}');
                break;
            default:
                throw new UnsupportedWireTypeException();
        }
    }

    private static void FormatBytes(StringBuilder result, byte[] bytes)
    {
        result.Append("(length: ").Append(bytes.Length).Append(") ")
            .Append(Convert.ToHexString(bytes.AsSpan(0, Math.Min(bytes.Length, 64))));
        var text = Encoding.UTF8.GetString(bytes);
        if (text.Length is > 0 and <= 256 && !text.Any(static c => char.IsControl(c) || c == '\uFFFD'))
            result.Append(" \"").Append(text).Append('"');
    }
}
