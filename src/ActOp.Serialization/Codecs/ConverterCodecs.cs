using ActOp.Wire;
using Orleans;

namespace ActOp.Serialization.Codecs;

/// <summary>A class that is serialized as its surrogate.</summary>
internal sealed class ConverterCodec<TValue, TSurrogate>(IConverter<TValue, TSurrogate> converter) : ReferenceCodec<TValue>
    where TValue : class
    where TSurrogate : struct
{
    protected override void WriteBody(ref WireWriter writer, TValue value) =>
        Codec<TSurrogate>.Default.Write(ref writer, converter.ConvertToSurrogate(in value));

    protected override TValue ReadBody(ref WireReader reader, int at)
    {
        var value = converter.ConvertFromSurrogate(Codec<TSurrogate>.Default.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override TValue CopyBody(TValue value, CopyContext context)
    {
        var copy = converter.ConvertFromSurrogate(Codec<TSurrogate>.Default.Copy(converter.ConvertToSurrogate(in value), context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>A struct that is serialized as its surrogate.</summary>
internal sealed class StructConverterCodec<TValue, TSurrogate>(IConverter<TValue, TSurrogate> converter) : Codec<TValue>
    where TValue : struct
    where TSurrogate : struct
{
    public override bool IsImmutable => false;

    public override TValue Copy(TValue value, CopyContext context) =>
        converter.ConvertFromSurrogate(Codec<TSurrogate>.Default.Copy(converter.ConvertToSurrogate(in value), context));

    public override void Write(ref WireWriter writer, TValue value) =>
        Codec<TSurrogate>.Default.Write(ref writer, converter.ConvertToSurrogate(in value));

    public override TValue Read(ref WireReader reader) => converter.ConvertFromSurrogate(Codec<TSurrogate>.Default.Read(ref reader));
}
