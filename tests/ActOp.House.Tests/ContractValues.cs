using System.Collections;
using System.Globalization;
using System.Reflection;
using Microsoft.CodeAnalysis;

namespace ActOp.House.Tests;

/// <summary>
/// What members of the contract are worth: defaults of options, static values, optional parameters, and the attributes that applications
/// and the compiler see. An entry is what has the value, an equals sign between spaces, and the value.
/// </summary>
internal static class ContractValues
{
    internal const string Sign = " = ";

    private const string Path = "tests/ActOp.House.Tests/Lists/orleans-api-values.txt";

    private const string Header = """
        # What Orleans 10.4.2 has as defaults of options ("new"), static values, optional parameters and attributes. Written by
        # The_list_of_values_is_that_of_Orleans with ACTOP_UPDATE_API=1; orleans-api-values-otherwise.txt has what differs here.

        """;

    private const BindingFlags Own = BindingFlags.Public | BindingFlags.DeclaredOnly;

    /// <summary>All entries of assemblies, and what could have one.</summary>
    /// <param name="types">Their public types, from <see cref="Contract.TypesIn"/>.</param>
    /// <param name="assemblies">The same assemblies, to make options.</param>
    internal static (SortedSet<string> Entries, HashSet<string> Owners) Of(
        Dictionary<string, List<INamedTypeSymbol>> types, IEnumerable<Assembly> assemblies)
    {
        SortedSet<string> entries = new(StringComparer.Ordinal);
        HashSet<string> owners = new(StringComparer.Ordinal);
        foreach (var (key, symbols) in types.Where(static pair => pair.Key.StartsWith("Orleans.", StringComparison.Ordinal)))
        {
            foreach (var symbol in symbols)
                OfSymbol(key, symbol, entries, owners);
        }

        foreach (var (owner, value) in assemblies.SelectMany(static assembly => assembly.GetExportedTypes()).SelectMany(OfType))
        {
            owners.Add(owner);
            entries.Add(owner + Sign + value);
        }

        return (entries, owners);
    }

    /// <summary>The entries of the list, which are those of Orleans.</summary>
    internal static IReadOnlySet<string> Listed() => Repository.Text(Path).Split('\n').Where(static line =>
        line.Length > 0 && line[0] != '#').ToHashSet(StringComparer.Ordinal);

    /// <summary>Replaces the list.</summary>
    internal static void Write(IEnumerable<string> entries) => File.WriteAllText(
        System.IO.Path.Combine(Repository.Root, Path), Header + string.Join('\n', entries) + "\n");

    /// <summary>What has the value of an entry.</summary>
    internal static string OwnerOf(string entry) => entry[..entry.IndexOf(Sign, StringComparison.Ordinal)];

    /// <summary>The attributes of a type and its members, and their optional parameters.</summary>
    private static void OfSymbol(string key, INamedTypeSymbol type, SortedSet<string> entries, HashSet<string> owners)
    {
        AddAttributes(key, type, entries, owners);
        foreach (var member in type.GetMembers().Where(static member => Contract.IsAccessible(member) && !member.IsImplicitlyDeclared
            && ContractText.Of(member).Length > 0 && member is not IMethodSymbol { AssociatedSymbol: not null }))
        {
            var defaults = member is IMethodSymbol method
                ? string.Join(", ", method.Parameters.Where(static one => one.HasExplicitDefaultValue).Select(static one =>
                    one.Name + ": " + ContractText.Value(one)))
                : "";
            var owner = key + " | " + ContractText.Of(member, withDefaults: false).Replace("~", "", StringComparison.Ordinal);
            owners.Add(owner + " defaults");
            if (defaults.Length > 0)
                entries.Add(owner + " defaults" + Sign + defaults);
            AddAttributes(owner, member, entries, owners);
        }
    }

    private static void AddAttributes(string owner, ISymbol symbol, SortedSet<string> entries, HashSet<string> owners)
    {
        foreach (var name in (string[])["Obsolete", "AttributeUsage", "Experimental", "GenerateSerializer", "Alias", "Id", "Immutable"])
        {
            owners.Add(owner + " [" + name + "]");
            var values = symbol.GetAttributes().Where(attribute => attribute.AttributeClass?.Name == name + "Attribute")
                .Select(Text).Order(StringComparer.Ordinal).ToArray();
            if (values.Length > 0)
                entries.Add(owner + " [" + name + "]" + Sign + string.Join(", ", values));
        }
    }

