using System.Collections.Concurrent;
using System.Text;
using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// The bytes of a batch of a memory stream: a byte of flags, the request context if there is one, the name of the stream's item type, the
/// number of items, and the items with the codec of that type. A consumer of the same type reads them without looking anything up.
/// </summary>
internal static class StreamPayload
{
    private const byte HasContext = 1;

    /// <summary>The bytes; null if the type has no name for serialization.</summary>
    internal static byte[]? TryWrite<T>(CallRuntime runtime, IEnumerable<T> items, Dictionary<string, object>? context)
    {
        if (ItemType<T>.Name is not { } name)
            return null;
        var all = items as IReadOnlyCollection<T> ?? [.. items];
        var scratch = WireScratch.Rent(runtime);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte(context is null ? (byte)0 : HasContext);
        if (context is not null)
            Codec<Dictionary<string, object>>.Default.Write(ref writer, context);
        writer.WriteBytes(name);
        writer.WriteVarUInt32((uint)all.Count);
        if (all is T[] array)
        {
            foreach (var item in array)
                Codec<T>.Default.Write(ref writer, item);
        }
        else
        {
            foreach (var item in all)
                Codec<T>.Default.Write(ref writer, item);
        }

        writer.Commit();
        var bytes = scratch.Buffer.Written.ToArray();
        scratch.Return();
        return bytes;
    }

    /// <summary>The items.</summary>
    /// <exception cref="InvalidCastException">An item is not a <typeparamref name="T"/>.</exception>
    internal static T[] Read<T>(CallRuntime runtime, ReadOnlySpan<byte> bytes)
    {
        var scratch = WireScratch.Rent(runtime);
        var reader = new WireReader(bytes, scratch.Session);
        if (reader.ReadByte() == HasContext)
            Codec<Dictionary<string, object>>.Default.Read(ref reader);
        var name = reader.ReadBytes();
        T[] items;
        if (name.SequenceEqual(ItemType<T>.Name))
        {
            items = new T[reader.ReadCount()];
            for (var i = 0; i < items.Length; i++)
                items[i] = Codec<T>.Default.Read(ref reader);
        }
        else
        {
            items = Array.ConvertAll(ItemReader.For(Encoding.UTF8.GetString(name)).Read(ref reader), static item => (T)item!);
        }

        scratch.Return();
        return items;
    }

    /// <summary>Null if there is none.</summary>
    internal static Dictionary<string, object>? ReadContext(CallRuntime runtime, ReadOnlySpan<byte> bytes)
    {
        if (bytes[0] != HasContext)
            return null;
        var scratch = WireScratch.Rent(runtime);
        var reader = new WireReader(bytes[1..], scratch.Session);
        var context = Codec<Dictionary<string, object>>.Default.Read(ref reader);
        scratch.Return();
        return context;
    }

    private static class ItemType<T>
    {
        internal static readonly byte[]? Name =
            TypeManifest.TryNameOf(typeof(T), out var name) && CodecTable.CanResolve(typeof(T)) ? Encoding.UTF8.GetBytes(name) : null;
    }

    /// <summary>Reads items of a type that is known by its name.</summary>
    private abstract class ItemReader
    {
        private static readonly ConcurrentDictionary<Type, ItemReader> ByType = new();

        internal static ItemReader For(string name) => TypeManifest.TryGetType(name, out var type)
            ? ByType.GetOrAdd(type, static one => (ItemReader)Activator.CreateInstance(typeof(ItemReader<>).MakeGenericType(one))!)
            : throw new SerializerException("The items are of the type " + name + ", which is not registered in this process.");

        internal abstract object?[] Read(ref WireReader reader);
    }

    private sealed class ItemReader<T> : ItemReader
    {
        internal override object?[] Read(ref WireReader reader)
        {
            var items = new object?[reader.ReadCount()];
            for (var i = 0; i < items.Length; i++)
                items[i] = Codec<T>.Default.Read(ref reader);
            return items;
        }
    }
}

/// <summary>
/// Turns what producers add into bytes, and back: by the type of the items if it has a name, else as objects, with a serializer that the
/// application may choose.
/// </summary>
/// <param name="runtime">What references in items are bound to.</param>
/// <param name="serializer">Writes items whose type has no name, or all items.</param>
/// <param name="typed">Whether items whose type has a name are written by it.</param>
/// <remarks>Immutable; any thread.</remarks>
internal sealed class BatchFormat(CallRuntime runtime, IMemoryMessageBodySerializer serializer, bool typed)
{
    /// <summary>The first byte of a payload in the form of <see cref="MemoryMessageBody"/>.</summary>
    private const byte Untyped = 255;

    internal ArraySegment<byte> Write<T>(IEnumerable<T> events, Dictionary<string, object>? requestContext)
    {
        if (!typed)
            return Serialize(events, requestContext);
        if (StreamPayload.TryWrite(runtime, events, requestContext) is { } bytes)
            return bytes;
        return (byte[])[Untyped, .. Serialize(events, requestContext)];
    }

    private ArraySegment<byte> Serialize<T>(IEnumerable<T> events, Dictionary<string, object>? requestContext) =>
        serializer.Serialize(new MemoryMessageBody(events.Cast<object>(), requestContext)) is { Array: not null } bytes ? bytes
            : throw new InvalidOperationException("Serialize of " + serializer.GetType() + " has returned no bytes.");

    private MemoryMessageBody Deserialize(ArraySegment<byte> bytes) => serializer.Deserialize(bytes)
        ?? throw new InvalidOperationException("Deserialize of " + serializer.GetType() + " has returned null.");

    /// <summary>The batch for one reader.</summary>
    internal IBatchContainer Open(QueuedBatch batch)
    {
        var payload = batch.Message.Payload;
        return !typed ? new BoundQueuedBatch(batch, Deserialize(payload))
            : payload[0] == Untyped ? new BoundQueuedBatch(batch, Deserialize(payload[1..]))
            : new TypedBatch(batch, runtime);
    }
}

/// <summary>A batch of a memory stream in the form of <see cref="StreamPayload"/>, for one reader.</summary>
internal sealed class TypedBatch(QueuedBatch batch, CallRuntime runtime) : IBatchContainer
{
    public StreamId StreamId => batch.StreamId;

    public StreamSequenceToken SequenceToken => batch.SequenceToken;

    internal long Number => batch.Message.SequenceNumber;

    public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => Read<T>().Select((item, index) =>
        Tuple.Create(item, (StreamSequenceToken)new EventSequenceTokenV2(Number, index)));

    public bool ImportRequestContext()
    {
        if (StreamPayload.ReadContext(runtime, batch.Message.Payload) is not { } values)
            return false;
        foreach (var (key, value) in values)
            RequestContext.Set(key, value);
        return true;
    }

    internal T[] Read<T>() => StreamPayload.Read<T>(runtime, batch.Message.Payload);
}
