using System.Collections.Concurrent;
using System.ComponentModel;

namespace ActOp.Serialization;

/// <content>Which classes hold no state in memory, so that an instance on another silo is as good as this one.</content>
public static partial class TypeManifest
{
    private static readonly ConcurrentDictionary<Type, Type?> StatelessClasses = new();

    /// <summary>
    /// True when the generator has seen that the class and its bases hold nothing in memory beyond injected services and immutable values.
    /// False when they do, or when nobody has looked.
    /// </summary>
    /// <param name="grainClass">A grain class, or a base of one.</param>
    public static bool HoldsNoState(Type grainClass)
    {
        ArgumentNullException.ThrowIfNull(grainClass);
        Type? current = grainClass;
        while (current is not null)
        {
            if (!StatelessClasses.TryGetValue(current.IsConstructedGenericType ? current.GetGenericTypeDefinition() : current, out current))
                return false;
        }

        return true;
    }

    /// <summary>Registers a class whose own fields hold no state. Called by generated code.</summary>
    /// <param name="type">The class; an open generic type for generic ones.</param>
    /// <param name="baseInOtherAssembly">The nearest base that another assembly must vouch for, or null.</param>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddStatelessClass(Type type, Type? baseInOtherAssembly = null) => StatelessClasses.TryAdd(type, baseInOtherAssembly);
}
