using System.Collections;
using System.Runtime.InteropServices;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Reads the items of arrays without trusting a count before the items are read.</summary>
internal static class Items
{
    /// <summary>Items allocated at once; limits the cost of a malicious count.</summary>
    private const int Trusted = 4096;

    /// <summary>Reads <paramref name="count"/> items; records the array at <paramref name="at"/> if that is not negative.</summary>
    internal static T[] Read<T>(ref WireReader reader, int count, int at)
    {
        reader.Session.CountDecoded(Footprint.OfItems<T>(count));
        if (typeof(T) == typeof(byte))
        {
            var bytes = (T[])(object)reader.ReadRaw(count).ToArray();
            if (at >= 0)
                reader.Session.AddRead(at, bytes);
            return bytes;
        }

        var codec = Codec<T>.Default;
        if (count <= Trusted)
        {
            var items = new T[count];
            if (at >= 0)
                reader.Session.AddRead(at, items);
            for (var i = 0; i < count; i++)
                items[i] = codec.Read(ref reader);
            return items;
        }

        return ReadLarge(ref reader, count, at, codec);
    }

    /// <summary>A large array exists, and can be referred to, only after its first pass: its items are counted by reading them.</summary>
    private static T[] ReadLarge<T>(ref WireReader reader, int count, int at, Codec<T> codec)
    {
        T[] items;
        if (at >= 0 && !typeof(T).IsValueType)
        {
            items = new T[count]; // A reference is 8 bytes and every item at least one on the wire: at most 8 times the message.
            reader.Session.AddRead(at, items);
            for (var i = 0; i < count; i++)
                items[i] = codec.Read(ref reader);
            return items;
        }

        items = new T[Trusted];
        for (var i = 0; i < count; i++)
        {
            if (i == items.Length)
                Array.Resize(ref items, (int)Math.Min(2L * i, count));
            items[i] = codec.Read(ref reader);
        }

        Array.Resize(ref items, count);
        if (at >= 0)
            reader.Session.AddRead(at, items);
        return items;
    }
}

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

/// <summary>The lengths, then the items with the last index running fastest.</summary>
internal sealed class MultiArrayCodec<TArray, T> : ReferenceCodec<TArray>
    where TArray : class
{
    private static readonly int Rank = typeof(TArray).GetArrayRank();

    protected override void WriteBody(ref WireWriter writer, TArray value)
    {
        var array = (Array)(object)value;
        for (var i = 0; i < Rank; i++)
        {
            if (array.GetLowerBound(i) != 0)
                throw new NotSupportedException("Arrays whose indexes do not start at 0 cannot be serialized.");
            writer.WriteVarUInt32((uint)array.GetLength(i));
        }

        foreach (T item in array)
            Codec<T>.Default.Write(ref writer, item);
    }

    protected override TArray ReadBody(ref WireReader reader, int at)
    {
        var lengths = new int[Rank];
        var total = 1L;
        for (var i = 0; i < Rank; i++)
        {
            lengths[i] = reader.ReadCount(0);
            total *= lengths[i];
            if (lengths[i] < 0 || total > reader.Remaining)
                throw Parsing.Invalid("array length");
        }

        reader.Session.CountDecoded(Footprint.OfItems<T>(total));
        var array = Array.CreateInstance(typeof(T), lengths);
        Record(ref reader, at, array);
        var index = new int[Rank];
        for (var i = 0L; i < total; i++)
        {
            array.SetValue(Codec<T>.Default.Read(ref reader), index);
            Advance(index, lengths);
        }

        return (TArray)(object)array;
    }

    protected override TArray CopyBody(TArray value, CopyContext context)
    {
        var from = (Array)(object)value;
        var copy = (Array)from.Clone();
        context.RecordCopy(value, copy);
        if (Codec<T>.Default.IsImmutable)
            return (TArray)(object)copy;
        var lengths = Enumerable.Range(0, Rank).Select(from.GetLength).ToArray();
        var index = new int[Rank];
        foreach (T item in from)
        {
            copy.SetValue(Codec<T>.Default.Copy(item, context), index);
            Advance(index, lengths);
        }

        return (TArray)(object)copy;
    }

    private static void Advance(int[] index, int[] lengths)
    {
        for (var i = Rank - 1; i >= 0 && ++index[i] == lengths[i]; i--)
            index[i] = 0;
    }
}

/// <summary>Count and items.</summary>
internal sealed class ArraySegmentCodec<T> : Codec<ArraySegment<T>>
{
    public override bool IsImmutable => false;

    public override ArraySegment<T> Copy(ArraySegment<T> value, CopyContext context) =>
        Codec<T[]>.Default.Copy(value.AsSpan().ToArray(), context);

    public override void Write(ref WireWriter writer, ArraySegment<T> value) => ReadOnlyMemoryCodec<T>.WriteItems(ref writer, value);

    public override ArraySegment<T> Read(ref WireReader reader) => Items.Read<T>(ref reader, reader.ReadCount(), -1);
}

/// <summary>Count and items.</summary>
internal sealed class MemoryCodec<T> : Codec<Memory<T>>
{
    public override bool IsImmutable => false;

    public override Memory<T> Copy(Memory<T> value, CopyContext context) => Codec<T[]>.Default.Copy(value.ToArray(), context);

    public override void Write(ref WireWriter writer, Memory<T> value) => ReadOnlyMemoryCodec<T>.WriteItems(ref writer, value.Span);

    public override Memory<T> Read(ref WireReader reader) => Items.Read<T>(ref reader, reader.ReadCount(), -1);
}

/// <summary>Count and items. Copied, because the array below may change.</summary>
internal sealed class ReadOnlyMemoryCodec<T> : Codec<ReadOnlyMemory<T>>
{
    public override bool IsImmutable => false;

    public override ReadOnlyMemory<T> Copy(ReadOnlyMemory<T> value, CopyContext context) =>
        Codec<T[]>.Default.Copy(value.ToArray(), context);

    public override void Write(ref WireWriter writer, ReadOnlyMemory<T> value) => WriteItems(ref writer, value.Span);

    public override ReadOnlyMemory<T> Read(ref WireReader reader) => Items.Read<T>(ref reader, reader.ReadCount(), -1);

    internal static void WriteItems(ref WireWriter writer, ReadOnlySpan<T> items)
    {
        writer.WriteVarUInt32((uint)items.Length);
        if (typeof(T) == typeof(byte))
        {
            writer.WriteRaw(MemoryMarshal.CreateReadOnlySpan(
                ref System.Runtime.CompilerServices.Unsafe.As<T, byte>(ref MemoryMarshal.GetReference(items)), items.Length));
            return;
        }

        foreach (var item in items)
            Codec<T>.Default.Write(ref writer, item);
    }
}

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
