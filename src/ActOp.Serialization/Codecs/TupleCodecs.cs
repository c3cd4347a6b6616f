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

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2> : ReferenceCodec<Tuple<T1, T2>>
{
    protected override bool IsExactImmutable => Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
    }

    protected override Tuple<T1, T2> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1, T2>(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2> CopyBody(Tuple<T1, T2> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2>(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2, T3> : ReferenceCodec<Tuple<T1, T2, T3>>
{
    protected override bool IsExactImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2, T3> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
    }

    protected override Tuple<T1, T2, T3> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1, T2, T3>(
            Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3> CopyBody(Tuple<T1, T2, T3> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2, T3>(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2, T3, T4> : ReferenceCodec<Tuple<T1, T2, T3, T4>>
{
    protected override bool IsExactImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2, T3, T4> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
    }

    protected override Tuple<T1, T2, T3, T4> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1, T2, T3, T4>(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader),
            Codec<T3>.Default.Read(ref reader), Codec<T4>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3, T4> CopyBody(Tuple<T1, T2, T3, T4> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2, T3, T4>(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context), Codec<T4>.Default.Copy(value.Item4, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2, T3, T4, T5> : ReferenceCodec<Tuple<T1, T2, T3, T4, T5>>
{
    protected override bool IsExactImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable
            && Codec<T5>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2, T3, T4, T5> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
        Codec<T5>.Default.Write(ref writer, value.Item5);
    }

    protected override Tuple<T1, T2, T3, T4, T5> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1, T2, T3, T4, T5>(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader),
            Codec<T3>.Default.Read(ref reader), Codec<T4>.Default.Read(ref reader), Codec<T5>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3, T4, T5> CopyBody(Tuple<T1, T2, T3, T4, T5> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2, T3, T4, T5>(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context), Codec<T4>.Default.Copy(value.Item4, context),
            Codec<T5>.Default.Copy(value.Item5, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2, T3, T4, T5, T6> : ReferenceCodec<Tuple<T1, T2, T3, T4, T5, T6>>
{
    protected override bool IsExactImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable
            && Codec<T5>.Default.IsImmutable && Codec<T6>.Default.IsImmutable;

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
        var value = new Tuple<T1, T2, T3, T4, T5, T6>(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader),
            Codec<T3>.Default.Read(ref reader), Codec<T4>.Default.Read(ref reader), Codec<T5>.Default.Read(ref reader),
            Codec<T6>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3, T4, T5, T6> CopyBody(Tuple<T1, T2, T3, T4, T5, T6> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2, T3, T4, T5, T6>(Codec<T1>.Default.Copy(value.Item1, context),
            Codec<T2>.Default.Copy(value.Item2, context), Codec<T3>.Default.Copy(value.Item3, context),
            Codec<T4>.Default.Copy(value.Item4, context), Codec<T5>.Default.Copy(value.Item5, context),
            Codec<T6>.Default.Copy(value.Item6, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>The items in order.</summary>
internal sealed class TupleCodec<T1, T2, T3, T4, T5, T6, T7> : ReferenceCodec<Tuple<T1, T2, T3, T4, T5, T6, T7>>
{
    protected override bool IsExactImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable
            && Codec<T5>.Default.IsImmutable && Codec<T6>.Default.IsImmutable && Codec<T7>.Default.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2, T3, T4, T5, T6, T7> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
        Codec<T5>.Default.Write(ref writer, value.Item5);
        Codec<T6>.Default.Write(ref writer, value.Item6);
        Codec<T7>.Default.Write(ref writer, value.Item7);
    }

    protected override Tuple<T1, T2, T3, T4, T5, T6, T7> ReadBody(ref WireReader reader, int at)
    {
        var value = new Tuple<T1, T2, T3, T4, T5, T6, T7>(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader),
            Codec<T3>.Default.Read(ref reader), Codec<T4>.Default.Read(ref reader), Codec<T5>.Default.Read(ref reader),
            Codec<T6>.Default.Read(ref reader), Codec<T7>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3, T4, T5, T6, T7> CopyBody(Tuple<T1, T2, T3, T4, T5, T6, T7> value, CopyContext context)
    {
        var copy = new Tuple<T1, T2, T3, T4, T5, T6, T7>(Codec<T1>.Default.Copy(value.Item1, context),
            Codec<T2>.Default.Copy(value.Item2, context), Codec<T3>.Default.Copy(value.Item3, context),
            Codec<T4>.Default.Copy(value.Item4, context), Codec<T5>.Default.Copy(value.Item5, context),
            Codec<T6>.Default.Copy(value.Item6, context), Codec<T7>.Default.Copy(value.Item7, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

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

/// <summary>The items in order.</summary>
internal sealed class ValueTupleCodec<T1, T2, T3> : Codec<ValueTuple<T1, T2, T3>>
{
    public override bool IsImmutable => Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable;

    public override ValueTuple<T1, T2, T3> Copy(ValueTuple<T1, T2, T3> value, CopyContext context) =>
        new(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2, T3> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
    }

    public override ValueTuple<T1, T2, T3> Read(ref WireReader reader) =>
        new(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader));
}

/// <summary>The items in order.</summary>
internal sealed class ValueTupleCodec<T1, T2, T3, T4> : Codec<ValueTuple<T1, T2, T3, T4>>
{
    public override bool IsImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable;

    public override ValueTuple<T1, T2, T3, T4> Copy(ValueTuple<T1, T2, T3, T4> value, CopyContext context) =>
        new(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context), Codec<T4>.Default.Copy(value.Item4, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2, T3, T4> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
    }

    public override ValueTuple<T1, T2, T3, T4> Read(ref WireReader reader) =>
        new(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader),
            Codec<T4>.Default.Read(ref reader));
}

/// <summary>The items in order.</summary>
internal sealed class ValueTupleCodec<T1, T2, T3, T4, T5> : Codec<ValueTuple<T1, T2, T3, T4, T5>>
{
    public override bool IsImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable
            && Codec<T5>.Default.IsImmutable;

    public override ValueTuple<T1, T2, T3, T4, T5> Copy(ValueTuple<T1, T2, T3, T4, T5> value, CopyContext context) =>
        new(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context), Codec<T4>.Default.Copy(value.Item4, context),
            Codec<T5>.Default.Copy(value.Item5, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2, T3, T4, T5> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
        Codec<T5>.Default.Write(ref writer, value.Item5);
    }

    public override ValueTuple<T1, T2, T3, T4, T5> Read(ref WireReader reader) =>
        new(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader),
            Codec<T4>.Default.Read(ref reader), Codec<T5>.Default.Read(ref reader));
}

/// <summary>The items in order.</summary>
internal sealed class ValueTupleCodec<T1, T2, T3, T4, T5, T6> : Codec<ValueTuple<T1, T2, T3, T4, T5, T6>>
{
    public override bool IsImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable
            && Codec<T5>.Default.IsImmutable && Codec<T6>.Default.IsImmutable;

    public override ValueTuple<T1, T2, T3, T4, T5, T6> Copy(ValueTuple<T1, T2, T3, T4, T5, T6> value, CopyContext context) =>
        new(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context), Codec<T4>.Default.Copy(value.Item4, context),
            Codec<T5>.Default.Copy(value.Item5, context), Codec<T6>.Default.Copy(value.Item6, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2, T3, T4, T5, T6> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
        Codec<T5>.Default.Write(ref writer, value.Item5);
        Codec<T6>.Default.Write(ref writer, value.Item6);
    }

    public override ValueTuple<T1, T2, T3, T4, T5, T6> Read(ref WireReader reader) =>
        new(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader),
            Codec<T4>.Default.Read(ref reader), Codec<T5>.Default.Read(ref reader), Codec<T6>.Default.Read(ref reader));
}

/// <summary>The items in order.</summary>
internal sealed class ValueTupleCodec<T1, T2, T3, T4, T5, T6, T7> : Codec<ValueTuple<T1, T2, T3, T4, T5, T6, T7>>
{
    public override bool IsImmutable =>
        Codec<T1>.Default.IsImmutable && Codec<T2>.Default.IsImmutable && Codec<T3>.Default.IsImmutable && Codec<T4>.Default.IsImmutable
            && Codec<T5>.Default.IsImmutable && Codec<T6>.Default.IsImmutable && Codec<T7>.Default.IsImmutable;

    public override ValueTuple<T1, T2, T3, T4, T5, T6, T7> Copy(ValueTuple<T1, T2, T3, T4, T5, T6, T7> value, CopyContext context) =>
        new(Codec<T1>.Default.Copy(value.Item1, context), Codec<T2>.Default.Copy(value.Item2, context),
            Codec<T3>.Default.Copy(value.Item3, context), Codec<T4>.Default.Copy(value.Item4, context),
            Codec<T5>.Default.Copy(value.Item5, context), Codec<T6>.Default.Copy(value.Item6, context),
            Codec<T7>.Default.Copy(value.Item7, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2, T3, T4, T5, T6, T7> value)
    {
        Codec<T1>.Default.Write(ref writer, value.Item1);
        Codec<T2>.Default.Write(ref writer, value.Item2);
        Codec<T3>.Default.Write(ref writer, value.Item3);
        Codec<T4>.Default.Write(ref writer, value.Item4);
        Codec<T5>.Default.Write(ref writer, value.Item5);
        Codec<T6>.Default.Write(ref writer, value.Item6);
        Codec<T7>.Default.Write(ref writer, value.Item7);
    }

    public override ValueTuple<T1, T2, T3, T4, T5, T6, T7> Read(ref WireReader reader) =>
        new(Codec<T1>.Default.Read(ref reader), Codec<T2>.Default.Read(ref reader), Codec<T3>.Default.Read(ref reader),
            Codec<T4>.Default.Read(ref reader), Codec<T5>.Default.Read(ref reader), Codec<T6>.Default.Read(ref reader),
            Codec<T7>.Default.Read(ref reader));
}

/// <summary>The first seven items in order, then the rest.</summary>
internal sealed class ValueTupleCodec<T1, T2, T3, T4, T5, T6, T7, TRest> : Codec<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>>
    where TRest : struct
{
    private static readonly Codec<ValueTuple<T1, T2, T3, T4, T5, T6, T7>> First = Codec<ValueTuple<T1, T2, T3, T4, T5, T6, T7>>.Default;
    private static readonly Codec<TRest> Rest = Codec<TRest>.Default;

    public override bool IsImmutable => First.IsImmutable && Rest.IsImmutable;

    public override ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> Copy(
        ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> value, CopyContext context) =>
        Join(First.Copy(Head(value), context), Rest.Copy(value.Rest, context));

    public override void Write(ref WireWriter writer, ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> value)
    {
        First.Write(ref writer, Head(value));
        Rest.Write(ref writer, value.Rest);
    }

    public override ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> Read(ref WireReader reader) =>
        Join(First.Read(ref reader), Rest.Read(ref reader));

    private static ValueTuple<T1, T2, T3, T4, T5, T6, T7> Head(in ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> v) =>
        new(v.Item1, v.Item2, v.Item3, v.Item4, v.Item5, v.Item6, v.Item7);

    private static ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> Join(in ValueTuple<T1, T2, T3, T4, T5, T6, T7> v, TRest rest) =>
        new(v.Item1, v.Item2, v.Item3, v.Item4, v.Item5, v.Item6, v.Item7, rest);
}

/// <summary>Key and value.</summary>
internal sealed class KeyValuePairCodec<TKey, TValue> : Codec<KeyValuePair<TKey, TValue>>
{
    public override bool IsImmutable => Codec<TKey>.Default.IsImmutable && Codec<TValue>.Default.IsImmutable;

    public override KeyValuePair<TKey, TValue> Copy(KeyValuePair<TKey, TValue> value, CopyContext context) =>
        new(Codec<TKey>.Default.Copy(value.Key, context), Codec<TValue>.Default.Copy(value.Value, context));

    public override void Write(ref WireWriter writer, KeyValuePair<TKey, TValue> value)
    {
        Codec<TKey>.Default.Write(ref writer, value.Key);
        Codec<TValue>.Default.Write(ref writer, value.Value);
    }

    public override KeyValuePair<TKey, TValue> Read(ref WireReader reader)
    {
        var key = Codec<TKey>.Default.Read(ref reader);
        if (key is null)
            throw new Orleans.Serialization.SerializerException("The message has a null key.");
        return new(key, Codec<TValue>.Default.Read(ref reader));
    }
}
