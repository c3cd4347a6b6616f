using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using ActOp.Serialization;
using Microsoft.Extensions.Options;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.TypeSystem;

namespace Orleans.Serialization;

/// <summary>Names of types in a form of their own.</summary>
public interface ITypeConverter
{
    bool TryFormat(Type type, out string formatted);

    bool TryParse(string formatted, out Type type);
}

/// <summary>Says whether a type may be used: true, false, or null for no opinion.</summary>
public interface ITypeFilter
{
    bool? IsTypeAllowed(Type type);
}

/// <summary>Says whether a name may be used: true, false, or null for no opinion.</summary>
public interface ITypeNameFilter
{
    bool? IsTypeNameAllowed(string typeName, string assemblyName);
}

/// <summary>
/// Writes and reads names of types. A name that is read is used only when a filter, the options or the manifest allow it, and finds types
/// of loaded assemblies only. Any thread.
/// </summary>
public class TypeConverter
{
    private const int MaxLength = 4096;

    /// <summary>Names that are kept: a type that is made from a name counts for the peer that names it, once.</summary>
    private const int MaxNames = 16_384;

    private readonly ITypeConverter[] _converters;
    private readonly ITypeNameFilter[] _nameFilters;
    private readonly ITypeFilter[] _typeFilters;
    private readonly TypeManifestOptions _options;
    private readonly TypeResolver _resolver;
    private readonly HashSet<Type> _named;
    private readonly Dictionary<Type, string> _aliases;
    private readonly ConcurrentDictionary<QualifiedType, bool> _allowed = new();
    private readonly ConcurrentDictionary<string, Type> _parsed = new(StringComparer.Ordinal);

    public TypeConverter(
        IEnumerable<ITypeConverter> formatters, IEnumerable<ITypeNameFilter> typeNameFilters, IEnumerable<ITypeFilter> typeFilters,
        IOptions<TypeManifestOptions> options, TypeResolver typeResolver)
    {
        _converters = [.. formatters];
        _nameFilters = [.. typeNameFilters];
        _typeFilters = [.. typeFilters];
        _options = options.Value;
        _resolver = typeResolver;
        _named = [.. _options.Interfaces, .. _options.InterfaceProxies, .. _options.InterfaceImplementations];
        _aliases = _options.WellKnownTypeAliases.GroupBy(static p => p.Value).ToDictionary(static g => g.Key, static g => g.First().Key);
    }

    /// <summary>The name of a type.</summary>
    /// <param name="type">The type.</param>
    /// <param name="allowAllTypes">Whether types that could not be read are written too.</param>
    public string Format(Type type, bool allowAllTypes = false) => Format(type, static spec => spec, allowAllTypes);

    /// <summary>The name of a type after <paramref name="rewriter"/> has changed it.</summary>
    public string Format(Type type, Func<TypeSpec, TypeSpec> rewriter, bool allowAllTypes = false)
    {
        foreach (var converter in _converters)
        {
            if (converter.TryFormat(type, out var formatted))
                return formatted;
        }

        var spec = Describe(type, allowAllTypes);
        return rewriter(spec).Format();
    }

    /// <exception cref="InvalidOperationException">The type is not allowed, or the name is malformed.</exception>
    /// <exception cref="TypeLoadException">There is no such type.</exception>
    public Type Parse(string formatted) =>
        TryParse(formatted, out var type) ? type : throw new TypeLoadException("Unable to parse or load type \"" + formatted + "\".");

    public bool TryParse(string formatted, [NotNullWhen(true)] out Type? result)
    {
        if (formatted.Length > MaxLength)
            throw new SerializerException("A type name is longer than " + MaxLength + " characters.");
        foreach (var converter in _converters)
        {
            if (converter.TryParse(formatted, out result))
                return true;
        }

        if (_parsed.TryGetValue(formatted, out result))
            return true;
        result = Resolve(RuntimeTypeNameParser.Parse(formatted), null);
        if (result is not null && _parsed.Count < MaxNames)
            _parsed.TryAdd(formatted, result);
        return result is not null;
    }