    /// <summary>The arguments of an attribute. Texts for readers may differ; what the compiler does with them may not.</summary>
    private static string Text(AttributeData attribute)
    {
        var isObsolete = attribute.AttributeClass!.Name == "ObsoleteAttribute";
        var arguments = attribute.ConstructorArguments.Where(argument => !isObsolete || argument.Value is bool)
            .Select(static argument => argument.Kind == TypedConstantKind.Enum && argument.Type!.Name == "AttributeTargets"
                ? ((AttributeTargets)argument.Value!).ToString() : Convert.ToString(argument.Value, CultureInfo.InvariantCulture));
        var named = attribute.NamedArguments
            .Where(static one => one.Key is "AllowMultiple" or "Inherited" or "DiagnosticId" or "IncludePrimaryConstructorParameters")
            // What it would be without being said.
            .Where(static one => one is not ({ Key: "AllowMultiple", Value.Value: false } or { Key: "Inherited", Value.Value: true }))
            .Select(static one => one.Key + ": " + one.Value.Value).Order(StringComparer.Ordinal);
        return string.Join(", ", [.. arguments, .. named]) is { Length: > 0 } text ? text : "yes";
    }

    /// <summary>Constants and other static values, and what a new object of options has.</summary>
    private static IEnumerable<(string Owner, string Value)> OfType(Type type)
    {
        if (type.Namespace is not { } space || !(space + ".").StartsWith("Orleans.", StringComparison.Ordinal) || type.IsEnum)
            yield break;
        var name = type.FullName!.Replace('+', '.');
        if (!type.ContainsGenericParameters)
        {
            foreach (var field in type.GetFields(Own | BindingFlags.Static).Where(static field => IsSimple(field.FieldType)))
                yield return (name + " | static " + field.Name, Text(() => field.GetValue(null)));
            foreach (var property in type.GetProperties(Own | BindingFlags.Static).Where(static one => one.GetMethod?.IsPublic == true
                && IsSimple(one.PropertyType)))
            {
                yield return (name + " | static " + property.Name, Text(() => property.GetValue(null)));
            }
        }

        if (!IsOptions(type))
            yield break;
        var options = Activator.CreateInstance(type);
        foreach (var property in type.GetProperties(BindingFlags.Public | BindingFlags.Instance).Where(static one =>
            one.GetMethod?.IsPublic == true && one.GetIndexParameters().Length == 0
            // As many as the machine has processors.
            && one.Name != "IOQueueCount"))
        {
            yield return (name + " | new " + property.Name, Text(() => property.GetValue(options)));
        }
    }

    private static bool IsOptions(Type type) => !type.IsAbstract && !type.ContainsGenericParameters
        && (type.IsValueType || type.GetConstructor(Type.EmptyTypes) is not null)
        && (type.Name.EndsWith("Options", StringComparison.Ordinal) || type.Namespace == "Orleans.Configuration");

    private static bool IsSimple(Type type) => type.IsPrimitive || type.IsEnum || type == typeof(string) || type == typeof(TimeSpan)
        || type == typeof(decimal) || type == typeof(Guid) || Nullable.GetUnderlyingType(type) is { } inner && IsSimple(inner);

    private static string Text(Func<object?> read)
    {
        try
        {
            return Text(read());
        }
        catch (TargetInvocationException exception)
        {
            return "throws " + exception.InnerException!.GetType().Name;
        }
    }

    private static string Text(object? value) => value switch
    {
        null => "null",
        string text => "\"" + text + "\"",
        IFormattable plain when IsSimple(value.GetType()) => plain.ToString(null, CultureInfo.InvariantCulture),
        bool yes => yes ? "true" : "false",
        Delegate => "a delegate",
        IEnumerable many => "[" + string.Join(", ", many.Cast<object?>().Select(Text)) + "]",
        _ => "a " + value.GetType().Name,
    };
}
