using System.Collections;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The number of bits, and the bytes.</summary>
internal sealed class BitArrayCodec : ReferenceCodec<BitArray>
{
    protected override void WriteBody(ref WireWriter writer, BitArray value)
    {
        var bytes = new byte[(value.Length + 7) / 8];
        value.CopyTo(bytes, 0);
        writer.WriteVarUInt32((uint)value.Length);
        writer.WriteRaw(bytes);
    }

    protected override BitArray ReadBody(ref WireReader reader, int at)
    {
        var length = reader.ReadVarUInt32();
        if (length > int.MaxValue)
            throw Parsing.Invalid("bit array");
        var value = new BitArray(reader.ReadRaw((int)((length + 7UL) / 8)).ToArray()) { Length = (int)length };
        Record(ref reader, at, value);
        return value;
    }

    protected override BitArray CopyBody(BitArray value, CopyContext context)
    {
        var copy = new BitArray(value);
        context.RecordCopy(value, copy);
        return copy;
    }
}
