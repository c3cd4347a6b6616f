using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

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
                throw new NotSupportedException("Arrays whose indexes do not start at 0 cannot be sent.");
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
