using System.Buffers;
using ActOp.Wire;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.GeneratedCodeHelpers;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace ActOp.Serialization.Fields.Bridging;

/// <summary>
/// A field in the data of an application's codec whose type has a codec of ours: a length, then what that one writes. Objects within it are
/// not shared with those outside of it.
/// </summary>
internal sealed class OpaqueCodec<T> : IFieldCodec<T>
{
    private static readonly bool IsValue = typeof(T).IsValueType;

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, T value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (IsValue)
        {
            ReferenceCodec.MarkValueField(writer.Session);
        }
        else
        {
            if (value is not null && value.GetType() != typeof(T) && !AnyCodec.CanWrite(value.GetType()) && !CodecTable.IsNative(typeof(T)))
            {
                writer.SerializeUnexpectedType(fieldIdDelta, expectedType, value);
                return;
            }

            if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, typeof(T), value))
                return;
        }

        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(T), WireType.LengthPrefixed);
        var provider = writer.Session.CodecProvider;
        var scratch = WireScratch.Rent(Runtime(writer.Session), provider);
        if (writer.Session.Outer is { } outer)
            scratch.Session.ContinueFrom(outer);
        var wire = new WireWriter(scratch.Buffer, scratch.Session);
        Write(ref wire, value);
        wire.Commit();
        writer.WriteVarUInt32((uint)scratch.Buffer.Length);
        writer.Write(scratch.Buffer.Written);
        scratch.Return();
    }

    public T ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<T, TInput>(ref reader, field);
        if (field.FieldType is { } type && type != typeof(T))
            return (T)reader.Session.CodecProvider.GetCodec(type).ReadValue(ref reader, field)!;
        field.EnsureWireType(WireType.LengthPrefixed);
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var length = reader.ReadVarUInt32();
        reader.EnsureAvailable(length);
        var value = reader.TryReadBytes((int)length, out var bytes)
            ? Read(reader.Session, bytes) : Read(reader.Session, reader.ReadBytes(length));
        if (!IsValue)
            ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }

    private static Calls.CallRuntime? Runtime(Orleans.Serialization.Session.SerializerSession session) =>
        session.Outer?.Runtime ?? session.CodecProvider.Runtime;

    private static T Read(Orleans.Serialization.Session.SerializerSession session, ReadOnlySpan<byte> bytes)
    {
        var scratch = WireScratch.Rent(Runtime(session), session.CodecProvider);
        if (session.Outer is { } outer)
            scratch.Session.ContinueFrom(outer);
        var wire = new WireReader(bytes, scratch.Session);
        var value = CodecTable.CanResolve(typeof(T)) ? Codec<T>.Default.Read(ref wire) : (T)Codec<object>.Default.Read(ref wire);
        if (session.Outer is { } message)
            scratch.Session.GiveBackTo(message);
        scratch.Return();
        return value;
    }

    /// <summary>Internal classes of the framework, such as those of types, are written as objects.</summary>
    private static void Write(ref WireWriter writer, T value)
    {
        if (CodecTable.CanResolve(typeof(T)))
            Codec<T>.Default.Write(ref writer, value);
        else
            Codec<object?>.Default.Write(ref writer, value);
    }
}

/// <summary>Copies values whose type has a codec of ours.</summary>
internal sealed class OpaqueCopier<T> : IDeepCopier<T>, IOptionalDeepCopier
{
    private static readonly bool IsKnown = CodecTable.CanResolve(typeof(T));

    public bool IsShallowCopyable() => IsKnown && Codec<T>.Default.IsImmutable;

    public T DeepCopy(T input, Orleans.Serialization.Cloning.CopyContext context)
    {
        if (IsKnown)
            return Codec<T>.Default.IsImmutable ? input : Codec<T>.Default.Copy(input, context.Inner);
        return (T)Codec<object?>.Default.Copy(input, context.Inner)!;
    }

    object? IDeepCopier.DeepCopy(object? input, Orleans.Serialization.Cloning.CopyContext context) => DeepCopy((T)input!, context);
}

