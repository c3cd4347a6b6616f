using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1> : ReferenceCodec<Tuple<T1>>
{
    protected override bool IsExactImmutable => Codec<T1>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
    }

    protected override Tuple<T1> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1>(Codec<T1>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1> CopyBody(Tuple<T1> value, CopyContext context)
    {
        var copy = new Tuple<T1>(Codec<T1>.Default.Copy(value.Item1, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}
