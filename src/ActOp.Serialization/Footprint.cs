using System.Reflection;
using System.Runtime.CompilerServices;

namespace ActOp.Serialization;

/// <summary>Estimates of the memory of what is read from the wire, to be counted by the session of the message.</summary>
internal static class Footprint
{
    /// <summary>The header of an object, and its reference.</summary>
    internal const int ObjectBytes = 24;

    /// <summary>What a linked or hashed collection needs for an item beside the item.</summary>
    internal const int NodeBytes = 40;

    /// <summary>The memory of an object of exactly this class, without what its fields refer to. Reflection; once per codec.</summary>
    internal static int Of(Type type)
    {
        const BindingFlags Own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        var bytes = (long)ObjectBytes;
        for (var declaring = type; declaring is not null && declaring != typeof(object); declaring = declaring.BaseType)
        {
            foreach (var field in declaring.GetFields(Own))
                bytes += RuntimeHelpers.SizeOf(field.FieldType.TypeHandle);
        }

        return (int)Math.Min(bytes, int.MaxValue);
    }

    /// <summary>The memory of an array of so many items.</summary>
    internal static long OfItems<T>(long count) => ObjectBytes + (count * Unsafe.SizeOf<T>());

    /// <summary>The memory of a linked or hashed collection of so many items.</summary>
    internal static long OfNodes<T>(long count) => count * (Unsafe.SizeOf<T>() + NodeBytes);
}