/// <summary>A codec of any type behind one of a type.</summary>
internal sealed class UntypedCodec<T>(IFieldCodec codec) : IFieldCodec<T>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, T value)
        where TBufferWriter : IBufferWriter<byte> => codec.WriteField(ref writer, fieldIdDelta, expectedType, value);

    public T ReadValue<TInput>(ref Reader<TInput> reader, Field field) => codec.ReadValue(ref reader, field) switch
    {
        null => default!,
        T value => value,
        var other =>
            throw new SerializerException("The data have an object of type " + other.GetType() + " where " + typeof(T) + " is expected."),
    };
}

/// <summary>A copier of any type behind one of a type.</summary>
internal sealed class UntypedCopier<T>(IDeepCopier copier) : IDeepCopier<T>
{
    public T DeepCopy(T input, Orleans.Serialization.Cloning.CopyContext context) => (T)copier.DeepCopy(input, context)!;
}

/// <summary>Services of codecs for constructors: each finds its codec at the first use, so that codecs may need each other.</summary>
internal sealed class FieldCodecService<T>(IFieldCodecProvider provider) : IFieldCodec<T>
{
    private IFieldCodec<T> Codec => field ??= provider.GetCodec<T>();

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, T value)
        where TBufferWriter : IBufferWriter<byte> => Codec.WriteField(ref writer, fieldIdDelta, expectedType, value);

    public T ReadValue<TInput>(ref Reader<TInput> reader, Field field) => Codec.ReadValue(ref reader, field);
}

/// <inheritdoc cref="FieldCodecService{T}"/>
internal sealed class BaseCodecService<T>(IBaseCodecProvider provider) : IBaseCodec<T>
    where T : class
{
    private IBaseCodec<T> Codec => field ??= provider.GetBaseCodec<T>();

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, T value)
        where TBufferWriter : IBufferWriter<byte> => Codec.Serialize(ref writer, value);

    public void Deserialize<TInput>(ref Reader<TInput> reader, T value) => Codec.Deserialize(ref reader, value);
}

/// <inheritdoc cref="FieldCodecService{T}"/>
internal sealed class ValueSerializerService<T>(IValueSerializerProvider provider) : IValueSerializer<T>
    where T : struct
{
    private IValueSerializer<T> Codec => field ??= provider.GetValueSerializer<T>();

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, scoped ref T value)
        where TBufferWriter : IBufferWriter<byte> => Codec.Serialize(ref writer, ref value);

    public void Deserialize<TInput>(ref Reader<TInput> reader, scoped ref T value) => Codec.Deserialize(ref reader, ref value);
}

/// <inheritdoc cref="FieldCodecService{T}"/>
internal sealed class DeepCopierService<T>(IDeepCopierProvider provider) : IDeepCopier<T>, IOptionalDeepCopier
{
    private IDeepCopier<T> Copier => field ??= provider.GetDeepCopier<T>();

    public bool IsShallowCopyable() => Copier is IOptionalDeepCopier optional && optional.IsShallowCopyable();

    object? IDeepCopier.DeepCopy(object? input, Orleans.Serialization.Cloning.CopyContext context) => DeepCopy((T)input!, context);

    public T DeepCopy(T input, Orleans.Serialization.Cloning.CopyContext context) => Copier.DeepCopy(input, context);
}

/// <inheritdoc cref="FieldCodecService{T}"/>
internal sealed class BaseCopierService<T>(IDeepCopierProvider provider) : IBaseCopier<T>
    where T : class
{
    private IBaseCopier<T> Copier => field ??= provider.GetBaseCopier<T>();

    public void DeepCopy(T input, T output, Orleans.Serialization.Cloning.CopyContext context) => Copier.DeepCopy(input, output, context);
}

/// <inheritdoc cref="FieldCodecService{T}"/>
internal sealed class ActivatorService<T>(IActivatorProvider provider) : Orleans.Serialization.Activators.IActivator<T>
{
    private Orleans.Serialization.Activators.IActivator<T> Activator => field ??= provider.GetActivator<T>();

    public T Create() => Activator.Create();
}
