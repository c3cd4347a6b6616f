using System.Collections.Concurrent;
using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.CompilerServices;
using ActOp.Calls;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>
/// The types that generated code has registered in this process: grain interfaces and their methods, grain classes, names of types, and
/// codecs. Peers can only name registered types.
/// </summary>
/// <remarks>
/// Used from any thread. Registering the same thing twice has no effect; the first registration stays. Names of types on the wire are
/// <c>name</c> (alias or full name, with the arity of generic types: <c>List`1</c>), <c>name&lt;argument,argument&gt;</c>,
/// <c>element[]</c> and <c>element[,]</c>. Type arguments of calls are such names with commas between.
/// </remarks>
public static class TypeManifest
{
    private const int RecentCount = 256;

    /// <summary>How deep names may be nested.</summary>
    private const int MaxNesting = 16;

    /// <summary>Names of constructed types that are kept: a type has several, with aliases and full names.</summary>
    private const int MaxNames = 32_768;

    /// <summary>Longest name that a peer may use: it bounds the size of the structs that can be made from it.</summary>
    private const int MaxNameLength = 4096;

    private static readonly ConcurrentDictionary<Type, byte> Begun = new();
    private static readonly HashSet<Assembly> LoadedAssemblies = [];
    private static readonly ConditionalWeakTable<Assembly, Assembly> Examined = [];
    private static readonly ConcurrentDictionary<Type, GrainInterface> InterfacesByType = new();
    private static readonly ConcurrentDictionary<Type, GrainClass> ClassesByType = new();
    private static readonly ConcurrentDictionary<ulong, GrainMethod> MethodsById = new();
    private static readonly ConcurrentDictionary<string, Type> TypesByName = new(StringComparer.Ordinal);
    private static readonly ConcurrentDictionary<Type, string> NamesByType = new();
    private static readonly ConcurrentDictionary<string, Type> ConstructedByName = new(StringComparer.Ordinal);
    private static readonly ConcurrentDictionary<Type, string> ConstructedNames = new();
    private static readonly ConcurrentDictionary<MadeType, Type> MadeTypes = new();
    private static readonly ConcurrentDictionary<Type, Type> ApplicationProxies = new();
    private static int s_names;
    private static readonly ConcurrentDictionary<Type, Type?> StatelessClasses = new();

    /// <summary>The methods that were found last, by the remainder of their ids: most processes use few.</summary>
    private static readonly GrainMethod?[] RecentMethods = new GrainMethod?[RecentCount];

    /// <summary>All grain interfaces registered so far; constructed generic ones are left out.</summary>
    public static IEnumerable<GrainInterface> Interfaces => InterfacesByType.Values.Where(static i => !i.Type.IsConstructedGenericType);

    /// <summary>All grain classes registered so far.</summary>
    public static IEnumerable<GrainClass> GrainClasses => ClassesByType.Values;

    /// <summary>All methods registered so far.</summary>
    public static IEnumerable<GrainMethod> Methods => MethodsById.Values;

    /// <summary>
    /// Makes sure that the generated code of <paramref name="assembly"/>, of its application parts and of all that it refers
    /// to is registered.
    /// </summary>
    /// <exception cref="InvalidOperationException">An application part cannot be loaded.</exception>
    public static void Load(Assembly assembly)
    {
        ArgumentNullException.ThrowIfNull(assembly);
        // Whoever comes second waits until all is registered. Module initializers of generated code load nothing and wait for nobody.
        lock (LoadedAssemblies)
        {
            if (!LoadedAssemblies.Add(assembly))
                return;
            try
            {
                Register(assembly);
            }
            catch
            {
                LoadedAssemblies.Remove(assembly);
                throw;
            }
        }
    }

