using System.Buffers;
using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Serialization.Api;
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
    public T Deserialize<T>(ReadOnlySequence<byte> source) => source.IsSingleSegment ? Deserialize<T>(source.FirstSpan) : Deserialize<T>(source.ToArray());

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
