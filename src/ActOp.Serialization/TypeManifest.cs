using System.Collections.Concurrent;
using System.ComponentModel;
using System.Reflection;
using System.Runtime.CompilerServices;
using ActOp.Calls;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Serialization;

/// <summary>
/// Everything that generated code has registered in this process: grain interfaces and their methods, grain classes, the
/// names of types, and codecs. What is not in here cannot be named by a peer.
/// </summary>
/// <remarks>Used from any thread. Registering the same thing twice has no effect; the first registration stays.</remarks>
public static partial class TypeManifest
{
    private static readonly ConcurrentDictionary<Type, byte> Begun = new();
    private static readonly ConcurrentDictionary<Assembly, byte> LoadedAssemblies = new();
    private static readonly ConcurrentDictionary<Type, GrainInterface> InterfacesByType = new();
    private static readonly ConcurrentDictionary<Type, GrainClass> ClassesByType = new();
    private static readonly ConcurrentDictionary<ulong, GrainMethod> MethodsById = new();

    /// <summary>The methods that were found last, by the remainder of their ids: most processes use few.</summary>
    private static readonly GrainMethod?[] RecentMethods = new GrainMethod?[RecentCount];

    private const int RecentCount = 256;

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
        if (!LoadedAssemblies.TryAdd(assembly, 0))
            return;
        if (assembly.IsDefined(typeof(GeneratedManifestAttribute)))
            RuntimeHelpers.RunModuleConstructor(assembly.ManifestModule.ModuleHandle);
        foreach (var part in assembly.GetCustomAttributes<ApplicationPartAttribute>())
            Load(LoadPart(assembly, part.AssemblyName));
        if (IsOfFramework(assembly.GetName()))
            return;
        foreach (var name in assembly.GetReferencedAssemblies())
        {
            if (IsOfFramework(name))
                continue;
            if (TryLoad(name) is { } referenced)
                Load(referenced);
        }
    }

    /// <summary>Registers the application's own assemblies: the entry assembly, what it refers to, and what is loaded already.</summary>
    public static void LoadApplication()
    {
        if (Assembly.GetEntryAssembly() is { } entry)
            Load(entry);
        foreach (var assembly in AppDomain.CurrentDomain.GetAssemblies())
        {
            if (!assembly.IsDynamic && (assembly.IsDefined(typeof(GeneratedManifestAttribute)) || assembly.IsDefined(typeof(ApplicationPartAttribute))))
                Load(assembly);
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

    /// <summary>True for a registered grain interface and for what is constructed from one.</summary>
    public static bool IsGrainInterface(Type type) =>
        type.IsInterface && (InterfacesByType.ContainsKey(type) || (type.IsGenericType && InterfacesByType.ContainsKey(type.GetGenericTypeDefinition())));

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

    /// <summary>True for the first call with this class: the module initializer goes on. Called by generated code.</summary>
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

    /// <summary>Registers a method. Called by generated code.</summary>
    /// <exception cref="InvalidOperationException">Another method has the same id.</exception>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCall(ulong id, Type interfaceType, string method, Func<Call> rent) => AddMethod(new GrainMethod(id, interfaceType, method, rent, null));

    /// <summary>Registers a generic method, or a method of a generic interface. Called by generated code.</summary>
    /// <exception cref="InvalidOperationException">Another method has the same id.</exception>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddCall(ulong id, Type interfaceType, string method, Type callDefinition) => AddMethod(new GrainMethod(id, interfaceType, method, null, callDefinition));

    /// <summary>Registers a grain class. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddGrainClass(Type type, string grainType) => ClassesByType.TryAdd(type, new GrainClass(type, grainType));

    private static void AddMethod(GrainMethod method)
    {
        var found = MethodsById.GetOrAdd(method.Id, method);
        if (found.Name != method.Name)
            throw new InvalidOperationException("The methods " + found.InterfaceType + "." + found.Name + " and " + method.InterfaceType + "." + method.Name + " have the same id; give one of them an [Alias].");
    }

    private static GrainInterface? Construct(Type interfaceType)
    {
        if (!InterfacesByType.TryGetValue(interfaceType.GetGenericTypeDefinition(), out var definition))
            return null;
        if (interfaceType.ContainsGenericParameters)
            return definition;
        var constructor = definition.ReferenceDefinition!.MakeGenericType(interfaceType.GetGenericArguments()).GetConstructor([typeof(GrainReferenceShared), typeof(IdSpan)])!;
        var invoker = ConstructorInvoker.Create(constructor);
        return InterfacesByType.GetOrAdd(interfaceType, new GrainInterface(interfaceType, NameOf(interfaceType), (shared, key) => (GrainReference)invoker.Invoke(shared, key)));
    }

    private static Assembly LoadPart(Assembly assembly, string part)
    {
        try
        {
            return Assembly.Load(new AssemblyName(part));
        }
        catch (IOException exception)
        {
            throw new InvalidOperationException("The assembly " + part + ", an application part of " + assembly.GetName().Name + ", cannot be loaded: its grains would be missing. Is it deployed beside it?", exception);
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

    private static bool IsOfFramework(AssemblyName name) =>
        name.Name is not { } text || text.StartsWith("System.", StringComparison.Ordinal) || text.StartsWith("Microsoft.", StringComparison.Ordinal) || text is "System" or "mscorlib" or "netstandard" or "WindowsBase";
}