    private static void Register(Assembly assembly)
    {
        if (assembly.IsDefined(typeof(GeneratedManifestAttribute)))
            RuntimeHelpers.RunModuleConstructor(assembly.ManifestModule.ModuleHandle);
        foreach (var part in assembly.GetCustomAttributes<ApplicationPartAttribute>())
            Load(LoadPart(assembly, part.AssemblyName));
        if (IsOfFramework(assembly.GetName()))
            return;
        foreach (var name in assembly.GetReferencedAssemblies())
        {
            // It has no generated code, and is loaded when it is used.
            if (IsFieldCodecs(name))
                FieldCodecSource.AddUser(assembly);
            if (IsFieldCodecs(name) || IsOfFramework(name))
                continue;
            if (TryLoad(name) is { } referenced)
                Load(referenced);
        }
    }

    private static bool IsFieldCodecs(AssemblyName name) => name.Name == FieldCodecSource.AssemblyName;

    /// <summary>Registers the application's own assemblies: the entry assembly, what it refers to, and what is loaded already.</summary>
    public static void LoadApplication()
    {
        if (Assembly.GetEntryAssembly() is { } entry)
            Load(entry);
        foreach (var assembly in AppDomain.CurrentDomain.GetAssemblies())
        {
            // Each silo and client of a process asks, and neither attributes nor references change.
            if (assembly.IsDynamic || Examined.TryGetValue(assembly, out _))
                continue;
            if (assembly.IsDefined(typeof(GeneratedManifestAttribute)) || assembly.IsDefined(typeof(ApplicationPartAttribute)))
                Load(assembly);
            else if (!IsOfFramework(assembly.GetName()) && assembly.GetReferencedAssemblies().Any(IsFieldCodecs))
                FieldCodecSource.AddUser(assembly);
            Examined.TryAdd(assembly, assembly);
        }
    }

    /// <summary>The entry of a grain interface, which may be a constructed generic one; false when it is not registered.</summary>
    public static bool TryGetInterface(Type interfaceType, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out GrainInterface? entry)
    {
        if (InterfacesByType.TryGetValue(interfaceType, out entry))
            return true;
        entry = interfaceType.IsConstructedGenericType ? Construct(interfaceType) : null;
        return entry is not null;
    }

    /// <summary>The grain interface of that name, in the manifest's notation; false when it is not registered.</summary>
    public static bool TryGetInterface(string name, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out GrainInterface? entry)
    {
        entry = null;
        return TryGetType(name, out var type) && type.IsInterface && TryGetInterface(type, out entry);
    }

    /// <summary>The classes of references that applications make by themselves, with their interfaces.</summary>
    internal static IEnumerable<KeyValuePair<Type, Type>> Proxies => ApplicationProxies;

    /// <summary>True for a registered grain interface and for what is constructed from one.</summary>
    public static bool IsGrainInterface(Type type) =>
        type.IsInterface
            && (InterfacesByType.ContainsKey(type)
                || (type.IsGenericType && InterfacesByType.ContainsKey(type.GetGenericTypeDefinition())));

    /// <summary>The entry of a grain class; for generic grains that of the definition.</summary>
    public static bool TryGetGrainClass(Type type, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out GrainClass? entry) =>
        ClassesByType.TryGetValue(type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type, out entry);

    /// <summary>The method with this id on the wire; null when it is not registered.</summary>
    public static GrainMethod? FindMethod(ulong id)
    {
        ref var recent = ref RecentMethods[id % RecentCount];
        if (Volatile.Read(ref recent) is { } found && found.Id == id)
            return found;
        if (MethodsById.TryGetValue(id, out found))
            Volatile.Write(ref recent, found);
        return found;
    }

    /// <summary>True for the first call with this class: then the module initializer continues. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static bool Begin(Type manifest) => Begun.TryAdd(manifest, 0);

    /// <summary>Registers a grain interface. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddInterface(Type interfaceType, string name, Func<GrainReferenceShared, IdSpan, GrainReference> create)
    {
        InterfacesByType.TryAdd(interfaceType, new GrainInterface(interfaceType, name, create));
        AddType(interfaceType, name);
    }

