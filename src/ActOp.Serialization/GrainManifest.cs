using System.Collections.Concurrent;
using System.ComponentModel;
using System.Reflection;
using ActOp.Calls;
using Orleans.Runtime;

namespace ActOp.Serialization;

/// <summary>A grain interface of the manifest; for generic interfaces, the definition or one that was constructed from it.</summary>
public sealed class GrainInterface
{
    private readonly Func<GrainReferenceShared, IdSpan, GrainReference>? _create;

    internal GrainInterface(Type type, string name, Func<GrainReferenceShared, IdSpan, GrainReference>? create)
    {
        Type = type;
        Name = name;
        _create = create;
    }

    /// <summary>The interface; an open generic type for a definition.</summary>
    public Type Type { get; }

    /// <summary>The text of its GrainInterfaceType; with type arguments in the manifest's notation when it is constructed.</summary>
    public string Name { get; }

    /// <summary>The reference class of a generic definition; null otherwise.</summary>
    internal Type? ReferenceDefinition { get; init; }

    /// <summary>A reference to a grain through this interface.</summary>
    /// <exception cref="InvalidOperationException">The interface is a generic definition.</exception>
    public GrainReference CreateReference(GrainReferenceShared shared, IdSpan key) =>
        _create is { } create
            ? create(shared, key)
            : throw new InvalidOperationException("The grain interface " + Name + " is generic: a reference needs its type arguments.");
}

/// <summary>A grain class of the manifest.</summary>
/// <param name="type">The class; an open generic type for generic grains.</param>
/// <param name="grainType">The text of its GrainType, by attribute or by convention.</param>
public sealed class GrainClass(Type type, string grainType)
{
    private Type[]? _interfaces;

    /// <summary>The class; an open generic type for generic grains.</summary>
    public Type Type { get; } = type;

    /// <summary>The text of its GrainType.</summary>
    public string GrainType { get; } = grainType;

    /// <summary>The grain interfaces it implements. For an open generic class they have the class's type parameters as arguments.</summary>
    public IReadOnlyList<Type> Interfaces =>
        _interfaces ??= Type.GetInterfaces().Where(static i => TypeManifest.IsGrainInterface(i)).ToArray();
}

/// <summary>A grain method of the manifest: makes its calls.</summary>
public sealed class GrainMethod
{
    /// <summary>Instantiations made for peers; more are refused, because types are never unloaded.</summary>
    private const int MaxInstantiations = 4096;

    private readonly ConcurrentDictionary<string, Func<Call>>? _instantiations;
    private readonly Func<Call>? _rent;
    private readonly Type? _definition;

    internal GrainMethod(ulong id, Type interfaceType, string name, Func<Call>? rent, Type? definition)
    {
        Id = id;
        InterfaceType = interfaceType;
        Name = name;
        _rent = rent;
        _definition = definition;
        if (definition is not null)
            _instantiations = new(StringComparer.Ordinal);
    }

    /// <summary>Id on the wire.</summary>
    public ulong Id { get; }

    /// <summary>The interface that declares the method; an open generic type for generic interfaces.</summary>
    public Type InterfaceType { get; }

    /// <summary>The method's name.</summary>
    public string Name { get; }

    /// <summary>A cleared call from the pool.</summary>
    /// <param name="typeArguments">As in <see cref="CallMethod.TypeArguments"/>; null when neither interface nor method is generic.</param>
    /// <exception cref="Orleans.Serialization.SerializerException">The type arguments do not fit or name types that are not
    /// registered.</exception>
    public Call Rent(string? typeArguments)
    {
        if (_rent is not null && typeArguments is null)
            return _rent();
        if (_instantiations is null || typeArguments is null)
        {
            throw new Orleans.Serialization.SerializerException(
                "The call of " + InterfaceType + "." + Name + " has the wrong type arguments: " + (typeArguments ?? "none") + ".");
        }

        return (_instantiations.TryGetValue(typeArguments, out var rent) ? rent : Instantiate(typeArguments))();
    }

    private Func<Call> Instantiate(string typeArguments)
    {
        var arguments = TypeManifest.ParseArguments(typeArguments);
        // Types have several names; only one is kept.
        var canonical = TypeManifest.NameArguments(arguments);
        if (_instantiations!.TryGetValue(canonical, out var known))
            return known;
        // Clients cannot use up what silos need.
        var limit = TypeShare.IsOfClient ? MaxInstantiations / 2 : MaxInstantiations;
        if (_instantiations.Count >= limit)
        {
            throw new Orleans.Serialization.SerializerException(
                "The method " + InterfaceType + "." + Name + " was called with more than " + limit + " different type arguments.");
        }

        TypeShare.CountTypes(TypeShare.PartsOfInstantiation);
        Func<Call> rent;
        try
        {
            var call = _definition!.MakeGenericType(arguments);
            rent = typeof(CallPool<>).MakeGenericType(call).GetMethod("Rent")!.CreateDelegate<Func<Call>>();
        }
        catch (ArgumentException exception)
        {
            throw new Orleans.Serialization.SerializerException(
                "The type arguments " + typeArguments + " do not fit " + InterfaceType + "." + Name + ".", exception);
        }

        return _instantiations.GetOrAdd(canonical, rent);
    }
}

/// <summary>Finds the reflection object of an interface method; called by generated code, once per method.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class MethodLookup
{
    /// <summary>The method of that name with those parameter types, constructed with the type arguments if it is generic.</summary>
    public static MethodInfo Find(Type interfaceType, string name, Type[] typeArguments, Type[] parameterTypes)
    {
        foreach (var candidate in interfaceType.GetMethods(
            BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance))
        {
            if (candidate.Name != name || candidate.GetGenericArguments().Length != typeArguments.Length)
                continue;
            var method = typeArguments.Length == 0 ? candidate : candidate.MakeGenericMethod(typeArguments);
            if (method.GetParameters().Select(static p => p.ParameterType).SequenceEqual(parameterTypes))
                return method;
        }

        throw new MissingMethodException(interfaceType.FullName, name);
    }
}

/// <summary>Marks an assembly whose module initializer registers generated code in the <see cref="TypeManifest"/>.</summary>
/// <param name="manifest">The generated class.</param>
[AttributeUsage(AttributeTargets.Assembly)]
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class GeneratedManifestAttribute(Type manifest) : Attribute
{
    /// <summary>The generated class.</summary>
    public Type Manifest { get; } = manifest;
}