    /// <summary>
    /// Whether a type is allowed, each part of it, for more than that its assembly has generated code: text that creates objects and sets
    /// their properties names only what is meant to be written. Other names are looked up in codecs, which only such types have.
    /// </summary>
    internal bool AllowsItself(Type type)
    {
        if (type.GetElementType() is { } element)
            return AllowsItself(element);
        if (type.IsConstructedGenericType)
            return AllowsItself(type.GetGenericTypeDefinition()) && Array.TrueForAll(type.GetGenericArguments(), AllowsItself);
        return _options.AllowAllTypes || _aliases.ContainsKey(type) || TypeManifest.TryGetAlias(type, out _)
            || AskFilters(new QualifiedType(type.Assembly.GetName().Name, type.FullName ?? type.Name), type, itself: true);
    }

    private TypeSpec Describe(Type type, bool allowAllTypes)
    {
        if (type.IsArray)
            return Qualify(new ArrayTypeSpec(Describe(type.GetElementType()!, allowAllTypes), type.GetArrayRank()));
        if (type.IsPointer)
            return Qualify(new PointerTypeSpec(Describe(type.GetElementType()!, allowAllTypes)));
        if (type.IsByRef)
            return Qualify(new ReferenceTypeSpec(Describe(type.GetElementType()!, allowAllTypes)));
        if (!type.IsConstructedGenericType)
            return DescribeNamed(type, allowAllTypes);
        var definition = DescribeNamed(type.GetGenericTypeDefinition(), allowAllTypes);
        var arguments = type.GetGenericArguments().Select(a => Describe(a, allowAllTypes)).ToArray();
        return definition is AssemblyQualifiedTypeSpec qualified
            ? new AssemblyQualifiedTypeSpec(new ConstructedGenericTypeSpec(qualified.Type, arguments.Length, arguments), qualified.Assembly)
            : new ConstructedGenericTypeSpec(definition, arguments.Length, arguments);
    }

    private TypeSpec DescribeNamed(Type type, bool allowAllTypes)
    {
        var arity = type.IsGenericType ? type.GetGenericArguments().Length : 0;
        if (_aliases.TryGetValue(type, out var alias) || TypeManifest.TryGetAlias(type, out alias))
            return new TupleTypeSpec([new LiteralTypeSpec(alias)], arity);
        var spec = RuntimeTypeNameParser.Parse(RuntimeTypeNameFormatter.Format(type));
        var name = spec is AssemblyQualifiedTypeSpec qualified
            ? new QualifiedType(qualified.Assembly, qualified.Type.Format()) : new QualifiedType(null, spec.Format());
        if (!allowAllTypes && !IsAllowed(name, type))
            throw NotAllowed(name);
        return spec;
    }

    /// <summary>The assembly is written behind the suffix.</summary>
    private static TypeSpec Qualify(TypeSpec spec)
    {
        var element = spec switch
        {
            ArrayTypeSpec array => array.ElementType,
            PointerTypeSpec pointer => pointer.ElementType,
            _ => ((ReferenceTypeSpec)spec).ElementType,
        };
        if (element is not AssemblyQualifiedTypeSpec qualified)
            return spec;
        TypeSpec wrapped = spec switch
        {
            ArrayTypeSpec array => new ArrayTypeSpec(qualified.Type, array.Dimensions),
            PointerTypeSpec => new PointerTypeSpec(qualified.Type),
            _ => new ReferenceTypeSpec(qualified.Type),
        };
        return new AssemblyQualifiedTypeSpec(wrapped, qualified.Assembly);
    }

