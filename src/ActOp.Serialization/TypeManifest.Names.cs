using System.Collections.Concurrent;
using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <content>
/// Names of types on the wire: <c>name</c> (alias or full name, with the arity of generic types: <c>List`1</c>),
/// <c>name&lt;argument,argument&gt;</c>, <c>element[]</c>, <c>element[,]</c>. Type arguments of calls are such names with commas between.
/// </content>
public static partial class TypeManifest
{
    /// <summary>How deep names may be nested, and how many constructed types peers may name: types are never unloaded.</summary>
    private const int MaxNesting = 16;
    private const int MaxConstructed = 16384;

    /// <summary>Longest name that a peer may use: it bounds the size of the structs that can be made from it.</summary>
    private const int MaxNameLength = 4096;

    private static readonly ConcurrentDictionary<string, Type> TypesByName = new(StringComparer.Ordinal);
    private static readonly ConcurrentDictionary<Type, string> NamesByType = new();
    private static readonly ConcurrentDictionary<string, Type> ConstructedByName = new(StringComparer.Ordinal);
    private static readonly ConcurrentDictionary<Type, string> ConstructedNames = new();
    private static readonly ConcurrentDictionary<Type, byte> MadeTypes = new();

    /// <summary>Registers a type's name; its full name is understood too. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void AddType(Type type, string name)
    {
        if (!NamesByType.TryAdd(type, name))
            return;
        var found = TypesByName.GetOrAdd(name, type);
        if (found != type)
            throw new InvalidOperationException("The types " + found + " and " + type + " have the same name on the wire: " + name + ".");
        if (type.FullName is { } fullName)
            TypesByName.TryAdd(fullName, type);
    }

    /// <summary>The name of a registered type or of one made from registered types.</summary>
    /// <exception cref="CodecNotFoundException">The type is not registered.</exception>
    public static string NameOf(Type type) =>
        TryNameOf(type, out var name) ? name : throw new CodecNotFoundException("The type " + type + " has no name on the wire: it has no [GenerateSerializer], or its assembly has no generated code.");

    /// <summary>The name of a type, if it is registered or made from registered types.</summary>
    public static bool TryNameOf(Type type, [NotNullWhen(true)] out string? name)
    {
        if (NamesByType.TryGetValue(type, out name) || ConstructedNames.TryGetValue(type, out name))
            return true;
        BuiltIn.Register();
        if (NamesByType.TryGetValue(type, out name))
            return true;
        name = BuildName(type);
        if (name is null)
            return false;
        ConstructedNames.TryAdd(type, name);
        return true;
    }

    /// <summary>
    /// Type arguments for <see cref="Calls.CallMethod.TypeArguments"/>. A type that is not registered does not hinder local calls; a peer
    /// refuses its name. Called by generated code.
    /// </summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static string NameArguments(params Type[] types) => string.Join(',', types.Select(static type => TryNameOf(type, out var name) ? name : type.ToString()));

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
            throw new SerializerException("A type name on the wire is longer than " + MaxNameLength + " characters.");
        var rest = name.AsSpan();
        type = Parse(ref rest, 0);
        if (type is null)
            return false;
        if (!rest.IsEmpty)
            throw new SerializerException("The type name " + name + " is malformed.");
        ConstructedByName.TryAdd(name, type);
        return true;
    }

    /// <summary>Reads what <see cref="NameArguments"/> wrote.</summary>
    /// <exception cref="SerializerException">A name is malformed or not registered.</exception>
    internal static Type[] ParseArguments(string text)
    {
        BuiltIn.Register();
        if (text.Length > MaxNameLength)
            throw new SerializerException("Type arguments on the wire are longer than " + MaxNameLength + " characters.");
        var rest = text.AsSpan();
        return ParseList(ref rest, 0) is { } types && rest.IsEmpty ? types : throw new SerializerException("The type arguments " + text + " are malformed or name types that are not registered.");
    }

    private static string? BuildName(Type type)
    {
        if (type.IsArray)
            return (!type.IsSZArray && type.GetArrayRank() == 1) || !TryNameOf(type.GetElementType()!, out var element) ? null : element + "[" + new string(',', type.GetArrayRank() - 1) + "]";
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
            throw new SerializerException("A type name on the wire is nested more than " + MaxNesting + " deep.");
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
            throw new SerializerException("An array type's name on the wire is malformed.");
        rest = rest[(close + 1)..];
        return Made(close == 1 ? element.MakeArrayType() : element.MakeArrayType(close));
    }

    private static Type Construct(Type definition, Type[] arguments)
    {
        if (!definition.IsGenericTypeDefinition || definition.GetGenericArguments().Length != arguments.Length)
            throw new SerializerException("The type " + definition + " does not take " + arguments.Length + " type arguments.");
        try
        {
            return Made(definition.MakeGenericType(arguments));
        }
        catch (Exception exception) when (exception is ArgumentException or TypeLoadException)
        {
            throw new SerializerException("The type arguments do not fit " + definition + ".", exception);
        }
    }

    /// <summary>Counts the types that were made from names, also those of names that turned out to be wrong.</summary>
    private static Type Made(Type type)
    {
        if (MadeTypes.ContainsKey(type))
            return type;
        if (MadeTypes.Count >= MaxConstructed)
            throw new SerializerException("Peers have named more than " + MaxConstructed + " constructed types.");
        MadeTypes.TryAdd(type, 0);
        return type;
    }
}
