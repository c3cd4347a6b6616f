using System.Buffers;
using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Serialization.Fields.Bridging;
using ActOp.Wire;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Session;

namespace Orleans.Serialization;

/// <summary>Writes values to bytes and reads them again; used from any thread.</summary>
/// <remarks>
/// Every method throws <see cref="CodecNotFoundException"/> for types without a codec and <see cref="SerializerException"/> for damaged
/// data. Bytes are a mark and the format of messages between silos. What is written to a <see cref="Writer{TBufferWriter}"/> is a field as
/// codecs of applications write it. Both are read from bytes and from a <see cref="Reader{TInput}"/>. A session that is given for bytes
/// only says whose codecs are used.
/// </remarks>
public sealed class Serializer
{
    private readonly CallRuntime? _runtime;
    private readonly SerializerSessionPool? _sessionPool;

    /// <summary>
    /// Creates a serializer without services: its grain references are not bound to a silo or client, and codecs that need services of an
    /// application are not found.
    /// </summary>
    public Serializer()
    {
    }

    /// <summary>Creates a serializer with the codecs of the pool's services.</summary>
    public Serializer(SerializerSessionPool sessionPool)
    {
        ArgumentNullException.ThrowIfNull(sessionPool);
        _sessionPool = sessionPool;
    }

    internal Serializer(CallRuntime? runtime) => _runtime = runtime;

    /// <summary>Found at the first use: a service that takes a serializer may be created before the silo or client is.</summary>
    private CallRuntime? Runtime => _runtime ?? SessionPool.CodecProvider.Runtime;

    /// <summary>Sessions for writers and readers.</summary>
    public SerializerSessionPool SessionPool => _sessionPool ?? Bridge.OfNobody.Sessions;

    /// <summary>A serializer for one type.</summary>
    public Serializer<T> GetSerializer<T>() => new(this);

    /// <summary>True when values of type <typeparamref name="T"/> can be written.</summary>
    public bool CanSerialize<T>() => CanSerialize(typeof(T));

    /// <summary>True when values of that type can be written.</summary>
    public bool CanSerialize(Type type) => CodecTable.CanResolve(type);

