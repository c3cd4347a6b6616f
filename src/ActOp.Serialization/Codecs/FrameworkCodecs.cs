using System.Collections;
using System.Collections.Frozen;
using System.Collections.ObjectModel;
using System.Collections.Specialized;
using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// 0 for null; 1, the comparer, count and items. The class that implements a frozen set is an internal one of the framework.
/// </summary>
internal sealed class FrozenSetCodec<T> : Codec<FrozenSet<T>?>
{
    private const int FrozenBytes = 128;

    public override bool IsImmutable => Codec<T>.Default.IsImmutable;

    public override FrozenSet<T>? Copy(FrozenSet<T>? value, CopyContext context)
    {
        if (value is null || IsImmutable)
            return value;
        if (context.TryGetCopy<FrozenSet<T>>(value, out var found))
            return found;
        var copy = value.Items.Select(item => Codec<T>.Default.Copy(item, context)).ToFrozenSet(value.Comparer);
        context.RecordCopy(value, copy);
        return copy;
    }

    public override void Write(ref WireWriter writer, FrozenSet<T>? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is null)
            return;
        writer.Session.Enter();
        Comparers.Write(ref writer, value.Comparer);
        writer.WriteVarUInt32((uint)value.Count);
        foreach (var item in value.Items)
            Codec<T>.Default.Write(ref writer, item);
        writer.Session.Exit();
    }

    public override FrozenSet<T>? Read(ref WireReader reader)
    {
        if (reader.ReadByte() == 0)
            return null;
        reader.Session.Enter();
        var comparer = Comparers.Read<T>(ref reader);
        var count = reader.ReadCount();
        reader.Session.CountDecoded(FrozenBytes + Footprint.OfMade<T>(2L * count));
        var items = Keys<T>.ReadItems(ref reader, count, Keys<T>.WalksOfHash(comparer));
        reader.Session.Exit();
        return items.ToFrozenSet(comparer);
    }
}

/// <summary>0 for null; 1, the comparer, count, keys and values.</summary>
internal sealed class FrozenDictionaryCodec<TKey, TValue> : Codec<FrozenDictionary<TKey, TValue>?>
    where TKey : notnull
{
    private const int FrozenBytes = 128;

    public override bool IsImmutable => Codec<TKey>.Default.IsImmutable && Codec<TValue>.Default.IsImmutable;

    public override FrozenDictionary<TKey, TValue>? Copy(FrozenDictionary<TKey, TValue>? value, CopyContext context)
    {
        if (value is null || IsImmutable)
            return value;
        if (context.TryGetCopy<FrozenDictionary<TKey, TValue>>(value, out var found))
            return found;
        var pairs = value.Select(
            pair => KeyValuePair.Create(Codec<TKey>.Default.Copy(pair.Key, context), Codec<TValue>.Default.Copy(pair.Value, context)));
        var copy = pairs.ToFrozenDictionary(value.Comparer);
        context.RecordCopy(value, copy);
        return copy;
    }

    public override void Write(ref WireWriter writer, FrozenDictionary<TKey, TValue>? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is null)
            return;
        writer.Session.Enter();
        Comparers.Write(ref writer, value.Comparer);
        writer.WriteVarUInt32((uint)value.Count);
        foreach (var pair in value)
        {
            Codec<TKey>.Default.Write(ref writer, pair.Key);
            Codec<TValue>.Default.Write(ref writer, pair.Value);
        }

        writer.Session.Exit();
    }

    public override FrozenDictionary<TKey, TValue>? Read(ref WireReader reader)
    {
        if (reader.ReadByte() == 0)
            return null;
        reader.Session.Enter();
        var comparer = Comparers.Read<TKey>(ref reader);
        var count = reader.ReadCount(2);
        reader.Session.CountDecoded(FrozenBytes + Footprint.OfMade<KeyValuePair<TKey, TValue>>(2L * count));
        var items = Keys<TKey>.ReadPairs<TValue>(ref reader, count, Keys<TKey>.WalksOfHash(comparer));
        reader.Session.Exit();
        return items.ToFrozenDictionary(comparer);
    }
}

/// <summary>Count and items of any type.</summary>
internal sealed class ArrayListCodec : ReferenceCodec<ArrayList>
{
    protected override void WriteBody(ref WireWriter writer, ArrayList value)
    {
        writer.WriteVarUInt32((uint)value.Count);
        foreach (var item in value)
            Codec<object?>.Default.Write(ref writer, item);
    }

