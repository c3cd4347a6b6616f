using Orleans.Serialization.Buffers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>Finds messages of ours where a field is expected: see <see cref="MarkedMessage"/>.</summary>
internal static class MessageMark
{
    internal static bool IsMessage(Field field) => field.Tag == MarkedMessage.Mark;

    /// <summary>A message whose mark was read as the tag of a field: the mark and all that follows.</summary>
    internal static byte[] TakeMessage<TInput>(ref Reader<TInput> reader)
    {
        var bytes = new byte[reader.Remaining + 1];
        bytes[0] = MarkedMessage.Mark;
        reader.ReadBytes(bytes.AsSpan(1));
        return bytes;
    }
}
