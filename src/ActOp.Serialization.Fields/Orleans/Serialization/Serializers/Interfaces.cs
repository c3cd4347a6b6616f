using System.Buffers;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;

namespace Orleans.Serialization.Serializers;

/// <summary>Writes and reads the members of a class.</summary>
public interface IBaseCodec
{
}

/// <summary>Writes and reads the members of a class, without a header.</summary>
/// <typeparam name="T">The class.</typeparam>
public interface IBaseCodec<in T> : IBaseCodec
    where T : class
{
    void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, T value)
        where TBufferWriter : IBufferWriter<byte>;

    void Deserialize<TInput>(ref Reader<TInput> reader, T value);
}

/// <summary>Writes and reads the members of a struct.</summary>
public interface IValueSerializer
{
}

/// <summary>Writes and reads the members of a struct, without a header.</summary>
/// <typeparam name="T">The struct.</typeparam>
public interface IValueSerializer<T> : IValueSerializer
    where T : struct
{
    void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, scoped ref T value)
        where TBufferWriter : IBufferWriter<byte>;

    void Deserialize<TInput>(ref Reader<TInput> reader, scoped ref T value);
}

/// <summary>A codec that says which types it supports.</summary>
public interface IGeneralizedCodec : IFieldCodec
{
    bool IsSupportedType(Type type);
}

/// <summary>A codec of members that says which types it supports.</summary>
public interface IGeneralizedBaseCodec : IBaseCodec<object>
{
    bool IsSupportedType(Type type);
}

/// <summary>Makes codecs for the types that it supports.</summary>
public interface ISpecializableCodec
{
    bool IsSupportedType(Type type);

    IFieldCodec GetSpecializedCodec(Type type);
}

/// <summary>Makes codecs of members for the types that it supports.</summary>
public interface ISpecializableBaseCodec
{
    bool IsSupportedType(Type type);

    IBaseCodec GetSpecializedCodec(Type type);
}

/// <summary>Says for which types a named codec is used.</summary>
public interface ICodecSelector
{
    string CodecName { get; }

    bool IsSupportedType(Type type);
}

/// <summary>Says for which types a named copier is used.</summary>
public interface ICopierSelector
{
    string CopierName { get; }

    bool IsSupportedType(Type type);
}

/// <summary>A selector by a delegate.</summary>
public sealed class DelegateCodecSelector : ICodecSelector
{
    public required string CodecName { get; init; }

    public required Func<Type, bool> IsSupportedTypeDelegate { get; init; }

    public bool IsSupportedType(Type type) => IsSupportedTypeDelegate(type);
}

/// <summary>A selector by a delegate.</summary>
public sealed class DelegateCopierSelector : ICopierSelector
{
    public required string CopierName { get; init; }

    public required Func<Type, bool> IsSupportedTypeDelegate { get; init; }

    public bool IsSupportedType(Type type) => IsSupportedTypeDelegate(type);
}

/// <summary>Finds codecs of fields.</summary>
public interface IFieldCodecProvider
{
    IFieldCodec<TField> GetCodec<TField>();

    IFieldCodec<TField>? TryGetCodec<TField>();

    IFieldCodec GetCodec(Type fieldType);

    IFieldCodec? TryGetCodec(Type fieldType);
}

/// <summary>Finds codecs of members.</summary>
public interface IBaseCodecProvider
{
    IBaseCodec<TField> GetBaseCodec<TField>()
        where TField : class;
}

/// <summary>Finds codecs of structs.</summary>
public interface IValueSerializerProvider
{
    IValueSerializer<TField> GetValueSerializer<TField>()
        where TField : struct;
}

/// <summary>Finds codecs, copiers and activators.</summary>
public interface ICodecProvider : IFieldCodecProvider, IBaseCodecProvider, IValueSerializerProvider, IActivatorProvider, IDeepCopierProvider
{
    IServiceProvider Services { get; }
}