    /// <summary>Registers a generic grain interface. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddInterface(Type interfaceType, string name, Type referenceDefinition)
    {
        InterfacesByType.TryAdd(interfaceType, new GrainInterface(interfaceType, name, null) { ReferenceDefinition = referenceDefinition });
        AddType(interfaceType, name);
    }

    /// <summary>Registers a reference that the application makes and sends by itself. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddInterfaceProxy(Type interfaceType, Type proxy) => ApplicationProxies.TryAdd(proxy, interfaceType);

    /// <summary>Registers a method. Called by generated code.</summary>
    /// <exception cref="InvalidOperationException">Another method has the same id.</exception>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCall(ulong id, Type interfaceType, string method, Func<Call> rent) =>
        AddMethod(new GrainMethod(id, interfaceType, method, rent, null));

    /// <summary>Registers a generic method, or a method of a generic interface. Called by generated code.</summary>
    /// <exception cref="InvalidOperationException">Another method has the same id.</exception>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCall(ulong id, Type interfaceType, string method, Type callDefinition) =>
        AddMethod(new GrainMethod(id, interfaceType, method, null, callDefinition));

    /// <summary>Registers a grain class. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddGrainClass(Type type, string grainType) => ClassesByType.TryAdd(type, new GrainClass(type, grainType));

    private static void AddMethod(GrainMethod method)
    {
        var found = MethodsById.GetOrAdd(method.Id, method);
        if (found.Name != method.Name)
        {
            throw new InvalidOperationException(
                "The methods " + found.InterfaceType + "." + found.Name + " and " + method.InterfaceType + "." + method.Name +
                    " have the same id; give one of them an [Alias].");
        }
    }

    private static GrainInterface? Construct(Type interfaceType)
    {
        if (!InterfacesByType.TryGetValue(interfaceType.GetGenericTypeDefinition(), out var definition))
            return null;
        if (interfaceType.ContainsGenericParameters)
            return definition;
        var constructor = definition.ReferenceDefinition!.MakeGenericType(interfaceType.GetGenericArguments())
            .GetConstructor([typeof(GrainReferenceShared), typeof(IdSpan)])!;
        var invoker = ConstructorInvoker.Create(constructor);
        return InterfacesByType.GetOrAdd(interfaceType,
            new GrainInterface(interfaceType, NameOf(interfaceType), (shared, key) => (GrainReference)invoker.Invoke(shared, key)));
    }

    private static Assembly LoadPart(Assembly assembly, string part)
    {
        try
        {
            return Assembly.Load(new AssemblyName(part));
        }
        catch (IOException exception)
        {
            throw new InvalidOperationException(
                "The assembly " + part + ", an application part of " + assembly.GetName().Name +
                    ", cannot be loaded: its grains would be missing. Deploy it beside that assembly.", exception);
        }
    }

    private static Assembly? TryLoad(AssemblyName name)
    {
        try
        {
            return Assembly.Load(name);
        }
        catch (IOException)
        {
            return null; // A reference that was left out of the deployment has no grains.
        }
    }

    internal static bool IsOfFramework(AssemblyName name) =>
        name.Name is not { } text || text.StartsWith("System.", StringComparison.Ordinal)
            || text.StartsWith("Microsoft.", StringComparison.Ordinal) || text is "System" or "mscorlib" or "netstandard" or "WindowsBase";

    /// <summary>Registers a generated codec.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCodec(Type type, string name, Func<object> create)
    {
        // The codecs of this library are the first: a generated one sees only what is public of a type that is compiled elsewhere.
        BuiltIn.Register();
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
        CodecTable.Add(
            typeof(TValue), () => Activator.CreateInstance(definition.MakeGenericType(typeof(TValue), typeof(TSurrogate)), create())!);
    }

    /// <summary>
    /// Registers a codec, copier or the like of the application. Called by generated code; the class is looked at later.
    /// </summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddApplicationCodec(Func<Type> codec) => FieldCodecSource.Add(codec);

