using System.Buffers;

namespace Orleans.Serialization;

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
