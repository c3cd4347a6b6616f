using System.Buffers;
using System.Collections.Concurrent;
using ActOp.Serialization;
using ActOp.Wire;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Session;

namespace Orleans.Serialization;

/// <summary>Writes values whose static type is known only when the program runs; see <see cref="Serializer"/>.</summary>
public sealed class ObjectSerializer
{
    private readonly SerializerSessionPool _sessionPool;

    /// <summary>Creates a serializer with the codecs of the pool's services.</summary>
    public ObjectSerializer(SerializerSessionPool sessionPool) => _sessionPool = sessionPool;

    /// <summary>True when values of type <typeparamref name="T"/> can be written.</summary>
    public bool CanSerialize<T>() => CanSerialize(typeof(T));

    /// <summary>True when values of that type can be written.</summary>
    public bool CanSerialize(Type type) => CodecTable.CanResolve(type);

    /// <summary>The value as a new array.</summary>
    public byte[] SerializeToArray(object value, Type type)
    {
        var scratch = Write(value, type);
        var bytes = scratch.Buffer.Written.ToArray();
        scratch.Return();
        return bytes;
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize(object value, ref Memory<byte> destination, Type type)
    {
        var scratch = Write(value, type);
        scratch.Buffer.Written.CopyTo(destination.Span);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(object value, ref Memory<byte> destination, SerializerSession session, Type type) =>
        Serialize(value, ref destination, type);

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize(object value, ref Span<byte> destination, Type type)
    {
        var scratch = Write(value, type);
        scratch.Buffer.Written.CopyTo(destination);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(object value, ref Span<byte> destination, SerializerSession session, Type type) =>
        Serialize(value, ref destination, type);

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize(object value, byte[] destination, Type type)
    {
        Span<byte> span = destination;
        Serialize(value, ref span, type);
        return span.Length;
    }

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize(object value, byte[] destination, SerializerSession session, Type type) => Serialize(value, destination, type);

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize(object value, Stream destination, Type type, int sizeHint = 0)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var scratch = Write(value, type);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize(object value, Stream destination, SerializerSession session, Type type, int sizeHint = 0) =>
        Serialize(value, destination, type, sizeHint);

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<TBufferWriter>(object value, TBufferWriter destination, Type type)
        where TBufferWriter : IBufferWriter<byte>
    {
        var scratch = Write(value, type);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<TBufferWriter>(object value, TBufferWriter destination, SerializerSession session, Type type)
        where TBufferWriter : IBufferWriter<byte> => Serialize(value, destination, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ReadOnlySpan<byte> source, Type type) => Read(source, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ReadOnlySpan<byte> source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(byte[] source, Type type) => Read(source.AsSpan(), type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(byte[] source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ArraySegment<byte> source, Type type) => Read(source.AsSpan(), type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ArraySegment<byte> source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ReadOnlyMemory<byte> source, Type type) => Read(source.Span, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ReadOnlyMemory<byte> source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ReadOnlySequence<byte> source, Type type) =>
        source.IsSingleSegment ? Read(source.FirstSpan, type) : Read(source.ToArray(), type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ReadOnlySequence<byte> source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(PooledBuffer.BufferSlice source, Type type) => Read(source.Span, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ArcBuffer source, Type type) => Read(source.ToArray(), type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(PooledBuffer.BufferSlice source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>The value that the bytes hold.</summary>
    public object Deserialize(ArcBuffer source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>The value that the rest of the stream holds.</summary>
    public object Deserialize(Stream source, Type type)
    {
        ArgumentNullException.ThrowIfNull(source);
        using var memory = new MemoryStream();
        source.CopyTo(memory);
        return Read(memory.GetBuffer().AsSpan(0, (int)memory.Length), type);
    }

    /// <summary>The value that the rest of the stream holds.</summary>
    public object Deserialize(Stream source, SerializerSession session, Type type) => Deserialize(source, type);

    /// <summary>Writes a field as codecs of applications do.</summary>
    public void Serialize<TBufferWriter>(object value, ref Writer<TBufferWriter> destination, Type type)
        where TBufferWriter : IBufferWriter<byte>
    {
        destination.Session.CodecProvider.GetCodec(type).WriteField(ref destination, 0, type, value);
        destination.Commit();
    }

    /// <summary>Reads a field as codecs of applications do, or a message.</summary>
    public object Deserialize<TInput>(ref Reader<TInput> source, Type type)
    {
        var start = source.Position;
        var field = source.ReadFieldHeader();
        if (!MessageMark.IsMessage(field))
            return source.Session.CodecProvider.GetCodec(type).ReadValue(ref source, field)!;
        var value = ReadMessage(MessageMark.TakeMessage(ref source), type, out var length);
        source.ResumeFrom(start + length);
        return value;
    }

    private object Read(ReadOnlySpan<byte> source, Type type)
    {
        if (!MarkedMessage.IsField(source))
            return ReadMessage(source, type, out _);
        using var session = _sessionPool.GetSession();
        var reader = Reader.Create(source, session);
        return session.CodecProvider.GetCodec(type).ReadValue(ref reader, reader.ReadFieldHeader())!;
    }

    private object ReadMessage(ReadOnlySpan<byte> source, Type type, out int length)
    {
        var scratch = WireScratch.Rent(_sessionPool.CodecProvider.Runtime, _sessionPool.CodecProvider);
        var reader = new WireReader(source, scratch.Session);
        reader.ReadByte();
        var value = StaticCodec.For(type).Read(ref reader);
        length = reader.Position;
        scratch.Return();
        return value!;
    }

    private WireScratch Write(object value, Type type)
    {
        var scratch = WireScratch.Rent(_sessionPool.CodecProvider.Runtime, _sessionPool.CodecProvider);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteByte(MarkedMessage.Mark);
        StaticCodec.For(type).Write(ref writer, value);
        writer.Commit();
        return scratch;
    }

    /// <summary>The codec of a static type that is known only when the program runs.</summary>
    private abstract class StaticCodec
    {
        private static readonly ConcurrentDictionary<Type, StaticCodec> ByType = new();

        internal static StaticCodec For(Type type) => ByType.GetOrAdd(
            type, static t => (StaticCodec)Activator.CreateInstance(typeof(Typed<>).MakeGenericType(t))!);

        internal abstract void Write(ref WireWriter writer, object value);

        internal abstract object? Read(ref WireReader reader);

        private sealed class Typed<T> : StaticCodec
        {
            internal override void Write(ref WireWriter writer, object value) => Codec<T>.Default.Write(ref writer, (T)value);

            internal override object? Read(ref WireReader reader) => Codec<T>.Default.Read(ref reader);
        }
    }
}

/// <summary>Writes values of a struct without copying them; see <see cref="Serializer"/>.</summary>
/// <typeparam name="T">The struct.</typeparam>
public sealed class ValueSerializer<T>
    where T : struct
{
    private readonly Serializer _serializer;

    /// <summary>Creates a serializer with the codecs of the pool's services.</summary>
    public ValueSerializer(SerializerSessionPool sessionPool) => _serializer = new Serializer(sessionPool);

    /// <summary>The value as a new array.</summary>
    public byte[] SerializeToArray(scoped ref T value)
    {
        var scratch = _serializer.Write(value);
        var bytes = scratch.Buffer.Written.ToArray();
        scratch.Return();
        return bytes;
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize(scoped ref T value, ref Memory<byte> destination)
    {
        var scratch = _serializer.Write(value);
        scratch.Buffer.Written.CopyTo(destination.Span);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(scoped ref T value, ref Memory<byte> destination, SerializerSession session) =>
        Serialize(ref value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize(scoped ref T value, ref Span<byte> destination)
    {
        var scratch = _serializer.Write(value);
        scratch.Buffer.Written.CopyTo(destination);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(scoped ref T value, ref Span<byte> destination, SerializerSession session) =>
        Serialize(ref value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize(scoped ref T value, byte[] destination)
    {
        Span<byte> span = destination;
        Serialize(ref value, ref span);
        return span.Length;
    }

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize(scoped ref T value, byte[] destination, SerializerSession session) => Serialize(ref value, destination);

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize(scoped ref T value, Stream destination, int sizeHint = 0)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var scratch = _serializer.Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize(scoped ref T value, Stream destination, SerializerSession session, int sizeHint = 0) =>
        Serialize(ref value, destination, sizeHint);

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<TBufferWriter>(scoped ref T value, TBufferWriter destination)
        where TBufferWriter : IBufferWriter<byte>
    {
        var scratch = _serializer.Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<TBufferWriter>(scoped ref T value, TBufferWriter destination, SerializerSession session)
        where TBufferWriter : IBufferWriter<byte> => Serialize(ref value, destination);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ReadOnlySpan<byte> source, scoped ref T result) => result = _serializer.Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ReadOnlySpan<byte> source, scoped ref T result, SerializerSession session) => Deserialize(source, ref result);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(byte[] source, scoped ref T result) => result = _serializer.Deserialize<T>(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(byte[] source, scoped ref T result, SerializerSession session) => Deserialize(source, ref result);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ArraySegment<byte> source, scoped ref T result) => result = _serializer.Deserialize<T>(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ArraySegment<byte> source, scoped ref T result, SerializerSession session) => Deserialize(source, ref result);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ReadOnlyMemory<byte> source, scoped ref T result) => result = _serializer.Deserialize<T>(source.Span);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ReadOnlyMemory<byte> source, scoped ref T result, SerializerSession session) => Deserialize(source, ref result);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ReadOnlySequence<byte> source, scoped ref T result) =>
        result = source.IsSingleSegment ? _serializer.Deserialize<T>(source.FirstSpan) : _serializer.Deserialize<T>(source.ToArray());

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ReadOnlySequence<byte> source, scoped ref T result, SerializerSession session) =>
        Deserialize(source, ref result);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(PooledBuffer.BufferSlice source, scoped ref T result) => result = _serializer.Deserialize<T>(source.Span);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ArcBuffer source, scoped ref T result) => result = _serializer.Deserialize<T>(source.ToArray());

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(PooledBuffer.BufferSlice source, scoped ref T result, SerializerSession session) =>
        Deserialize(source, ref result);

    /// <summary>The value that the bytes hold.</summary>
    public void Deserialize(ArcBuffer source, scoped ref T result, SerializerSession session) => Deserialize(source, ref result);

    /// <summary>The value that the rest of the stream holds.</summary>
    public void Deserialize(Stream source, scoped ref T result)
    {
        ArgumentNullException.ThrowIfNull(source);
        using var memory = new MemoryStream();
        source.CopyTo(memory);
        result = _serializer.Deserialize<T>(memory.GetBuffer().AsSpan(0, (int)memory.Length));
    }

    /// <summary>The value that the rest of the stream holds.</summary>
    public void Deserialize(Stream source, scoped ref T result, SerializerSession session) => Deserialize(source, ref result);

    /// <summary>Writes a field as codecs of applications do.</summary>
    public void Serialize<TBufferWriter>(scoped ref T value, ref Writer<TBufferWriter> destination)
        where TBufferWriter : IBufferWriter<byte> => _serializer.Serialize(value, ref destination);

    /// <summary>Reads a field as codecs of applications do.</summary>
    public void Deserialize<TInput>(ref Reader<TInput> source, scoped ref T result) =>
        result = _serializer.Deserialize<T, TInput>(ref source);
}
