using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Serializers;

namespace ActOp.Serialization.Fields.Bridging;

/// <summary>
/// Connects the codecs of this library with those that applications wrote for the interfaces of Orleans.Serialization. What such a codec
/// writes is one value of length-prefixed bytes in a message of ours; what ours write is one opaque field in its data.
/// </summary>
/// <remarks>Any thread. Looked at only for types that have neither a generated nor a built-in codec.</remarks>
internal static class Bridge
{
    private static readonly Lazy<CodecProvider> Default = new(static () =>
        new ServiceCollection().AddSerializer().BuildServiceProvider().GetRequiredService<CodecProvider>());

    /// <summary>For serializers without services: those of others end when their host does, also while they are used.</summary>
    internal static CodecProvider OfNobody => Default.Value;

    /// <summary>For data that say their types themselves: the latest provider whose services are not gone.</summary>
    internal static CodecProvider Latest => Array.Find(Live(), HasServices) ?? Default.Value;

    /// <summary>True when an application has a codec for the type.</summary>
    internal static bool Supports(Type type) => FindProvider(type) is not null;

    /// <summary>True for such a type, and for an array or a generic type of such types and of types with names.</summary>
    internal static bool SupportsObject(Type type)
    {
        if (Supports(type) || FindCopier(type) is not null)
            return true;
        if (type.IsArray)
            return SupportsObject(type.GetElementType()!) && CodecTable.CanResolve(type);
        return type.IsConstructedGenericType && TypeManifest.TryNameOf(type.GetGenericTypeDefinition(), out _)
            && type.GetGenericArguments().Any(SupportsObject)
            && Array.TrueForAll(type.GetGenericArguments(), static a => TypeManifest.TryNameOf(a, out _) || SupportsObject(a))
            && CodecTable.CanResolve(type);
    }

    /// <summary>The provider of the message, or another, for an object whose class has no name.</summary>
    internal static CodecProvider ForObject(object? ofMessage, Type type)
    {
        if (ofMessage is CodecProvider provider && Try(provider, type, static (own, t) => own.TryGetCodec(t) is not null))
            return provider;
        return FindProvider(type) ?? FindCopier(type) ?? Latest;
    }

    /// <summary>
    /// A codec of ours around that of an application; null when there is none. A type that has only a copier can be copied, and throws when
    /// it is written.
    /// </summary>
    internal static object? TryMake(Type type)
    {
        var provider = FindProvider(type);
        if (provider is null && FindCopier(type) is null)
            return null;
        // The objects of an abstract class have identity if its codec serves the classes that derive from it.
        var isClass = !type.IsValueType && !type.IsInterface
            && (!type.IsAbstract || provider?.TryGetApplicationCodec(type) is Orleans.Serialization.Codecs.IDerivedTypeCodec);
        return CodecTable.Make(isClass ? typeof(BridgedClassCodec<>) : typeof(BridgedCodec<>), type);
    }

    /// <summary>The provider of the message; of the latest one that has a codec for the type.</summary>
    internal static CodecProvider For(object? ofMessage, Type type)
    {
        if (ofMessage is CodecProvider provider && Has(provider, type))
            return provider;
        return FindProvider(type) ?? throw new CodecNotFoundException("No codec is registered for " + type + ", or not any more.");
    }

    /// <summary>The provider of the copy; the latest one that has a copier or a codec for the type.</summary>
    internal static CodecProvider ForCopy(object? ofCopy, Type type) => ofCopy is CodecProvider provider && HasCopier(provider, type)
        ? provider : FindCopier(type) ?? For(ofCopy, type);

    private static CodecProvider? FindProvider(Type type)
    {
        foreach (var provider in Live())
        {
            if (Has(provider, type))
                return provider;
        }

        return FieldCodecSource.HasCodecTypes && Has(Default.Value, type) ? Default.Value : null;
    }

    private static CodecProvider? FindCopier(Type type) => Array.Find(Live(), provider => HasCopier(provider, type));

    private static bool HasCopier(CodecProvider provider, Type type) => Try(provider, type, static (p, t) =>
        !t.IsArray && !t.ContainsGenericParameters && p.TryGetApplicationCopier(t) is not null && p.HasServices);

    private static CodecProvider[] Live() => [.. CodecScopes.Live().OfType<CodecProvider>()];

    private static bool Has(CodecProvider provider, Type type) => Try(provider, type, static (p, t) =>
        t.IsGenericTypeDefinition ? p.ServesDefinition(t) : p.TryGetApplicationCodec(t) is not null && p.HasServices);

    private static bool HasServices(CodecProvider provider) => Try(provider, typeof(object), static (p, _) => p.HasServices);

    /// <summary>Asks a provider, which may belong to a host that ends at this moment; false when its services are gone.</summary>
    private static bool Try(CodecProvider provider, Type type, Func<CodecProvider, Type, bool> question)
    {
        try
        {
            return question(provider, type);
        }
        catch (ObjectDisposedException)
        {
            return false; // It has not been used for this type before, so it has nothing for it that outlives its services.
        }
    }
}
