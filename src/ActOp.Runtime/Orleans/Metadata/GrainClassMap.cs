using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using ActOp.Runtime.Activations;
using ActOp.Serialization;
using Orleans.Runtime;
using Orleans.Serialization;

namespace Orleans.Metadata;

/// <summary>The grain classes of this silo, as a service of it, or those that it is made of. Any thread.</summary>
public class GrainClassMap
{
    private readonly GrainClasses? _classes;
    private readonly TypeConverter? _converter;
    private readonly ImmutableDictionary<GrainType, Type> _given = ImmutableDictionary<GrainType, Type>.Empty;

    /// <summary>A map of these classes; generic ones by their names without type arguments.</summary>
    /// <param name="typeConverter">Reads the names of type arguments.</param>
    /// <param name="classes">The classes by grain type.</param>
    public GrainClassMap(TypeConverter typeConverter, ImmutableDictionary<GrainType, Type> classes)
    {
        _converter = typeConverter;
        _given = classes;
    }

    internal GrainClassMap(GrainClasses classes) => _classes = classes;

    /// <summary>The class of a grain type; false if this silo does not host it.</summary>
    public bool TryGetGrainClass(GrainType grainType, [NotNullWhen(true)] out Type? grainClass)
    {
        if (_classes is not null)
        {
            var isHosted = _classes.TryGet(grainType, out var found);
            grainClass = found?.Type;
            return isHosted;
        }

        if (_given.TryGetValue(grainType, out grainClass))
            return true;
        var text = grainType.ToString()!;
        var definition = GrainClasses.WithoutArguments(text);
        if (definition.Length == text.Length || !_given.TryGetValue(GrainType.Create(definition), out var generic))
            return false;
        grainClass = generic.MakeGenericType(TypeNames.Parse(text[definition.Length..], _converter));
        return true;
    }
}

/// <summary>Names the grain types of classes: as a service of the application does, else as generated code does, else by the name of the
/// class.</summary>
/// <remarks>Any thread. Keeps the names.</remarks>
public class GrainTypeResolver
{
    private const string Suffix = "grain";

    private readonly ConcurrentDictionary<Type, GrainType> _names = new();
    private readonly IGrainTypeProvider[] _providers;
    private readonly TypeConverter _converter;

    /// <summary>Creates the resolver.</summary>
    /// <param name="resolvers">Asked first, in this order.</param>
    /// <param name="argumentFormatter">Writes the names of type arguments.</param>
    public GrainTypeResolver(IEnumerable<IGrainTypeProvider> resolvers, TypeConverter argumentFormatter)
    {
        _providers = [.. resolvers];
        _converter = argumentFormatter;
    }

    /// <summary>The grain type of the class.</summary>
    /// <exception cref="ArgumentException">It is no class.</exception>
    public GrainType GetGrainType(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        if (!type.IsClass)
            throw new ArgumentException(type + " is not a class.", nameof(type));
        return _names.TryGetValue(type, out var known) ? known : _names.GetOrAdd(type, Name(type));
    }

    private GrainType Name(Type type)
    {
        var definition = type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type;
        var name = NameOfDefinition(definition);
        return type.IsConstructedGenericType && name.AsSpan().IndexOf("[["u8) < 0
            ? GrainType.Create(name + "[[" + TypeNames.NamesOf(type.GetGenericArguments(), TypeNames.BetweenGrains, _converter) + "]]")
            : name;
    }

    private GrainType NameOfDefinition(Type type)
    {
        foreach (var provider in _providers)
        {
            if (provider.TryGetGrainType(type, out var given))
                return given;
        }

        if (TypeManifest.TryGetGrainClass(type, out var entry))
            return GrainType.Create(entry.GrainType);
        var name = type.Name.ToLowerInvariant();
        var arity = name.IndexOf('`', StringComparison.Ordinal) is >= 0 and var at ? name[at..] : "";
        name = name[..^arity.Length];
        if (name.Length > Suffix.Length && name.EndsWith(Suffix, StringComparison.Ordinal))
            name = name[..^Suffix.Length];
        return GrainType.Create(name + arity);
    }
}

