using System.ComponentModel;

namespace ActOp.Serialization;

/// <content>Registration of codecs. Called by generated code.</content>
public static partial class TypeManifest
{
    /// <summary>Registers a generated codec.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCodec(Type type, string name, Func<object> create)
    {
        AddType(type, name);
        CodecTable.Add(type, create);
    }

    /// <summary>Registers a converter, by which values are written as surrogates.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddConverter<TValue, TSurrogate>(string name, Func<Orleans.IConverter<TValue, TSurrogate>> create)
        where TSurrogate : struct
    {
        AddType(typeof(TValue), name);
        var definition = typeof(TValue).IsValueType ? typeof(Codecs.StructConverterCodec<,>) : typeof(Codecs.ConverterCodec<,>);
        CodecTable.Add(typeof(TValue), () => Activator.CreateInstance(definition.MakeGenericType(typeof(TValue), typeof(TSurrogate)), create())!);
    }

    /// <summary>Registers the generated codec of a generic type.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCodec(Type type, string name, Type codecDefinition)
    {
        AddType(type, name);
        CodecTable.AddGeneric(type, codecDefinition);
    }
}