    /// <summary>True when the type has a name of its own, which is not its full name.</summary>
    internal static bool TryGetAlias(Type type, [NotNullWhen(true)] out string? alias) =>
        NamesByType.TryGetValue(type, out alias) && alias != type.FullName && !type.IsGenericType;

    /// <summary>The type with that name of its own.</summary>
    internal static bool TryGetAliased(string alias, [NotNullWhen(true)] out Type? type) => TypesByName.TryGetValue(alias, out type);

    /// <summary>True for the name of a registered type, as text and without its arguments.</summary>
    internal static bool IsTypeName(string name)
    {
        BuiltIn.Register();
        return TypesByName.ContainsKey(name);
    }

    /// <summary>True for the simple name of a loaded assembly that has generated code.</summary>
    internal static bool IsGeneratedAssembly(string name) =>
        AppDomain.CurrentDomain.GetAssemblies().Any(assembly =>
            !assembly.IsDynamic && assembly.GetName().Name == name && assembly.IsDefined(typeof(GeneratedManifestAttribute)));

    /// <summary>Registers what makes the objects of a type that is marked with [UseActivator].</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddActivator<T>(Func<Orleans.Serialization.Activators.IActivator<T>> create) => RegisteredActivator<T>.Set(create);

    /// <summary>Registers the generated codec of a generic type.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCodec(Type type, string name, Type codecDefinition)
    {
        AddType(type, name);
        CodecTable.AddGeneric(type, codecDefinition);
    }

    /// <summary>
    /// True when the generator has seen that the class and its bases hold nothing in memory beyond injected services and immutable values.
    /// False if they hold state, or if it is unknown.
    /// </summary>
    /// <param name="grainClass">A grain class, or a base of one.</param>
    public static bool HoldsNoState(Type grainClass)
    {
        ArgumentNullException.ThrowIfNull(grainClass);
        var current = grainClass;
        while (current is not null)
        {
            if (!StatelessClasses.TryGetValue(current.IsConstructedGenericType ? current.GetGenericTypeDefinition() : current, out current))
                return false;
        }

        return true;
    }

    /// <summary>Registers a class whose own fields hold no state. Called by generated code.</summary>
    /// <param name="type">The class; an open generic type for generic ones.</param>
    /// <param name="baseInOtherAssembly">The nearest base whose state is described by another assembly's manifest, or null.</param>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddStatelessClass(Type type, Type? baseInOtherAssembly = null) => StatelessClasses.TryAdd(type, baseInOtherAssembly);

    /// <summary>Registers a type's name; its full name is understood too. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddType(Type type, string name)
    {
        if (!NamesByType.TryAdd(type, name))
            return;
        var found = TypesByName.GetOrAdd(name, type);
        if (found != type)
        {
            throw new InvalidOperationException(
                "The types " + found + " and " + type + " have the same name for serialization: " + name + ".");
        }

        if (type.FullName is { } fullName)
            TypesByName.TryAdd(fullName, type);
    }

    /// <summary>The name of a registered type or of one made from registered types.</summary>
    /// <exception cref="CodecNotFoundException">The type is not registered.</exception>
    public static string NameOf(Type type) =>
        TryNameOf(type, out var name)
            ? name : throw new CodecNotFoundException("The type " + type
                + " has no name for serialization: it has no [GenerateSerializer], or its assembly has no generated code.");

    /// <summary>
    /// The registered classes that are derived from a class or implement an interface, and of which there can be objects.
    /// </summary>
    internal static IEnumerable<Type> DerivedOf(Type type) => NamesByType.Keys.Where(
        one => one != type && type.IsAssignableFrom(one)
            && one is { IsAbstract: false, IsInterface: false, IsGenericTypeDefinition: false });