/// <summary>Names grain interfaces: as a service of the application does, else as generated code does, else by the name of the
/// type.</summary>
/// <remarks>Any thread. Keeps the names.</remarks>
public class GrainInterfaceTypeResolver
{
    private readonly ConcurrentDictionary<Type, GrainInterfaceType> _names = new();
    private readonly IGrainInterfaceTypeProvider[] _providers;
    private readonly TypeConverter _converter;

    /// <summary>Creates the resolver.</summary>
    /// <param name="providers">Asked first, in this order.</param>
    /// <param name="typeConverter">Writes the names of types that generated code does not know.</param>
    public GrainInterfaceTypeResolver(IEnumerable<IGrainInterfaceTypeProvider> providers, TypeConverter typeConverter)
    {
        _providers = [.. providers];
        _converter = typeConverter;
    }

    /// <summary>The name of the interface.</summary>
    /// <exception cref="ArgumentException">It is no interface.</exception>
    public GrainInterfaceType GetGrainInterfaceType(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        if (_names.TryGetValue(type, out var known))
            return known;
        if (!type.IsInterface)
            throw new ArgumentException(type + " is not an interface.", nameof(type));
        return _names.GetOrAdd(type, Name(type));
    }

    /// <summary>The name of the interface without the services of the application.</summary>
    public GrainInterfaceType GetGrainInterfaceTypeByConvention(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        if (TypeManifest.TryGetInterface(type, out var entry))
            return GrainInterfaceType.Create(entry.Name);
        var definition = type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type;
        return WithArguments(type, definition.FullName ?? definition.Name);
    }

    private GrainInterfaceType Name(Type type)
    {
        foreach (var provider in _providers)
        {
            if (provider.TryGetGrainInterfaceType(type, out var given))
                return WithArguments(type, given.ToString()!);
        }

        return GetGrainInterfaceTypeByConvention(type);
    }

    private GrainInterfaceType WithArguments(Type type, string name) => GrainInterfaceType.Create(
        type.IsConstructedGenericType && !name.Contains('<', StringComparison.Ordinal)
            ? name + "<" + TypeNames.NamesOf(type.GetGenericArguments(), ",", _converter) + ">"
            : name);
}

/// <summary>Names of type arguments within the names of grain types and interfaces: those of generated code, if it has one.</summary>
internal static class TypeNames
{
    /// <summary>What stands between two arguments of a grain type.</summary>
    internal const string BetweenGrains = "],[";

    internal static string NamesOf(Type[] arguments, string separator, TypeConverter? converter) => string.Join(separator, arguments.Select(
        argument => TypeManifest.TryNameOf(argument, out var name) ? name
            : converter is null ? argument.ToString() : "{" + converter.Format(argument) + "}"));

    /// <param name="arguments">With the brackets around them.</param>
    /// <param name="converter">Reads the names that generated code does not know; these are in braces.</param>
    /// <exception cref="SerializerException">A name is not known.</exception>
    internal static Type[] Parse(string arguments, TypeConverter? converter)
    {
        if (converter is null || !arguments.Contains('{', StringComparison.Ordinal))
            return TypeManifest.ParseGrainArguments(arguments);
        var names = new List<string>();
        var (depth, begin, end) = (0, 2, arguments.Length - 2);
        for (var at = begin; at < end; at++)
        {
            depth += arguments[at] switch { '{' => 1, '}' => -1, _ => 0 };
            if (depth > 0 || !arguments.AsSpan(at, end - at).StartsWith(BetweenGrains))
                continue;
            names.Add(arguments[begin..at]);
            begin = at + BetweenGrains.Length;
        }

        names.Add(arguments[begin..end]);
        return [.. names.Select(name =>
            name is ['{', .., '}'] ? converter.Parse(name[1..^1]) : TypeManifest.ParseArguments(name).Single())];
    }
}