    protected override ArrayList ReadBody(ref WireReader reader, int at)
    {
        var count = reader.ReadCount();
        reader.Session.CountDecoded(Footprint.OfTable<object>(count));
        var list = new ArrayList();
        Record(ref reader, at, list);
        for (var i = 0; i < count; i++)
            list.Add(Codec<object?>.Default.Read(ref reader));
        return list;
    }

    protected override ArrayList CopyBody(ArrayList value, CopyContext context)
    {
        var copy = new ArrayList(value.Count);
        context.RecordCopy(value, copy);
        foreach (var item in value)
            copy.Add(Codec<object?>.Default.Copy(item, context));
        return copy;
    }
}

/// <summary>Count, keys and values of any type. A table with a comparer of its own is refused.</summary>
internal sealed class HashtableCodec : ReferenceCodec<Hashtable>
{
    protected override void WriteBody(ref WireWriter writer, Hashtable value)
    {
        if (ComparerOf(value) is { } comparer)
            throw new Orleans.Serialization.SerializerException("A Hashtable with the comparer " + comparer.GetType() + " cannot be sent.");
        writer.WriteVarUInt32((uint)value.Count);
        foreach (DictionaryEntry entry in value)
        {
            Codec<object>.Default.Write(ref writer, entry.Key);
            Codec<object?>.Default.Write(ref writer, entry.Value);
        }
    }

    protected override Hashtable ReadBody(ref WireReader reader, int at)
    {
        var count = reader.ReadCount(2);
        reader.Session.CountDecoded(Footprint.OfTable<DictionaryEntry>(count));
        var table = new Hashtable();
        Record(ref reader, at, table);
        for (var i = 0; i < count; i++)
        {
            var key = Keys<object>.Read(ref reader, 1) ?? throw Parsing.Invalid("key");
            table[key] = Codec<object?>.Default.Read(ref reader);
        }

        return table;
    }

    protected override Hashtable CopyBody(Hashtable value, CopyContext context)
    {
        var copy = new Hashtable(value.Count, ComparerOf(value));
        context.RecordCopy(value, copy);
        foreach (DictionaryEntry entry in value)
            copy[Codec<object>.Default.Copy(entry.Key, context)] = Codec<object?>.Default.Copy(entry.Value, context);
        return copy;
    }

    [System.Runtime.CompilerServices.UnsafeAccessor(
        System.Runtime.CompilerServices.UnsafeAccessorKind.Method, Name = "get_EqualityComparer")]
    private static extern IEqualityComparer? ComparerOf(Hashtable value);
}

/// <summary>Count, keys and their values.</summary>
internal sealed class NameValueCollectionCodec : ReferenceCodec<NameValueCollection>
{
    protected override void WriteBody(ref WireWriter writer, NameValueCollection value)
    {
        writer.WriteVarUInt32((uint)value.Count);
        for (var i = 0; i < value.Count; i++)
        {
            writer.WriteNullableString(value.GetKey(i));
            var values = value.GetValues(i) ?? [];
            writer.WriteVarUInt32((uint)values.Length);
            foreach (var each in values)
                writer.WriteNullableString(each);
        }
    }

    protected override NameValueCollection ReadBody(ref WireReader reader, int at)
    {
        var count = reader.ReadCount(2);
        reader.Session.CountDecoded(Footprint.OfTable<KeyValuePair<string, string>>(count));
        var result = new NameValueCollection();
        Record(ref reader, at, result);
        for (var i = 0; i < count; i++)
        {
            var key = reader.ReadNullableString();
            var values = reader.ReadCount();
            reader.Session.CountDecoded(Footprint.OfNodes<string>(values));
            if (values == 0)
                result.Add(key, null);
            for (; values > 0; values--)
                result.Add(key, reader.ReadNullableString());
        }

        return result;
    }

    protected override NameValueCollection CopyBody(NameValueCollection value, CopyContext context)
    {
        var copy = new NameValueCollection(value);
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>The bits as a number.</summary>
internal sealed class BitVector32Codec() : PlainCodec<BitVector32>(WireKind.Fixed32)
{
    public override void Write(ref WireWriter writer, BitVector32 value) => writer.WriteFixed32((uint)value.Data);

    public override BitVector32 Read(ref WireReader reader) => new((int)reader.ReadFixed32());
}

/// <summary>The name of its culture.</summary>
internal sealed class CompareInfoCodec() : PlainCodec<CompareInfo?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, CompareInfo? value) => writer.WriteNullableString(value?.Name);

