using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using ActOp.Serialization;

namespace Orleans.Serialization.TypeSystem;

/// <summary>Finds types by names that <see cref="RuntimeTypeNameFormatter"/> wrote.</summary>
public abstract class TypeResolver
{
    /// <exception cref="TypeLoadException">There is no such type.</exception>
    public abstract Type ResolveType(string name);

    public abstract bool TryResolveType(string name, [NotNullWhen(true)] out Type? type);
}

/// <summary>Finds types in the assemblies that the process has loaded; a name loads none. Any thread.</summary>
public sealed class CachedTypeResolver : TypeResolver
{
    /// <summary>Names that are kept.</summary>
    private const int MaxNames = 16_384;

    private readonly ConcurrentDictionary<string, Type> _types = new(StringComparer.Ordinal);

    public static string GetName(Assembly assembly) => assembly.GetName().Name ?? "";

    public override Type ResolveType(string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        return TryResolveType(name, out var type) ? type : throw new TypeLoadException("Unable to find a type named " + name);
    }

    public override bool TryResolveType(string name, [NotNullWhen(true)] out Type? type)
    {
        if (string.IsNullOrWhiteSpace(name))
        {
            type = null;
            return false;
        }

        if (_types.TryGetValue(name, out type))
            return true;
        type = FindType(name);
        if (type is not null && _types.Count < MaxNames)
            _types.TryAdd(name, type);
        return type is not null;
    }

    private static Type? FindType(string name)
    {
        try
        {
            return Type.GetType(name, static assembly => Loaded(assembly.Name), FindIn, throwOnError: false);
        }
        catch (Exception exception) when (exception
            is ArgumentException or IOException or BadImageFormatException or TypeLoadException or NotSupportedException)
        {
            return null;
        }
    }

    private static Type? FindIn(Assembly? assembly, string name, bool ignoreCase)
    {
        if (assembly is not null)
            return assembly.GetType(name, throwOnError: false);
        if (typeof(object).Assembly.GetType(name, throwOnError: false) is { } found)
            return found;
        foreach (var each in AppDomain.CurrentDomain.GetAssemblies())
        {
            if (!each.IsDynamic && each.GetType(name, throwOnError: false) is { } type)
                return type;
        }

        return null;
    }

    private static Assembly? Loaded(string? name) =>
        AppDomain.CurrentDomain.GetAssemblies().FirstOrDefault(assembly => assembly.GetName().Name == name);
}

/// <summary>Allows the types of the manifest and of assemblies with generated code.</summary>
public sealed class DefaultTypeFilter : ITypeNameFilter
{
    public bool? IsTypeNameAllowed(string typeName, string assemblyName)
    {
        if (TypeManifest.IsTypeName(typeName))
            return true;
        if (!string.IsNullOrEmpty(assemblyName) && TypeManifest.IsGeneratedAssembly(assemblyName))
            return true;
        return null;
    }
}

/// <summary>Names that are put together of parts, as a tree of the parts.</summary>
public class CompoundTypeAliasTree
{
    private readonly Dictionary<object, CompoundTypeAliasTree> _children = [];

    private CompoundTypeAliasTree(object? key, Type? value)
    {
        Key = key;
        Value = value;
    }

    public object? Key { get; }

    public Type? Value { get; private set; }

    public static CompoundTypeAliasTree Create() => new(null, null);

    public CompoundTypeAliasTree Add(Type key) => AddPart(key);

    public CompoundTypeAliasTree Add(string key) => AddPart(key);

    public CompoundTypeAliasTree Add(Type key, Type value) => AddPart(key, value);

    public CompoundTypeAliasTree Add(string key, Type value) => AddPart(key, value);

    internal CompoundTypeAliasTree? FindChild(object key) => _children.GetValueOrDefault(key);

    private CompoundTypeAliasTree AddPart(object key, Type? value = null)
    {
        if (_children.TryGetValue(key, out var existing))
        {
            if (value is null || existing.Value == value)
                return existing;
            if (existing.Value is not null)
            {
                throw new InvalidOperationException(
                    "A key with the same value already exists: " + key + ", " + existing.Value + " and " + value + ".");
            }

            existing.Value = value;
            return existing;
        }

        return _children[key] = new CompoundTypeAliasTree(key, value);
    }
}
