using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The first seven items in order, then the rest.</summary>
internal sealed class ValueTupleCodec<T1, T2, T3, T4, T5, T6, T7, TRest> : Codec<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>>
    where TRest : struct
{
    private static readonly Codec<ValueTuple<T1, T2, T3, T4, T5, T6, T7>> First = Codec<ValueTuple<T1, T2, T3, T4, T5, T6, T7>>.Default;
    private static readonly Codec<TRest> Rest = Codec<TRest>.Default;

    public override bool IsImmutable => First.IsImmutable && Rest.IsImmutable;

    public override ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> Copy(ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> value, CopyContext context) =>
        Join(First.Copy(Head(value), context), Rest.Copy(value.Rest, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> value)
    {
        First.Write(ref writer, Head(value));
        Rest.Write(ref writer, value.Rest);
    }

    public override ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> Read(ref WireReader reader) => Join(First.Read(ref reader), Rest.Read(ref reader));

    private static ValueTuple<T1, T2, T3, T4, T5, T6, T7> Head(in ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> v) => new(v.Item1, v.Item2, v.Item3, v.Item4, v.Item5, v.Item6, v.Item7);

    private static ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> Join(in ValueTuple<T1, T2, T3, T4, T5, T6, T7> v, TRest rest) => new(v.Item1, v.Item2, v.Item3, v.Item4, v.Item5, v.Item6, v.Item7, rest);
}
