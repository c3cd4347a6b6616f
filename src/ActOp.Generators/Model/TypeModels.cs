namespace ActOp.Generators.Model;

/// <summary>How a class is registered, if at all: as a grain, or as a type that peers may name (an exception, an enum).</summary>
internal sealed record ClassModel(NamedTypeModel? Grain, NamedTypeModel? Named)
{
    public bool IsEmpty => Grain is null && Named is null;
}

/// <summary>A type with its name on the wire: a grain class, or an exception that peers may name.</summary>
internal sealed record NamedTypeModel(string OpenType, string WireName);

/// <summary>A type with [GenerateSerializer].</summary>
/// <param name="Creation">"new", "accessor" (a constructor that is not accessible or has required members), "uninitialized", or
/// "activator" (a registered one), or "services" (a constructor that gets services).</param>
/// <param name="Base">The base class that has a codec too, or nothing.</param>
/// <param name="Items">What a class without such a base inherits from a collection of the framework.</param>
/// <param name="Surrogate">What is written for a base class without the attribute.</param>
/// <param name="Parameters">Members by the position of a record's parameters.</param>
/// <param name="Members">Members by [Id].</param>
/// <param name="Hooks">What is called before and after values are written, read and copied.</param>
/// <param name="OmitsDefaults">Members that have their default value are not written.</param>
/// <param name="Services">What the constructor of <paramref name="Creation"/> gets.</param>
internal sealed record CodecModel(
    string ClassName,
    string TypeParameters,
    int Arity,
    string Constraints,
    string Type,
    string OpenType,
    string WireName,
    bool IsEnum,
    bool IsStruct,
    bool IsAbstract,
    bool IsImmutable,
    bool IsSealed,
    bool IsReadOnly,
    bool SuppressTracking,
    string Creation,
    string Base,
    ItemsModel? Items,
    SurrogateModel? Surrogate,
    bool HasParameters,
    EquatableArray<MemberModel> Parameters,
    EquatableArray<MemberModel> Members,
    EquatableArray<HookModel> Hooks,
    bool OmitsDefaults,
    EquatableArray<string> Services)
{
    /// <summary>Whether a hook of one of these names is called.</summary>
    public bool HasHook(params string[] names) =>
        Hooks.Any(hook => hook.Methods.Any(method => names.Any(name => method == name || method == "ref " + name)));

    /// <summary>Groups in the order in which they are written.</summary>
    public IEnumerable<EquatableArray<MemberModel>> Groups => HasParameters ? [Parameters, Members] : [Members];
}

/// <summary>The items of a collection that a class derives from.</summary>
/// <param name="Collection">The collection class of the framework.</param>
/// <param name="Item">The type of its items.</param>
/// <param name="Key">The type that its comparer compares; empty when it has none.</param>
internal sealed record ItemsModel(string Collection, string Item, string Key);

/// <summary>A base class that a converter writes and fills.</summary>
/// <param name="Converter">The converter, which implements IPopulator.</param>
/// <param name="Base">The base class.</param>
/// <param name="Surrogate">What is written.</param>
internal sealed record SurrogateModel(string Converter, string Base, string Surrogate);

/// <summary>A class that [SerializationCallbacks] names.</summary>
/// <param name="Type">The class.</param>
/// <param name="Methods">The methods that it has, with "ref " before those that take the value by reference.</param>
internal sealed record HookModel(string Type, EquatableArray<string> Methods, bool NeedsServices);

/// <summary>One serialized member.</summary>
/// <param name="Id">Its id among the members of its type.</param>
/// <param name="Name">The property or field.</param>
/// <param name="Value">Type and how it is written and copied.</param>
/// <param name="IsDirect">True when generated code can read the member by name.</param>
/// <param name="IsSettable">True when generated code can set the member by name.</param>
/// <param name="Field">The field behind the member, when it must be reached by an accessor.</param>
internal sealed record MemberModel(uint Id, string Name, ArgumentModel Value, bool IsDirect, bool IsSettable, string Field);

/// <summary>A class with [RegisterConverter] and one of its conversions.</summary>
internal sealed record ConverterModel(string Converter, string Value, string Surrogate, string WireName);
