using System.Buffers;
using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Wire;

namespace Orleans.Serialization;

/// <summary>Writes values to bytes and reads them again; used from any thread.</summary>
/// <remarks>
/// Every method throws <see cref="CodecNotFoundException"/> for types without a codec and <see cref="SerializerException"/> for damaged
/// data.
/// </remarks>
public sealed class Serializer
{
    private readonly CallRuntime? _runtime;

    /// <summary>Creates a serializer whose grain references are not bound to a silo or client.</summary>
    public Serializer()
    {
    }

    internal Serializer(CallRuntime? runtime) => _runtime = runtime;

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
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    public void Serialize<T>(T value, ref Span<byte> destination)
    {
        var scratch = Write(value);
        scratch.Buffer.Written.CopyTo(destination);
        destination = destination[..scratch.Buffer.Length];
        scratch.Return();
    }

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize<T>(T value, byte[] destination)
    {
        Span<byte> span = destination;
        Serialize(value, ref span);
        return span.Length;
    }

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize<T>(T value, ArraySegment<byte> destination)
    {
        Span<byte> span = destination;
        Serialize(value, ref span);
        return span.Length;
    }

    /// <summary>Writes to the stream; <paramref name="sizeHint"/> is not needed.</summary>
    public void Serialize<T>(T value, Stream destination, int sizeHint = 0)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var scratch = Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize<T>(T value, IBufferWriter<byte> destination)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var scratch = Write(value);
        destination.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlySpan<byte> source)
    {
        var scratch = WireScratch.Rent(_runtime);
        var reader = new WireReader(source, scratch.Session);
        var value = Codec<T>.Default.Read(ref reader);
        scratch.Return();
        return value;
    }

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(byte[] source) => Deserialize<T>(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ArraySegment<byte> source) => Deserialize<T>(source.AsSpan());

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlyMemory<byte> source) => Deserialize<T>(source.Span);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize<T>(ReadOnlySequence<byte> source) =>
        source.IsSingleSegment ? Deserialize<T>(source.FirstSpan) : Deserialize<T>(source.ToArray());

    /// <summary>The value that the rest of the stream holds.</summary>
    public T Deserialize<T>(Stream source)
    {
        ArgumentNullException.ThrowIfNull(source);
        using var memory = new MemoryStream();
        source.CopyTo(memory);
        return Deserialize<T>(memory.GetBuffer().AsSpan(0, (int)memory.Length));
    }

    private WireScratch Write<T>(T value)
    {
        var scratch = WireScratch.Rent(_runtime);
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        Codec<T>.Default.Write(ref writer, value);
        writer.Commit();
        return scratch;
    }
}

/// <summary>Writes values of one type; see <see cref="Serializer"/>.</summary>
/// <typeparam name="T">The static type.</typeparam>
/// <param name="serializer">What it writes with.</param>
public sealed class Serializer<T>(Serializer serializer)
{
    /// <summary>The value as a new array.</summary>
    public byte[] SerializeToArray(T value) => serializer.SerializeToArray(value);

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(T value, ref Memory<byte> destination) => serializer.Serialize(value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>, which is cut to what was written.</summary>
    public void Serialize(T value, ref Span<byte> destination) => serializer.Serialize(value, ref destination);

    /// <summary>Writes to <paramref name="destination"/>; returns the number of bytes.</summary>
    public int Serialize(T value, byte[] destination) => serializer.Serialize(value, destination);

    /// <summary>Writes to the stream.</summary>
    public void Serialize(T value, Stream destination, int sizeHint = 0) => serializer.Serialize(value, destination, sizeHint);

    /// <summary>Writes to the buffer writer.</summary>
    public void Serialize(T value, IBufferWriter<byte> destination) => serializer.Serialize(value, destination);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlySpan<byte> source) => serializer.Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(byte[] source) => serializer.Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlyMemory<byte> source) => serializer.Deserialize<T>(source);

    /// <summary>The value that the bytes hold.</summary>
    public T Deserialize(ReadOnlySequence<byte> source) => serializer.Deserialize<T>(source);

    /// <summary>The value that the rest of the stream holds.</summary>
    public T Deserialize(Stream source) => serializer.Deserialize<T>(source);
}

/// <summary>Makes deep copies; used from any thread.</summary>
public sealed class DeepCopier
{
    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    /// <exception cref="CodecNotFoundException">There is no codec for a type.</exception>
    public T Copy<T>(T value) => Codec<T>.Default.IsImmutable ? value : Codec<T>.Default.Copy(value, new CopyContext());

    /// <summary>A copier for one type.</summary>
    public DeepCopier<T> GetCopier<T>() => new(this);
}

/// <summary>Makes deep copies of one type.</summary>
/// <typeparam name="T">The static type.</typeparam>
/// <param name="copier">What it copies with.</param>
public sealed class DeepCopier<T>(DeepCopier copier)
{
    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    public T Copy(T value) => copier.Copy(value);
}
