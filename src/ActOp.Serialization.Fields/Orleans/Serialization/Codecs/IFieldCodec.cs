using System.Buffers;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Codecs;

/// <summary>Writes and reads fields of any type; written by an application.</summary>
public interface IFieldCodec
{
    /// <summary>Writes a field with its header.</summary>
    /// <param name="writer">Where to.</param>
    /// <param name="fieldIdDelta">The id less the id of the field before.</param>
    /// <param name="expectedType">The type that the reader expects, which need not be written.</param>
    /// <param name="value">The value.</param>
    void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
        where TBufferWriter : IBufferWriter<byte>;

    /// <summary>Reads a field whose header was read.</summary>
    object? ReadValue<TInput>(ref Reader<TInput> reader, Field field);
}

/// <summary>Writes and reads fields of type <typeparamref name="T"/>; written by an application.</summary>
/// <typeparam name="T">The type of the field.</typeparam>
public interface IFieldCodec<T> : IFieldCodec
{
    /// <summary>As <see cref="IFieldCodec.WriteField"/>. A codec implements this or that method; each calls the other.</summary>
    void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, T value)
        where TBufferWriter : IBufferWriter<byte> =>
        ((IFieldCodec)this).WriteField(ref writer, fieldIdDelta, expectedType, value);

    /// <summary>As <see cref="IFieldCodec.ReadValue"/>. A codec implements this or that method; each calls the other.</summary>
    new T ReadValue<TInput>(ref Reader<TInput> reader, Field field) => (T)((IFieldCodec)this).ReadValue(ref reader, field)!;

    /// <inheritdoc/>
    void IFieldCodec.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, (T)value!);

    /// <inheritdoc/>
    object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);
}

/// <summary>A codec for a type and all that derive from it.</summary>
public interface IDerivedTypeCodec : IFieldCodec
{
}

/// <summary>Hooks of a type; see <see cref="SerializationCallbacksAttribute"/>.</summary>
/// <typeparam name="T">The type.</typeparam>
public interface ISerializationCallbacks<T>
{
    void OnSerializing(T value);

    void OnSerialized(T value);

    void OnDeserializing(T value);

    void OnDeserialized(T value);

    void OnCopying(T original, T result);

    void OnCopied(T original, T result);
}

/// <summary>Stands for a field that was skipped, until something refers to it.</summary>
public sealed class UnknownFieldMarker(Field field, long position)
{
    public Field Field { get; } = field;

    public long Position { get; } = position;

    public override string ToString() => "[" + nameof(UnknownFieldMarker) + " " + Field + " at " + Position + "]";
}

/// <summary>Types that codecs of text leave to others.</summary>
public static class CommonCodecTypeFilter
{
    /// <summary>True for an abstract type, and for one of the framework.</summary>
    public static bool IsAbstractOrFrameworkType(Type type) =>
        type.IsAbstract || type.ContainsGenericParameters || type.Assembly == typeof(object).Assembly
        || type.FullName is not { } name || name.StartsWith("System.", StringComparison.Ordinal);
}
