using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2, T3, T4, T5, T6> : ReferenceCodec<Tuple<T1, T2, T3, T4, T5, T6>>
{
    protected override bool IsExactImmutable => Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable && Codec<T5>.Default.IsImmutable && Codec<T6>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2, T3, T4, T5, T6> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
        Codec<T5>.Default.Write(ref writer, value.Item5);
        Codec<T6>.Default.Write(ref writer, value.Item6);
    }

    protected override Tuple<T1, T2, T3, T4, T5, T6> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1, T2, T3, T4, T5, T6>(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader), Codec<T4>.Default.Read(ref reader), Codec<T5>.Default.Read(ref reader), Codec<T6>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3, T4, T5, T6> CopyBody(Tuple<T1, T2, T3, T4, T5, T6> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2, T3, T4, T5, T6>(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context), Codec<T3>.Default.Copy(value.Item3, context), Codec<T4>.Default.Copy(value.Item4, context), Codec<T5>.Default.Copy(value.Item5, context), Codec<T6>.Default.Copy(value.Item6, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}
