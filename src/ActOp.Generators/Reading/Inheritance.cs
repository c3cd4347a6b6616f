using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>
/// What a type with [GenerateSerializer] inherits: members of the nearest base that has a codec too, items of a collection, or state that
/// is not serialized.
/// </summary>
/// <param name="Base">The nearest base with [GenerateSerializer].</param>
/// <param name="Items">The collection of the framework that the type derives from.</param>
/// <param name="Lost">A base whose state would not be sent.</param>
/// <param name="Surrogate">What is written for a base without the attribute, by a converter that can fill an object of it.</param>
internal sealed record Inheritance(INamedTypeSymbol? Base, ItemsModel? Items, INamedTypeSymbol? Lost, SurrogateModel? Surrogate = null)
{
    private const string Generic = "System.Collections.Generic.";
    private const string Objects = "System.Collections.ObjectModel.";
    private const string Concurrent = "System.Collections.Concurrent.";

    // Where the comparer's type is among the type arguments; -1 for collections without one.
    private static readonly Dictionary<string, int> Collections = new()
    {
        [Generic + "List`1"] = -1,
        [Generic + "LinkedList`1"] = -1,
        [Generic + "Queue`1"] = -1,
        [Generic + "Stack`1"] = -1,
        [Generic + "HashSet`1"] = 0,
        [Generic + "SortedSet`1"] = 0,
        [Generic + "Dictionary`2"] = 0,
        [Generic + "SortedDictionary`2"] = 0,
        [Generic + "SortedList`2"] = 0,
        [Objects + "Collection`1"] = -1,
        [Objects + "ObservableCollection`1"] = -1,
        [Objects + "KeyedCollection`2"] = 0,
        [Concurrent + "ConcurrentQueue`1"] = -1,
        [Concurrent + "ConcurrentStack`1"] = -1,
        [Concurrent + "ConcurrentDictionary`2"] = 0,
    };

    private static readonly HashSet<string> Stateless = ["System.Object", "System.ValueType", "System.Enum", "System.EventArgs",
        "System.MarshalByRefObject", "System.Attribute"];

    /// <summary>
    /// Walks the bases up to the first that says what is inherited. Bases that are seen in source and have no fields are passed.
    /// </summary>
    public static Inheritance InheritanceOf(INamedTypeSymbol type)
    {
        for (var current = type.BaseType; current is not null; current = current.BaseType)
        {
            if (Attributes.Has(current.OriginalDefinition, Attributes.SerializerTransparent))
                continue;
            if (Attributes.Has(current.OriginalDefinition, Attributes.GenerateSerializer))
                return new(current, null, null);
            var name = TypeText.FullName(current.OriginalDefinition);
            if (Stateless.Contains(name) || IsFrameworksException(current))
                break;
            if (Collections.TryGetValue(name, out var key))
                return new(null, ItemsOf(current, key), null);
            if (HasState(current))
            {
                return Populator(type.ContainingAssembly.GlobalNamespace, current) is { } surrogate
                    ? new(null, null, null, surrogate) : new(null, null, current);
            }
        }

        return new(null, null, null);
    }

    /// <summary>Looks for a converter of the assembly that implements IPopulator for the base class.</summary>
    private static SurrogateModel? Populator(INamespaceOrTypeSymbol container, INamedTypeSymbol baseType)
    {
        foreach (var member in container.GetMembers())
        {
            if (member is not INamespaceOrTypeSymbol nested)
                continue;
            if (member is INamedTypeSymbol type && Attributes.Has(type, Attributes.RegisterConverter)
                && TypeText.Accessibility(type) is not null)
            {
                foreach (var i in type.AllInterfaces)
                {
                    if (i.MetadataName == "IPopulator`2" && SymbolEqualityComparer.Default.Equals(i.TypeArguments[0], baseType))
                        return new(TypeText.SourceOf(type), TypeText.SourceOf(baseType), TypeText.SourceOf(i.TypeArguments[1]));
                }
            }

            if (Populator(nested, baseType) is { } found)
                return found;
        }

        return null;
    }

    /// <summary>The exception's codec sends what all exceptions have.</summary>
    private static bool IsFrameworksException(INamedTypeSymbol type)
    {
        if (type.DeclaringSyntaxReferences.Length > 0)
            return false;
        for (var current = type; current is not null; current = current.BaseType)
        {
            if (current.Name == "Exception" && current.ToDisplayString() == "System.Exception")
                return true;
        }

        return false;
    }

    /// <summary>Private fields of compiled classes cannot be seen, so these count as having some.</summary>
    private static bool HasState(INamedTypeSymbol type) =>
        type.DeclaringSyntaxReferences.Length == 0
            || type.GetMembers()
            .Any(static m => m is IFieldSymbol { IsStatic: false, IsConst: false } field && !CodecReader.IsNotSerialized(field)
                && field.AssociatedSymbol is not IEventSymbol);

    private static ItemsModel ItemsOf(INamedTypeSymbol collection, int key)
    {
        var arguments = collection.TypeArguments;
        var isMap = collection.Name.EndsWith("Dictionary", StringComparison.Ordinal) || collection.Name == "SortedList";
        var item = isMap
            ? "global::System.Collections.Generic.KeyValuePair<" + TypeText.SourceOf(arguments[0]) + ", "
                + TypeText.SourceOf(arguments[1]) + ">"
            : TypeText.SourceOf(arguments[arguments.Length - 1]);
        return new(TypeText.SourceOf(collection), item, key < 0 ? "" : TypeText.SourceOf(arguments[key]));
    }
}