    public override CompareInfo? Read(ref WireReader reader) => Parsing.Culture(reader.ReadNullableString())?.CompareInfo;
}

/// <summary>The empty tuple: one byte, so that every value has one.</summary>
internal sealed class EmptyTupleCodec() : PlainCodec<ValueTuple>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, ValueTuple value) => writer.WriteByte(0);

    public override ValueTuple Read(ref WireReader reader) => reader.ReadByte() == 0 ? default : throw Parsing.Invalid("empty tuple");
}

/// <summary>The first seven items in order, then the rest, which is a tuple.</summary>
internal sealed class TupleCodec<T1, T2, T3, T4, T5, T6, T7, TRest> : ReferenceCodec<Tuple<T1, T2, T3, T4, T5, T6, T7, TRest>>
    where TRest : notnull
{
    private static readonly Codec<(T1, T2, T3, T4, T5, T6, T7)> First = Codec<(T1, T2, T3, T4, T5, T6, T7)>.Default;
    private static readonly Codec<TRest> Rest = Codec<TRest>.Default;

    protected override bool IsExactImmutable => First.IsImmutable && Rest.IsImmutable;

    public override bool IsImmutable => IsExactImmutable;

    protected override void WriteBody(ref WireWriter writer, Tuple<T1, T2, T3, T4, T5, T6, T7, TRest> value)
    {
        First.Write(ref writer, (value.Item1, value.Item2, value.Item3, value.Item4, value.Item5, value.Item6, value.Item7));
        Rest.Write(ref writer, value.Rest);
    }

    protected override Tuple<T1, T2, T3, T4, T5, T6, T7, TRest> ReadBody(ref WireReader reader, int at)
    {
        var head = First.Read(ref reader);
        var value = Join(head, Rest.Read(ref reader));
        Record(ref reader, at, value);
        return value;
    }

    protected override Tuple<T1, T2, T3, T4, T5, T6, T7, TRest> CopyBody(
        Tuple<T1, T2, T3, T4, T5, T6, T7, TRest> value, CopyContext context)
    {
        var head = First.Copy((value.Item1, value.Item2, value.Item3, value.Item4, value.Item5, value.Item6, value.Item7), context);
        var copy = Join(head, Rest.Copy(value.Rest, context));
        context.RecordCopy(value, copy);
        return copy;
    }

    private static Tuple<T1, T2, T3, T4, T5, T6, T7, TRest> Join(in (T1, T2, T3, T4, T5, T6, T7) v, TRest rest)
    {
        try
        {
            return new(v.Item1, v.Item2, v.Item3, v.Item4, v.Item5, v.Item6, v.Item7, rest);
        }
        catch (ArgumentException exception)
        {
            throw Parsing.Invalid("tuple", exception); // The rest is not a tuple.
        }
    }
}

/// <summary>JSON text in UTF-8, its length plus one before it; 0 for null.</summary>
internal static class JsonText
{
    /// <summary>What a parsed document needs beside its text, in bytes for each byte of text.</summary>
    private const int Overhead = 16;

    /// <summary>What the shortest document needs.</summary>
    private const int Least = 256;

    internal static void Write<T>(ref WireWriter writer, T value)
    {
        var bytes = JsonSerializer.SerializeToUtf8Bytes(value);
        writer.WriteVarUInt32((uint)bytes.Length + 1);
        writer.WriteRaw(bytes);
    }

    /// <summary>The document; null for null.</summary>
    internal static JsonDocument? Read(ref WireReader reader)
    {
        var length = reader.ReadVarUInt32();
        if (length == 0)
            return null;
        var bytes = reader.ReadRaw((int)Math.Min(length - 1, int.MaxValue));
        reader.Session.CountDecoded(Least + ((long)bytes.Length * Overhead));
        try
        {
            return JsonDocument.Parse(bytes.ToArray());
        }
        catch (JsonException exception)
        {
            throw Parsing.Invalid("JSON text", exception);
        }
    }
}

