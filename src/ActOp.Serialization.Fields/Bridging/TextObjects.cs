using System.Buffers;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace ActOp.Serialization.Fields.Bridging;

/// <summary>
/// What codecs have in common that send objects as text, or as bytes of another library: the fields of such an object (0 the name of its
/// class, 1 the text), identity, and which types they serve. Any thread.
/// </summary>
/// <param name="codec">The class of the codec; the data names it.</param>
/// <param name="write">The text of an object, in UTF-8, or its bytes.</param>
/// <param name="read">The object of a class from its text.</param>
/// <param name="sent">Whether objects of a type are sent.</param>
/// <param name="copied">Whether objects of a type are copied.</param>
/// <param name="memory">What an object takes that is about to be read, if that may be far more than its text.</param>
internal sealed class TextObjects(
    Type codec, Func<object, byte[]> write, Func<byte[], Type, object?> read, Func<Type, bool> sent, Func<Type, bool> copied,
    Func<byte[], Type, long>? memory = null)
{
    /// <summary>The types that the options or a selector of this codec accept.</summary>
    internal static Func<Type, bool> Chosen(IEnumerable<ICodecSelector> selectors, string alias, Func<Type, bool?>? option)
    {
        ICodecSelector[] own = [.. selectors.Where(s => s.CodecName == alias)];
        return type => Array.Exists(own, s => s.IsSupportedType(type)) || option?.Invoke(type) == true;
    }

    /// <inheritdoc cref="Chosen(IEnumerable{ICodecSelector}, string, Func{Type, bool?}?)"/>
    internal static Func<Type, bool> Chosen(IEnumerable<ICopierSelector> selectors, string alias, Func<Type, bool?>? option)
    {
        ICopierSelector[] own = [.. selectors.Where(s => s.CopierName == alias)];
        return type => Array.Exists(own, s => s.IsSupportedType(type)) || option?.Invoke(type) == true;
    }

    /// <summary>Adds the codec, once, and the types that it serves.</summary>
    internal static void Register<TCodec>(IServiceCollection services, string alias, Func<Type, bool>? isSent, Func<Type, bool>? isCopied)
        where TCodec : class, IGeneralizedCodec, IGeneralizedCopier, ITypeFilter
    {
        if (isSent is not null)
            services.AddSingleton<ICodecSelector>(new DelegateCodecSelector { CodecName = alias, IsSupportedTypeDelegate = isSent });
        if (isCopied is not null)
            services.AddSingleton<ICopierSelector>(new DelegateCopierSelector { CopierName = alias, IsSupportedTypeDelegate = isCopied });
        if (services.Any(static s => s.ServiceType == typeof(TCodec)))
            return;
        services.AddSingleton<TCodec>();
        services.AddSingleton<IGeneralizedCodec>(static provider => provider.GetRequiredService<TCodec>());
        services.AddSingleton<IGeneralizedCopier>(static provider => provider.GetRequiredService<TCodec>());
        services.AddSingleton<ITypeFilter>(static provider => provider.GetRequiredService<TCodec>());
        services.Configure<TypeManifestOptions>(options => options.WellKnownTypeAliases[alias] = typeof(TCodec));
    }

    internal bool IsSent(Type type) => type == codec || (!CommonCodecTypeFilter.IsAbstractOrFrameworkType(type) && sent(type));

    internal bool IsCopied(Type type) => !CommonCodecTypeFilter.IsAbstractOrFrameworkType(type) && copied(type);

    internal void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, codec, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, codec, WireType.TagDelimited);
        writer.WriteFieldHeaderExpected(0, WireType.LengthPrefixed);
        writer.Session.TypeCodec.WriteLengthPrefixed(ref writer, value!.GetType());
        var text = write(value);
        writer.WriteFieldHeaderExpected(1, WireType.LengthPrefixed);
        writer.WriteVarUInt32((uint)text.Length);
        writer.Write(text);
        writer.WriteEndObject();
    }

    /// <exception cref="RequiredFieldMissingException">The class or the text is missing.</exception>
    /// <exception cref="IllegalTypeException">The codec does not serve the class.</exception>
    internal object? ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference(ref reader, field.FieldType);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var (type, text) = ReadFields(ref reader);
        if (!IsSent(type))
            throw new IllegalTypeException(type.FullName ?? type.Name);
        if (memory is not null)
            reader.Session.Outer?.CountDecoded(memory(text, type));
        var value = read(text, type);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }

    internal object? DeepCopy(object? input, CopyContext context)
    {
        if (input is null)
            return null;
        if (context.TryGetCopy<object>(input, out var found))
            return found;
        var copy = read(write(input), input.GetType())!;
        context.RecordCopy(input, copy);
        return copy;
    }

    private static (Type Type, byte[] Text) ReadFields<TInput>(ref Reader<TInput> reader)
    {
        Type? type = null;
        byte[]? text = null;
        uint id = 0;
        for (var field = reader.ReadFieldHeader(); !field.IsEndBaseOrEndObject; field = reader.ReadFieldHeader())
        {
            id += field.FieldIdDelta;
            if (id == 0)
                type = reader.Session.TypeCodec.ReadLengthPrefixed(ref reader);
            else if (id == 1)
                text = reader.ReadBytes(reader.ReadVarUInt32());
            else
                reader.ConsumeUnknownField(ref field);
        }

        return (type ?? throw new RequiredFieldMissingException("Serialized value is missing its type field."),
            text ?? throw new RequiredFieldMissingException("Serialized value is missing its payload field."));
    }
}
