using System.Collections.Immutable;
using System.Runtime.InteropServices;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>0 for the default value; count plus one, and the items.</summary>
internal sealed class ImmutableArrayCodec<T> : Codec<ImmutableArray<T>>
{
    public override bool IsImmutable => Codec<T>.Default.IsImmutable;

    public override ImmutableArray<T> Copy(ImmutableArray<T> value, CopyContext context)
    {
        if (value.IsDefaultOrEmpty || IsImmutable)
            return value;
        var items = value.AsSpan().ToArray();
        for (var i = 0; i < items.Length; i++)
            items[i] = Codec<T>.Default.Copy(items[i], context);
        return ImmutableCollectionsMarshal.AsImmutableArray(items);
    }

    public override void Write(ref WireWriter writer, ImmutableArray<T> value)
    {
        writer.WriteVarUInt32(value.IsDefault ? 0 : (uint)value.Length + 1);
        if (value.IsDefault)
            return;
        foreach (var item in value)
        {
            if (item is byte b)
                writer.WriteByte(b);
            else
                Codec<T>.Default.Write(ref writer, item);
        }
    }

    public override ImmutableArray<T> Read(ref WireReader reader)
    {
        var count = reader.ReadVarUInt32();
        if (count == 0)
            return default;
        if (count - 1 > (uint)reader.Remaining)
            throw Parsing.Invalid("array length");
        return ImmutableCollectionsMarshal.AsImmutableArray(Items.Read<T>(ref reader, (int)count - 1, -1));
    }
}