/// <summary>A node and what is below it; its parent and its options are not sent.</summary>
internal sealed class JsonNodeCodec<T> : Codec<T?>
    where T : JsonNode
{
    public override bool IsImmutable => false;

    public override T? Copy(T? value, CopyContext context) => (T?)value?.DeepClone();

    public override void Write(ref WireWriter writer, T? value)
    {
        if (value is null)
            writer.WriteByte(0);
        else
            JsonText.Write<JsonNode>(ref writer, value);
    }

    public override T? Read(ref WireReader reader)
    {
        if (JsonText.Read(ref reader) is not { } document)
            return null;
        JsonNode? node = document.RootElement.ValueKind switch
        {
            JsonValueKind.Object => JsonObject.Create(document.RootElement),
            JsonValueKind.Array => JsonArray.Create(document.RootElement),
            _ => JsonValue.Create(document.RootElement),
        };
        return node is null ? null : node as T ?? throw Parsing.Invalid(typeof(T).Name);
    }
}

/// <summary>The text; nothing for the default value.</summary>
internal sealed class JsonElementCodec : Codec<JsonElement>
{
    public override bool IsImmutable => false;

    public override JsonElement Copy(JsonElement value, CopyContext context) =>
        value.ValueKind == JsonValueKind.Undefined ? value : value.Clone();

    public override void Write(ref WireWriter writer, JsonElement value)
    {
        if (value.ValueKind == JsonValueKind.Undefined)
            writer.WriteByte(0);
        else
            JsonText.Write(ref writer, value);
    }

    public override JsonElement Read(ref WireReader reader) => JsonText.Read(ref reader) is { } document ? document.RootElement : default;
}

/// <summary>The text of the root.</summary>
internal sealed class JsonDocumentCodec : ReferenceCodec<JsonDocument>
{
    protected override void WriteBody(ref WireWriter writer, JsonDocument value) => JsonText.Write(ref writer, value.RootElement);

    protected override JsonDocument ReadBody(ref WireReader reader, int at)
    {
        var value = JsonText.Read(ref reader) ?? throw Parsing.Invalid("JSON text");
        Record(ref reader, at, value);
        return value;
    }

    protected override JsonDocument CopyBody(JsonDocument value, CopyContext context)
    {
        var copy = JsonDocument.Parse(JsonSerializer.SerializeToUtf8Bytes(value.RootElement));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>Count and items.</summary>
internal sealed class ReadOnlyObservableCollectionCodec<T> : WrappedCodec<ReadOnlyObservableCollection<T>, T>
{
    protected override bool IsWrapperImmutable => false;

    protected override ReadOnlyObservableCollection<T> FromArray(T[] items) => new(new ObservableCollection<T>(items));
}

/// <summary>Count, then items with their priorities, in the order of the heap. The comparer is the default one or a known one.</summary>
internal sealed class PriorityQueueCodec<TItem, TPriority> : ReferenceCodec<PriorityQueue<TItem, TPriority>>
{
    protected override void WriteBody(ref WireWriter writer, PriorityQueue<TItem, TPriority> value)
    {
        Comparers.WriteOrder(ref writer, value.Comparer);
        writer.WriteVarUInt32((uint)value.Count);
        foreach (var (item, priority) in value.UnorderedItems)
        {
            Codec<TItem>.Default.Write(ref writer, item);
            Codec<TPriority>.Default.Write(ref writer, priority);
        }
    }

    protected override PriorityQueue<TItem, TPriority> ReadBody(ref WireReader reader, int at)
    {
        var queue = new PriorityQueue<TItem, TPriority>(Comparers.ReadOrder<TPriority>(ref reader));
        Record(ref reader, at, queue);
        var count = reader.ReadCount(2);
        reader.Session.CountDecoded(Footprint.OfTable<(TItem, TPriority)>(count));
        for (var i = 0; i < count; i++)
        {
            var item = Codec<TItem>.Default.Read(ref reader);
            queue.Enqueue(item, Keys<TPriority>.Read(ref reader, Keys<TPriority>.WalksOfOrder(count)));
        }

        return queue;
    }

    protected override PriorityQueue<TItem, TPriority> CopyBody(PriorityQueue<TItem, TPriority> value, CopyContext context)
    {
        var copy = new PriorityQueue<TItem, TPriority>(value.Count, value.Comparer);
        context.RecordCopy(value, copy);
        foreach (var (item, priority) in value.UnorderedItems)
            copy.Enqueue(Codec<TItem>.Default.Copy(item, context), Codec<TPriority>.Default.Copy(priority, context));
        return copy;
    }
}
