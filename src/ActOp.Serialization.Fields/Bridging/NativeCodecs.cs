using System.Buffers;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.WireProtocol;

namespace ActOp.Serialization.Fields.Bridging;

/// <summary>
/// Base of codecs that sources name by their types in Orleans: a field of a type whose codec is ours. Holds nothing; any thread.
/// </summary>
/// <typeparam name="T">The type.</typeparam>
public abstract class NativeFieldCodec<T> : IFieldCodec<T>
{
    private static readonly OpaqueCodec<T> Fields = new();

    private protected NativeFieldCodec()
    {
    }

    /// <summary>Writes a length and what our codec writes.</summary>
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, T value)
        where TBufferWriter : IBufferWriter<byte> => Fields.WriteField(ref writer, fieldIdDelta, expectedType, value);

    /// <summary>Reads what <see cref="WriteField"/> has written.</summary>
    public T ReadValue<TInput>(ref Reader<TInput> reader, Field field) => Fields.ReadValue(ref reader, field);
}

/// <summary>Base of copiers that sources name by their types in Orleans. Holds nothing; any thread.</summary>
/// <typeparam name="T">The type.</typeparam>
public abstract class NativeCopier<T> : IDeepCopier<T>, IOptionalDeepCopier
{
    private static readonly OpaqueCopier<T> Copies = new();

    private protected NativeCopier()
    {
    }

    /// <summary>True when values are shared instead of copied.</summary>
    public bool IsShallowCopyable() => Copies.IsShallowCopyable();

    /// <summary>The copy; the value itself if nothing in it can change.</summary>
    public T DeepCopy(T input, Orleans.Serialization.Cloning.CopyContext context) => Copies.DeepCopy(input, context);

    object? IDeepCopier.DeepCopy(object? input, Orleans.Serialization.Cloning.CopyContext context) => Copies.DeepCopy((T)input!, context);
}

/// <summary>The members of a struct that has no codec of members: one field with the number 0.</summary>
internal sealed class FieldValueSerializer<T>(IFieldCodec<T> codec) : Orleans.Serialization.Serializers.IValueSerializer<T>
    where T : struct
{
    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, scoped ref T value)
        where TBufferWriter : IBufferWriter<byte> => codec.WriteField(ref writer, 0, typeof(T), value);

    public void Deserialize<TInput>(ref Reader<TInput> reader, scoped ref T value)
    {
        uint at = 0;
        for (var field = reader.ReadFieldHeader(); !field.IsEndBaseOrEndObject; field = reader.ReadFieldHeader())
        {
            at += field.FieldIdDelta;
            if (at == 0)
                value = codec.ReadValue(ref reader, field);
            else
                reader.ConsumeUnknownField(ref field);
        }
    }
}
