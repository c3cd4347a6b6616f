using System.Reflection;
using System.Runtime.CompilerServices;

namespace ActOp.Wire;

/// <summary>Where <see cref="Codec{T}.Default"/> finds codecs; the serialization library installs itself here.</summary>
internal static class CodecSource
{
    /// <summary>Finds the codec of a type; throws CodecNotFoundException when there is none.</summary>
    internal static Func<Type, object>? Resolver { get; set; }

    internal static object Resolve(Type type)
    {
        if (Resolver is null)
            RuntimeHelpers.RunModuleConstructor(Assembly.Load("ActOp.Serialization").ManifestModule.ModuleHandle);
        return Resolver!(type);
    }
}