    /// <summary>The value as a new array.</summary>
    public byte[] SerializeToArray<T>(T value)
    {
        var scratch = Write(value);
        var bytes = scratch.Buffer.Written.ToArray();
        scratch.Return();
        return bytes;
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize<T>(T value, ref Memory<byte> destination)
    {
        var scratch = Write(value);
        scratch.Buffer.Written.CopyTo(destination.Span);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize<T>(T value, ref Memory<byte> destination, SerializerSession session) => Serialize(value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize<T>(T value, ref Span<byte> destination)
    {
        var scratch = Write(value);
        scratch.Buffer.Written.CopyTo(destination);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize<T>(T value, ref Span<byte> destination, SerializerSession session) => Serialize(value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize<T>(T value, byte[] destination)
    {
        Span<byte> span = destination;
        Serialize(value, ref span);
        return span.Length;
    }

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize<T>(T value, byte[] destination, SerializerSession session) => Serialize(value, destination);

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize<T>(T value, ArraySegment<byte> destination)
    {
        Span<byte> span = destination;
        Serialize(value, ref span);
        return span.Length;
    }

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize<T>(T value, ArraySegment<byte> destination, SerializerSession session) => Serialize(value, destination);

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize<T>(T value, Stream destination, int sizeHint = 0)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var scratch = Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize<T>(T value, Stream destination, SerializerSession session, int sizeHint = 0) =>
        Serialize(value, destination, sizeHint);

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<T, TBufferWriter>(T value, TBufferWriter destination)
        where TBufferWriter : IBufferWriter<byte>
    {
        var scratch = Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<T, TBufferWriter>(T value, TBufferWriter destination, SerializerSession session)
        where TBufferWriter : IBufferWriter<byte> => Serialize(value, destination);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlySpan<byte> source) => Read<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlySpan<byte> source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(byte[] source) => Read<T>(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(byte[] source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ArraySegment<byte> source) => Read<T>(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ArraySegment<byte> source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlyMemory<byte> source) => Read<T>(source.Span);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlyMemory<byte> source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlySequence<byte> source) =>
        source.IsSingleSegment ? Read<T>(source.FirstSpan) : Read<T>(source.ToArray());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlySequence<byte> source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(PooledBuffer.BufferSlice source) => Read<T>(source.Span);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ArcBuffer source) => Read<T>(source.ToArray());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(PooledBuffer.BufferSlice source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ArcBuffer source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>The value that the rest of the stream holds.</summary>
    public T Deserialize<T>(Stream source)
    {
        ArgumentNullException.ThrowIfNull(source);
        using var memory = new MemoryStream();
        source.CopyTo(memory);
        return Read<T>(memory.GetBuffer().AsSpan(0, (int)memory.Length));
    }

    /// <summary>The value that the rest of the stream holds.</summary>
    public T Deserialize<T>(Stream source, SerializerSession session) => Deserialize<T>(source);

    /// <summary>Writes a field as codecs of applications do.</summary>
    public void Serialize<T, TBufferWriter>(T value, ref Writer<TBufferWriter> destination)
        where TBufferWriter : IBufferWriter<byte>
    {
        destination.Session.CodecProvider.GetCodec<T>().WriteField(ref destination, 0, typeof(T), value);
        destination.Commit();
    }

    /// <summary>Reads a field as codecs of applications do, or a message.</summary>
    public T Deserialize<T, TInput>(ref Reader<TInput> source)
    {
        var start = source.Position;
        var field = source.ReadFieldHeader();
        return MessageMark.IsMessage(field) ? ReadMessage<T, TInput>(ref source, start)
            : source.Session.CodecProvider.GetCodec<T>().ReadValue(ref source, field);
    }

    internal T ReadMessage<T, TInput>(ref Reader<TInput> source, long start)
    {
        var value = ReadMessage<T>(MessageMark.TakeMessage(ref source), out var length);
        source.ResumeFrom(start + length);
        return value;
    }

    internal T ReadMessage<T>(ReadOnlySpan<byte> source, out int length) =>
        MarkedMessage.Read<T>(source, Runtime, SessionPool.CodecProvider, out length);

    internal WireScratch Write<T>(T value) => MarkedMessage.Write(value, Runtime, SessionPool.CodecProvider);

    private T Read<T>(ReadOnlySpan<byte> source)
    {
        if (!MarkedMessage.IsField(source))
            return ReadMessage<T>(source, out _);
        using var session = SessionPool.GetSession();
        var reader = Reader.Create(source, session);
        return session.CodecProvider.GetCodec<T>().ReadValue(ref reader, reader.ReadFieldHeader());
    }
}

/// <summary>Writes values of one type; see <see cref="Serializer"/>.</summary>
/// <typeparam name="T">The static type.</typeparam>
public sealed class Serializer<T>
{
    private readonly Serializer _serializer;
    private readonly IFieldCodec<T>? _codec;

    /// <summary>Creates a serializer with the codecs of the pool's services.</summary>
    public Serializer(SerializerSessionPool sessionPool)
        : this(new Serializer(sessionPool))
    {
    }

    /// <summary>Creates a serializer with a codec of its own.</summary>
    public Serializer(IFieldCodec<T> codec, SerializerSessionPool sessionPool)
        : this(new Serializer(sessionPool))
    {
        // The service finds the codec of the type, which is what is used without one.
        _codec = codec is FieldCodecService<T> ? null : codec;
    }

    internal Serializer(Serializer serializer) => _serializer = serializer;

    /// <summary>The value as a new array.</summary>
    public byte[] SerializeToArray(T value)
    {
        var scratch = Write(value);
        var bytes = scratch.Buffer.Written.ToArray();
        scratch.Return();
        return bytes;
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize(T value, ref Memory<byte> destination)
    {
        var scratch = Write(value);
        scratch.Buffer.Written.CopyTo(destination.Span);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(T value, ref Memory<byte> destination, SerializerSession session) => Serialize(value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize(T value, ref Span<byte> destination)
    {
        var scratch = Write(value);
        scratch.Buffer.Written.CopyTo(destination);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(T value, ref Span<byte> destination, SerializerSession session) => Serialize(value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize(T value, byte[] destination)
    {
        Span<byte> span = destination;
        Serialize(value, ref span);
        return span.Length;
    }

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize(T value, byte[] destination, SerializerSession session) => Serialize(value, destination);

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize(T value, Stream destination, int sizeHint = 0)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var scratch = Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize(T value, Stream destination, SerializerSession session, int sizeHint = 0) =>
        Serialize(value, destination, sizeHint);

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<TBufferWriter>(T value, TBufferWriter destination)
        where TBufferWriter : IBufferWriter<byte>
    {
        var scratch = Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<TBufferWriter>(T value, TBufferWriter destination, SerializerSession session)
        where TBufferWriter : IBufferWriter<byte> => Serialize(value, destination);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlySpan<byte> source) => Read(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlySpan<byte> source, SerializerSession session) => Deserialize(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(byte[] source) => Read(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(byte[] source, SerializerSession session) => Deserialize(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ArraySegment<byte> source) => Read(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ArraySegment<byte> source, SerializerSession session) => Deserialize(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlyMemory<byte> source) => Read(source.Span);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlyMemory<byte> source, SerializerSession session) => Deserialize(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlySequence<byte> source) =>
        source.IsSingleSegment ? Read(source.FirstSpan) : Read(source.ToArray());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlySequence<byte> source, SerializerSession session) => Deserialize(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(PooledBuffer.BufferSlice source) => Read(source.Span);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ArcBuffer source) => Read(source.ToArray());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(PooledBuffer.BufferSlice source, SerializerSession session) => Deserialize(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ArcBuffer source, SerializerSession session) => Deserialize(source);

    /// <summary>The value that the rest of the stream holds.</summary>
    public T Deserialize(Stream source)
    {
        ArgumentNullException.ThrowIfNull(source);
        using var memory = new MemoryStream();
        source.CopyTo(memory);
        return Read(memory.GetBuffer().AsSpan(0, (int)memory.Length));
    }

    /// <summary>The value that the rest of the stream holds.</summary>
    public T Deserialize(Stream source, SerializerSession session) => Deserialize(source);

    /// <summary>Writes a field as codecs of applications do.</summary>
    public void Serialize<TBufferWriter>(T value, ref Writer<TBufferWriter> destination)
        where TBufferWriter : IBufferWriter<byte>
    {
        (_codec ?? destination.Session.CodecProvider.GetCodec<T>()).WriteField(ref destination, 0, typeof(T), value);
        destination.Commit();
    }

    /// <summary>Reads a field as codecs of applications do, or a message.</summary>
    public T Deserialize<TInput>(ref Reader<TInput> source)
    {
        var start = source.Position;
        var field = source.ReadFieldHeader();
        return MessageMark.IsMessage(field) ? _serializer.ReadMessage<T, TInput>(ref source, start)
            : (_codec ?? source.Session.CodecProvider.GetCodec<T>()).ReadValue(ref source, field);
    }

    private T Read(ReadOnlySpan<byte> source)
    {
        if (_codec is null || !MarkedMessage.IsField(source))
            return _serializer.Deserialize<T>(source);
        using var session = _serializer.SessionPool.GetSession();
        var reader = Reader.Create(source, session);
        return Deserialize(ref reader);
    }

    private WireScratch Write(T value)
    {
        if (_codec is null)
            return _serializer.Write(value);
        using var session = _serializer.SessionPool.GetSession();
        var writer = Writer.CreatePooled(session);
        Serialize(value, ref writer);
        var scratch = WireScratch.Rent(null);
        var wire = new WireWriter(scratch.Buffer, scratch.Session);
        wire.WriteRaw(writer.Output.Memory.Span);
        wire.Commit();
        writer.Dispose();
        return scratch;
    }
}
