using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Serialization;

/// <summary>
/// The codecs that applications wrote for the interfaces of Orleans.Serialization: <see cref="CodecTable"/> asks for them last. They and
/// the API that they are written for are in the assembly <see cref="AssemblyName"/>, which is loaded for an application that uses it.
/// </summary>
/// <remarks>
/// Any thread. Owns the codec classes that generated code has registered, and the names of the assemblies that use the API. The assembly
/// installs itself by its module initializer.
/// </remarks>
internal abstract class FieldCodecSource
{
    /// <summary>The simple name of the assembly.</summary>
    internal const string AssemblyName = "ActOp.Serialization.Fields";

    private static readonly ConcurrentQueue<Func<Type>> Registered = new();
    private static readonly ConcurrentDictionary<string, byte> Users = new(StringComparer.Ordinal);
    private static FieldCodecSource? s_installed;

    /// <summary>The codec classes, and copiers and the like, that generated code has registered.</summary>
    internal static IEnumerable<Type> CodecTypes => Registered.Select(static type => type());

    internal static bool HasCodecTypes => !Registered.IsEmpty;

    /// <summary>The source if its assembly is in use; null otherwise. Does not load it.</summary>
    internal static FieldCodecSource? Installed => Volatile.Read(ref s_installed);

    /// <summary>The source; null for a process without codecs of an application.</summary>
    /// <exception cref="InvalidOperationException">There are such codecs, but the assembly cannot be loaded.</exception>
    internal static FieldCodecSource? Current => Installed ?? (HasCodecTypes ? Load() : null);

    /// <summary>The codec of objects whose class has no name in the manifest.</summary>
    internal abstract AnyCodec Objects { get; }

    /// <summary>For messages that belong to no silo, client or serializer.</summary>
    internal abstract ICodecScope OfNobody { get; }

    internal static void Install(FieldCodecSource source) => Volatile.Write(ref s_installed, source);

    /// <summary>Adds a codec class. It is looked at when a codec is needed, so that a missing assembly is reported in one way.</summary>
    internal static void Add(Func<Type> type)
    {
        Registered.Enqueue(type);
        CodecScopes.Changed();
    }

    /// <summary>Remembers an assembly that refers to the API.</summary>
    internal static void AddUser(Assembly assembly)
    {
        // The runtime has signatures with types of the API, for applications that use both.
        if (!assembly.IsDefined(typeof(OfRuntimeAttribute)))
            Users.TryAdd(assembly.GetName().Name!, 0);
    }

    /// <summary>True when the application has such codecs, or refers to the API. Loads the assemblies of the application.</summary>
    internal static bool IsUsed()
    {
        TypeManifest.LoadApplication();
        return Installed is not null || HasCodecTypes || !Users.IsEmpty;
    }

    /// <summary>Loads the assembly, once.</summary>
    /// <exception cref="InvalidOperationException">It cannot be loaded.</exception>
    internal static FieldCodecSource Load()
    {
        if (Installed is { } installed)
            return installed;
        try
        {
            RuntimeHelpers.RunModuleConstructor(Assembly.Load(AssemblyName).ManifestModule.ModuleHandle);
        }
        catch (Exception exception) when (exception is IOException or BadImageFormatException)
        {
            throw new InvalidOperationException(
                "The assembly " + AssemblyName + " cannot be loaded, but " + NamesOfUsers() + " has codecs for the API of "
                    + "Orleans.Serialization, or uses it. Deploy it beside that assembly.", exception);
        }

        return Installed!;
    }

    /// <summary>A codec of ours around that of an application; null when the application has none for the type.</summary>
    internal abstract object? TryMake(Type type);

    /// <summary>True for what <see cref="TryMake"/> has made.</summary>
    internal abstract bool IsOwn(object codec);

    /// <summary>True when an application has a codec for the type.</summary>
    internal abstract bool Supports(Type type);

    /// <summary>True for such a type, and for an array or a generic type of such types and of types with names.</summary>
    internal abstract bool SupportsObject(Type type);

    /// <summary>Adds the services of the API.</summary>
    internal abstract void AddServices(IServiceCollection services);

    private static string NamesOfUsers()
    {
        string[] names = [.. Registered.Select(static type => type.Method.Module.Assembly.GetName().Name!).Concat(Users.Keys).Distinct()];
        return names is [] ? "the application" : string.Join(", ", names);
    }
}

/// <summary>Names objects whose class has no name in the manifest, but a codec of an application: the data say the class.</summary>
internal sealed class BridgedObject
{
    /// <summary>The name on the wire.</summary>
    internal const string Name = "bridge";
}
