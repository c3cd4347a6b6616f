using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The items in order.</summary>
internal sealed class ValueTupleCodec<T1, T2> : Codec<ValueTuple<T1, T2>>
{
    public override bool IsImmutable => Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable;

    public override ValueTuple<T1, T2> Copy(ValueTuple<T1, T2> value, CopyContext context) =>
        new(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
    }

    public override ValueTuple<T1, T2> Read(ref WireReader reader) =>
        new(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader));
}
