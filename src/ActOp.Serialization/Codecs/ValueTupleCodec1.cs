using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The items in order.</summary>
internal sealed class ValueTupleCodec<T1> : Codec<ValueTuple<T1>>
{
    public override bool IsImmutable => Codec<T1>.Default.IsImmutable;

    public override ValueTuple<T1> Copy(ValueTuple<T1> value, CopyContext context) =>
        new(Codec<T1>.Default.Copy(value.Item1, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
    }

    public override ValueTuple<T1> Read(ref WireReader reader) =>
        new(Codec<T1>.Default.Read(ref reader));
}