    /// <summary>The name of a type, if it is registered or made from registered types.</summary>
    public static bool TryNameOf(Type type, [NotNullWhen(true)] out string? name)
    {
        if (NamesByType.TryGetValue(type, out name) || ConstructedNames.TryGetValue(type, out name))
            return true;
        BuiltIn.Register();
        if (NamesByType.TryGetValue(type, out name))
            return true;
        name = BuildName(type) ?? Codecs.SerializableTypes.NameOf(type);
        if (name is null)
            return false;
        ConstructedNames.TryAdd(type, name);
        // Used by this process itself: it is no part of what peers may name.
        KeepName(name, type);
        return true;
    }

    /// <summary>
    /// Type arguments for <see cref="Calls.CallMethod.TypeArguments"/>. An unregistered type does not prevent local calls, but a peer
    /// refuses its name. Called by generated code.
    /// </summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static string NameArguments(params Type[] types) =>
        string.Join(',', types.Select(static type => TryNameOf(type, out var name) ? name : type.ToString()));

    /// <summary>The type of that name; false when a part of it is not registered.</summary>
    /// <exception cref="SerializerException">The name is malformed or nested too deep.</exception>
    public static bool TryGetType(string name, [NotNullWhen(true)] out Type? type)
    {
        if (TypesByName.TryGetValue(name, out type) || ConstructedByName.TryGetValue(name, out type))
            return true;
        BuiltIn.Register();
        if (TypesByName.TryGetValue(name, out type))
            return true;
        if (name.Length > MaxNameLength)
            throw new SerializerException("A type name in the message is longer than " + MaxNameLength + " characters.");
        if (name.StartsWith(Codecs.SerializableTypes.Prefix, StringComparison.Ordinal))
        {
            type = Codecs.SerializableTypes.FindType(name);
            if (type is not null)
                KeepName(name, type);
            return type is not null;
        }

        var rest = name.AsSpan();
        type = Parse(ref rest, 0);
        if (type is null)
            return false;
        if (!rest.IsEmpty)
            throw new SerializerException("The type name " + name + " is malformed.");
        KeepName(name, type);
        return true;
    }

    /// <summary>Reads what <see cref="NameArguments"/> wrote.</summary>
    /// <exception cref="SerializerException">A name is malformed or not registered.</exception>
    internal static Type[] ParseArguments(string text)
    {
        BuiltIn.Register();
        if (text.Length > MaxNameLength)
            throw new SerializerException("Type arguments in the message are longer than " + MaxNameLength + " characters.");
        var rest = text.AsSpan();
        return ParseList(ref rest, 0) is { } types && rest.IsEmpty
            ? types : throw new SerializerException("The type arguments " + text + " are malformed or name types that are not registered.");
    }

    /// <summary>
    /// The type arguments in the name of a grain type: <c>[[A],[B]]</c>, or <c>[[A,B]]</c> as earlier versions wrote them.
    /// </summary>
    /// <exception cref="SerializerException">An argument is not known.</exception>
    internal static Type[] ParseGrainArguments(ReadOnlySpan<char> text)
    {
        BuiltIn.Register();
        var types = new List<Type>();
        if (text.Length <= MaxNameLength && text.StartsWith("[[") && text.EndsWith("]]"))
        {
            for (var rest = text[2..]; Parse(ref rest, 0) is { } type;)
            {
                types.Add(type);
                if (rest is "]]")
                    return [.. types];
                var next = rest.StartsWith("],[") ? 3 : rest.StartsWith(",") ? 1 : 0;
                if (next == 0)
                    break;
                rest = rest[next..];
            }
        }

        throw new SerializerException("The type arguments " + text[..Math.Min(text.Length, MaxNameLength)].ToString()
            + " of a grain type are malformed or name types that are not registered.");
    }

    private static string? BuildName(Type type)
    {
        if (type.IsArray)
        {
            return (!type.IsSZArray && type.GetArrayRank() == 1) || !TryNameOf(type.GetElementType()!, out var element)
                ? null : element + "[" + new string(',', type.GetArrayRank() - 1) + "]";
        }

        if (!type.IsConstructedGenericType || !NamesByType.TryGetValue(type.GetGenericTypeDefinition(), out var definition))
            return null;
        var names = new List<string>();
        foreach (var argument in type.GetGenericArguments())
        {
            if (!TryNameOf(argument, out var name))
                return null;
            names.Add(name);
        }

        return definition + "<" + string.Join(',', names) + ">";
    }