    private Type? Resolve(TypeSpec spec, string? assembly)
    {
        try
        {
            switch (spec)
            {
                case AssemblyQualifiedTypeSpec qualified:
                    return Resolve(qualified.Type, qualified.Assembly);
                case ArrayTypeSpec array:
                    TypeShare.CountTypes(1);
                    return Resolve(array.ElementType, assembly) is not { } item
                        ? null : array.Dimensions == 1 ? item.MakeArrayType() : item.MakeArrayType(array.Dimensions);
                case PointerTypeSpec pointer:
                    return Resolve(pointer.ElementType, assembly)?.MakePointerType();
                case ReferenceTypeSpec reference:
                    return Resolve(reference.ElementType, assembly)?.MakeByRefType();
                case ConstructedGenericTypeSpec generic:
                    TypeShare.CountTypes(1);
                    var definition = Resolve(generic.UnconstructedType, assembly);
                    var arguments = generic.Arguments.Select(a => Resolve(a, null)).ToArray();
                    return definition is null || arguments.Contains(null) ? null : definition.MakeGenericType(arguments!);
                case TupleTypeSpec tuple:
                    return ResolveTuple(tuple);
                default:
                    return ResolveNamed(new QualifiedType(assembly, spec.Format()));
            }
        }
        catch (Exception exception) when (exception is ArgumentException or NotSupportedException)
        {
            throw new TypeLoadException("The type \"" + spec.Format() + "\" cannot be made.", exception);
        }
    }

    private Type? ResolveTuple(TupleTypeSpec tuple)
    {
        if (tuple.Elements is [LiteralTypeSpec { Value: var alias }])
        {
            if (_options.WellKnownTypeAliases.TryGetValue(alias, out var type) || TypeManifest.TryGetAliased(alias, out type))
                return type;
        }

        var tree = _options.CompoundTypeAliases;
        foreach (var element in tuple.Elements)
        {
            object? key = element is LiteralTypeSpec literal ? literal.Value : Resolve(element, null);
            if (key is null || tree.FindChild(key) is not { } next)
                return null;
            tree = next;
        }

        return tree.Value;
    }

    private Type? ResolveNamed(QualifiedType name)
    {
        if (!_resolver.TryResolveType(name.Type + (name.Assembly is null ? "" : "," + name.Assembly), out var type)
            && !(name.Assembly is null && TypeManifest.TryGetType(name.Type, out type)))
        {
            return null;
        }

        return IsAllowed(name, type) ? type : throw NotAllowed(name);
    }

    private bool IsAllowed(QualifiedType name, Type type)
    {
        if (_options.AllowAllTypes)
            return true;
        if (_allowed.TryGetValue(name, out var allowed))
            return allowed;
        allowed = AskFilters(name, type);
        if (allowed)
            _allowed.TryAdd(name, true);
        return allowed;
    }

    private bool AskFilters(QualifiedType name, Type type, bool itself = false)
    {
        bool? answer = null;
        foreach (var filter in _nameFilters)
        {
            if (itself && filter is DefaultTypeFilter)
                continue;
            var said = filter.IsTypeNameAllowed(name.Type, name.Assembly ?? "");
            if (said == false)
                return false;
            answer ??= said;
        }

        foreach (var filter in _typeFilters)
        {
            var said = filter.IsTypeAllowed(type);
            if (said == false)
                return false;
            answer ??= said;
        }

        return answer
            ?? (TypeManifest.TryNameOf(type, out _) || (name.Assembly is not null && _options.AllowedAssemblies.Contains(name.Assembly))
            || _options.AllowedTypes.Contains(RuntimeTypeNameFormatter.Format(type)) || _options.AllowedTypes.Contains(name.Type)
            || _named.Contains(type) || FieldCodecSource.Current?.Supports(type) is true);
    }

    private static InvalidOperationException NotAllowed(QualifiedType name) => new(
        "Type \"" + name.Type + "\" from assembly \"" + name.Assembly + "\" is not allowed. To allow it, add it to "
        + nameof(TypeManifestOptions) + "." + nameof(TypeManifestOptions.AllowedTypes) + " or register an " + nameof(ITypeNameFilter)
        + " which allows it.");
}
