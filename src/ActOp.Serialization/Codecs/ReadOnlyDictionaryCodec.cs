using System.Collections.ObjectModel;
using System.Runtime.CompilerServices;
using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>The dictionary behind it, which knows its comparer.</summary>
internal sealed class ReadOnlyDictionaryCodec<TKey, TValue> : ReferenceCodec<ReadOnlyDictionary<TKey, TValue>>
    where TKey : notnull
{
    private static readonly Codec<IDictionary<TKey, TValue>> Behind = Codec<IDictionary<TKey, TValue>>.Default;

    protected override void WriteBody(ref WireWriter writer, ReadOnlyDictionary<TKey, TValue> value) => Behind.Write(ref writer, DictionaryOf(value));

    protected override ReadOnlyDictionary<TKey, TValue> ReadBody(ref WireReader reader, int at)
    {
        var value = new ReadOnlyDictionary<TKey, TValue>(Behind.Read(ref reader) ?? throw new SerializerException("The wire has a read-only dictionary without the one behind it."));
        Record(ref reader, at, value);
        return value;
    }

    protected override ReadOnlyDictionary<TKey, TValue> CopyBody(ReadOnlyDictionary<TKey, TValue> value, CopyContext context)
    {
        var copy = new ReadOnlyDictionary<TKey, TValue>(Behind.Copy(DictionaryOf(value), context));
        context.RecordCopy(value, copy);
        return copy;
    }

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "get_Dictionary")]
    private static extern IDictionary<TKey, TValue> DictionaryOf(ReadOnlyDictionary<TKey, TValue> value);
}