    private static Type? Parse(ref ReadOnlySpan<char> rest, int depth)
    {
        if (depth > MaxNesting)
            throw new SerializerException("A type name in the message is nested more than " + MaxNesting + " deep.");
        var end = rest.IndexOfAny("<>[],");
        var simple = end < 0 ? rest : rest[..end];
        rest = rest[simple.Length..];
        if (!TypesByName.GetAlternateLookup<ReadOnlySpan<char>>().TryGetValue(simple, out var type))
            return null;
        if (rest.StartsWith("<"))
        {
            rest = rest[1..];
            if (ParseList(ref rest, depth + 1) is not { } arguments || !rest.StartsWith(">"))
                return null;
            rest = rest[1..];
            type = Construct(type, arguments);
        }

        for (var nested = depth; rest.StartsWith("["); nested++)
            type = ParseArray(ref rest, type, nested);
        return type;
    }

    private static Type[]? ParseList(ref ReadOnlySpan<char> rest, int depth)
    {
        var types = new List<Type>();
        while (Parse(ref rest, depth) is { } type)
        {
            types.Add(type);
            if (!rest.StartsWith(","))
                return [.. types];
            rest = rest[1..];
        }

        return null;
    }

    private static Type ParseArray(ref ReadOnlySpan<char> rest, Type element, int depth)
    {
        var close = rest.IndexOf(']');
        if (close < 0 || close > 4 || rest[1..close].ContainsAnyExcept(',') || depth > MaxNesting)
            throw new SerializerException("The name of an array type in the message is malformed.");
        rest = rest[(close + 1)..];
        return Made(new MadeType(element, [], close));
    }

    private static Type Construct(Type definition, Type[] arguments)
    {
        if (!definition.IsGenericTypeDefinition || definition.GetGenericArguments().Length != arguments.Length)
            throw new SerializerException("The type " + definition + " does not take " + arguments.Length + " type arguments.");
        try
        {
            return Made(new MadeType(definition, arguments, 0));
        }
        catch (Exception exception) when (exception is ArgumentException or TypeLoadException)
        {
            throw new SerializerException("The type arguments do not fit " + definition + ".", exception);
        }
    }

    /// <summary>Counts the types that are made from names, also those of names that turn out to be wrong, before they are made.</summary>
    private static Type Made(in MadeType parts)
    {
        if (MadeTypes.TryGetValue(parts, out var type))
            return type;
        TypeShare.CountTypes(1);
        return MadeTypes.GetOrAdd(parts, parts.Make());
    }

    private static void KeepName(string name, Type type)
    {
        if (Volatile.Read(ref s_names) < MaxNames && ConstructedByName.TryAdd(name, type))
            Interlocked.Increment(ref s_names);
    }

    /// <summary>What a type is made of: to be found without making it.</summary>
    /// <param name="Definition">The generic type, or the type of the items.</param>
    /// <param name="Arguments">The type arguments.</param>
    /// <param name="Rank">The rank of an array; 0 for a generic type.</param>
    private readonly record struct MadeType(Type Definition, Type[] Arguments, int Rank)
    {
        public bool Equals(MadeType other) =>
            Definition == other.Definition && Rank == other.Rank && Arguments.AsSpan().SequenceEqual(other.Arguments);

        public override int GetHashCode()
        {
            var hash = new HashCode();
            hash.Add(Definition);
            hash.Add(Rank);
            foreach (var argument in Arguments)
                hash.Add(argument);
            return hash.ToHashCode();
        }

        internal Type Make() => Rank switch
        {
            0 => Definition.MakeGenericType(Arguments),
            1 => Definition.MakeArrayType(),
            _ => Definition.MakeArrayType(Rank),
        };
    }
}
