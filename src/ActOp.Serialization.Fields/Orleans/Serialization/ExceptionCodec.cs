using System.Buffers;
using System.Collections;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using ActOp.Serialization;
using Microsoft.Extensions.Options;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>
/// Exceptions in the data of an application's codecs: the name of the type, message, stack trace, inner exception, HResult and data. One
/// whose type is not supported, or not known, is read as <see cref="UnavailableExceptionFallbackException"/>.
/// </summary>
/// <remarks>Any thread. No constructor of the exception runs.</remarks>
public sealed class ExceptionCodec : IFieldCodec<Exception>, IBaseCodec<Exception>, IGeneralizedCodec, IGeneralizedBaseCodec,
    IBaseCopier<Exception>
{
    private readonly TypeConverter _types;
    private readonly IFieldCodec<Dictionary<object, object?>> _data;
    private readonly IDeepCopier<Dictionary<object, object?>> _dataCopier;
    private readonly IDeepCopier<Exception> _copier;
    private readonly ExceptionSerializationOptions _options;

    /// <summary>Uses the codecs and options.</summary>
    public ExceptionCodec(
        TypeConverter typeConverter, IFieldCodec<Dictionary<object, object?>> dictionaryCodec,
        IDeepCopier<Dictionary<object, object?>> dictionaryCopier, IDeepCopier<Exception> exceptionCopier,
        IOptions<ExceptionSerializationOptions> exceptionSerializationOptions)
    {
        ArgumentNullException.ThrowIfNull(exceptionSerializationOptions);
        _types = typeConverter;
        _data = dictionaryCodec;
        _dataCopier = dictionaryCopier;
        _copier = exceptionCopier;
        _options = exceptionSerializationOptions.Value;
    }

    public bool IsSupportedType(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        if (type == typeof(ExceptionCodec) || type == typeof(Exception))
            return true;
        return typeof(Exception).IsAssignableFrom(type) && !type.IsAbstract && !type.ContainsGenericParameters
            && _options.Supports(type);
    }

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Exception value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, typeof(ExceptionCodec), value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(ExceptionCodec), WireType.TagDelimited);
        SerializeException(ref writer, value);
        writer.WriteEndObject();
    }

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, expectedType, (Exception)value!);

    public Exception ReadValue<TInput>(ref Reader<TInput> reader, Field field) => DeserializeException(ref reader, field);

    object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => DeserializeException(ref reader, field);

    /// <summary>Writes the name of the type and the members.</summary>
    public void SerializeException<TBufferWriter>(ref Writer<TBufferWriter> writer, Exception value)
        where TBufferWriter : IBufferWriter<byte>
    {
        ArgumentNullException.ThrowIfNull(value);
        StringCodec.WriteField(ref writer, 0, value is UnavailableExceptionFallbackException { ExceptionType: { } original }
            ? original
            : TypeManifest.TryNameOf(value.GetType(), out var name) ? name : value.GetType().FullName ?? value.GetType().Name);
        WriteMembers(ref writer, 1, value);
    }

    /// <summary>Reads what <see cref="WriteField{TBufferWriter}(ref Writer{TBufferWriter}, uint, Type, Exception)"/> has written.</summary>
    public Exception DeserializeException<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<Exception, TInput>(ref reader, field);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var first = reader.ReadFieldHeader();
        if (first.IsEndBaseOrEndObject || first.FieldIdDelta != 0)
            throw new RequiredFieldMissingException("Serialized exception is missing its type field.");
        var name = StringCodec.ReadValue(ref reader, first);
        var value = New(name);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        ReadMembers(ref reader, value);
        return value;
    }

    /// <summary>Writes the members of <see cref="Exception"/>.</summary>
    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, Exception value)
        where TBufferWriter : IBufferWriter<byte> => WriteMembers(ref writer, 1, value);

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, object value)
        where TBufferWriter : IBufferWriter<byte> => Serialize(ref writer, (Exception)value);

    /// <summary>Reads the members of <see cref="Exception"/> into an object that exists.</summary>
    public void Deserialize<TInput>(ref Reader<TInput> reader, Exception value) => ReadMembers(ref reader, value);

    public void Deserialize<TInput>(ref Reader<TInput> reader, object value) => Deserialize(ref reader, (Exception)value);

    public void DeepCopy(Exception input, Exception output, CopyContext context)
    {
        ArgumentNullException.ThrowIfNull(input);
        SetBaseProperties(output, input.Message, input.StackTrace, _copier.DeepCopy(input.InnerException!, context), input.HResult,
            GetDataProperty(input) is { } data ? _dataCopier.DeepCopy(data, context) : null);
    }

    /// <summary>The data of an exception; null if it has none.</summary>
    public Dictionary<object, object?>? GetDataProperty(Exception exception)
    {
        ArgumentNullException.ThrowIfNull(exception);
        if (exception.Data is not { Count: > 0 } notes)
            return null;
        var data = new Dictionary<object, object?>(notes.Count);
        foreach (DictionaryEntry note in notes)
            data[note.Key] = note.Value;
        return data;
    }

    /// <summary>Sets the members of <see cref="Exception"/>.</summary>
    public void SetBaseProperties(
        Exception value, string? message, string? stackTrace, Exception? innerException, int hResult, Dictionary<object, object?>? data)
    {
        ArgumentNullException.ThrowIfNull(value);
        Message(value) = message;
        Inner(value) = innerException;
        value.HResult = hResult;
        if (stackTrace is not null)
            ExceptionDispatchInfo.SetRemoteStackTrace(value, stackTrace);
        foreach (var (key, note) in data ?? [])
            value.Data[key] = note;
    }

    private Exception New(string name)
    {
        var type = ActOp.Serialization.Codecs.ExceptionTypes.FindType(name) ?? (_types.TryParse(name, out var parsed) ? parsed : null);
        if (type is not null && type != typeof(ExceptionCodec) && IsSupportedType(type))
            return (Exception)RuntimeHelpers.GetUninitializedObject(type);
        return new UnavailableExceptionFallbackException { ExceptionType = name };
    }

    private void WriteMembers<TBufferWriter>(ref Writer<TBufferWriter> writer, uint first, Exception value)
        where TBufferWriter : IBufferWriter<byte>
    {
        StringCodec.WriteField(ref writer, first, value.Message);
        StringCodec.WriteField(ref writer, 1, value.StackTrace!);
        WriteField(ref writer, 1, typeof(Exception), value.InnerException!);
        Int32Codec.WriteField(ref writer, 1, value.HResult);
        if (GetDataProperty(value) is { } data)
            _data.WriteField(ref writer, 1, typeof(Dictionary<object, object?>), data);
    }

    private void ReadMembers<TInput>(ref Reader<TInput> reader, Exception value)
    {
        string? message = null, stack = null;
        Exception? inner = null;
        var hresult = 0;
        Dictionary<object, object?>? data = null;
        uint at = 0;
        for (var field = reader.ReadFieldHeader(); !field.IsEndBaseOrEndObject; field = reader.ReadFieldHeader())
        {
            at += field.FieldIdDelta;
            switch (at)
            {
                case 1:
                    message = StringCodec.ReadValue(ref reader, field);
                    break;
                case 2:
                    stack = StringCodec.ReadValue(ref reader, field);
                    break;
                case 3:
                    inner = DeserializeException(ref reader, field);
                    break;
                case 4:
                    hresult = Int32Codec.ReadValue(ref reader, field);
                    break;
                case 5:
                    data = _data.ReadValue(ref reader, field);
                    break;
                default:
                    reader.ConsumeUnknownField(ref field);
                    break;
            }
        }

        SetBaseProperties(value, message, stack, inner, hresult, data);
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_message")]
    private static extern ref string? Message(Exception value);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_innerException")]
    private static extern ref Exception? Inner(Exception value);
}
