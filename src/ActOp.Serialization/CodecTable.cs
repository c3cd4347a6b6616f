using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using ActOp.Serialization.Codecs;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>Finds the codec of a type: registered, made from a generic one, or by the kind of the type.</summary>
internal static class CodecTable
{
    private static readonly ConcurrentDictionary<Type, Func<object>> Factories = new();
    private static readonly ConcurrentDictionary<Type, Type> Definitions = new();
    private static readonly ConcurrentDictionary<Type, object> Codecs = new();
    private static readonly ConcurrentDictionary<Type, object> GeneratedCodecs = new();

#pragma warning disable CA2255 // Codec<T>.Default must find this library without anybody composing it.
    [ModuleInitializer]
    internal static void Install() => CodecSource.Resolver = Resolve;
#pragma warning restore CA2255

    internal static void Add(Type type, Func<object> create) => Factories.TryAdd(type, create);

    internal static void AddGeneric(Type definition, Type codecDefinition) => Definitions.TryAdd(definition, codecDefinition);

    /// <summary>The one codec of the type.</summary>
    internal static object Resolve(Type type)
    {
        if (Codecs.TryGetValue(type, out var codec))
            return codec;
        BuiltIn.Register();
        return Codecs.GetOrAdd(type, Make(type));
    }

    /// <summary>True when values of the static type can be written.</summary>
    internal static bool CanResolve(Type type)
    {
        try
        {
            Resolve(type);
            return true;
        }
        catch (CodecNotFoundException)
        {
            return false;
        }
    }

    /// <summary>True when the type has a generated or built-in codec, not one of an application.</summary>
    internal static bool IsNative(Type type) => CanResolve(type) && FieldCodecSource.Installed?.IsOwn(Resolve(type)) is not true;

    /// <summary>The generated codec of a class, also of an exception.</summary>
    internal static object Generated(Type type) => TryGenerated(type) ?? throw NotFound(type);

    internal static object? TryGenerated(Type type)
    {
        if (GeneratedCodecs.TryGetValue(type, out var codec))
            return codec;
        BuiltIn.Register();
        return Registered(type) is { } made ? GeneratedCodecs.GetOrAdd(type, made) : null;
    }

    private static object Make(Type type)
    {
        if (typeof(Exception).IsAssignableFrom(type))
            return Make(typeof(ExceptionCodec<>), type);
        if (TryGenerated(type) is { } registered)
            return registered;
        if (type.IsEnum)
            return Make(typeof(EnumCodec<>), type);
        if (type.IsSZArray)
            return Make(typeof(ArrayCodec<>), type.GetElementType()!);
        if (type.IsArray && type.GetArrayRank() > 1)
            return Make(typeof(MultiArrayCodec<,>), type, type.GetElementType()!);
        if (typeof(IAddressable).IsAssignableFrom(type))
            return Make(typeof(GrainReferenceCodec<>), type);
        if (CollectionInterfaces.TryMake(type) is { } collection)
            return collection;
        if (FieldCodecSource.Current?.TryMake(type) is { } ofApplication)
            return ofApplication;
        if (SerializableTypes.IsSupported(type))
            return Make(typeof(SerializableCodec<>), type);
        if ((type.IsInterface || type.IsAbstract) && !type.IsSealed)
            return Make(typeof(AnyObjectCodec<>), type);
        throw NotFound(type);
    }

    internal static object Make(Type definition, params Type[] arguments) =>
        Activator.CreateInstance(definition.MakeGenericType(arguments), nonPublic: true)!;

    private static object? Registered(Type type)
    {
        if (Factories.TryGetValue(type, out var create))
            return create();
        return type.IsConstructedGenericType && Definitions.TryGetValue(type.GetGenericTypeDefinition(), out var definition)
            ? Make(definition, type.GetGenericArguments()) : null;
    }

    private static CodecNotFoundException NotFound(Type type) =>
        new("No codec is registered for " + type +
            ": mark it with [GenerateSerializer], or register a converter for it with [RegisterConverter].");
}

/// <summary>Makes codecs of collection interfaces.</summary>
internal static class CollectionInterfaces
{
    private static readonly HashSet<Type> Lists = [typeof(IEnumerable<>), typeof(IReadOnlyCollection<>), typeof(IReadOnlyList<>),
        typeof(ICollection<>), typeof(IList<>)];
    private static readonly HashSet<Type> Sets = [typeof(ISet<>), typeof(IReadOnlySet<>)];
    private static readonly HashSet<Type> Maps = [typeof(IDictionary<,>), typeof(IReadOnlyDictionary<,>)];

    internal static object? TryMake(Type type)
    {
        if (!type.IsInterface || !type.IsConstructedGenericType)
            return null;
        var definition = type.GetGenericTypeDefinition();
        var arguments = type.GetGenericArguments();
        if (Lists.Contains(definition))
            return CodecTable.Make(typeof(ListInterfaceCodec<,>), [type, .. arguments]);
        if (Sets.Contains(definition))
            return CodecTable.Make(typeof(SetInterfaceCodec<,>), [type, .. arguments]);
        return Maps.Contains(definition) ? CodecTable.Make(typeof(MapInterfaceCodec<,,>), [type, .. arguments]) : null;
    }
}
