using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2, T3> : ReferenceCodec<Tuple<T1, T2, T3>>
{
    protected override bool IsExactImmutable => Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2, T3> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
    }

    protected override Tuple<T1, T2, T3> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1, T2, T3>(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3> CopyBody(Tuple<T1, T2, T3> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2, T3>(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context), Codec<T3>.Default.Copy(value.Item3, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}
