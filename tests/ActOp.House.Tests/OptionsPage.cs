using System.Collections;
using System.Globalization;
using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace ActOp.House.Tests;

/// <summary>docs/options.md: a table for each class of options, from its XML docs and the values of a new instance.</summary>
internal static partial class OptionsPage
{
    private const string Head = """
        # Options

        Every option of a silo, a client and a test cluster, with its default. Set them with `Configure<T>` on the silo builder, the client
        builder or the services, or in the configuration. Wrong values are refused at start. `docs/migrating-from-orleans.md` lists the options that have no
        effect. This page is made from the documentation of the code: run the tests of ActOp.House.Tests with `ACTOP_UPDATE_API=1`.

        """;

    private static readonly Dictionary<Assembly, Dictionary<string, XElement>> Documents = [];

    internal static string Text(IEnumerable<PropertyInfo> options)
    {
        var page = new StringBuilder(Head);
        foreach (var group in options.GroupBy(static option => option.DeclaringType!)
            .OrderBy(static g => g.Key.Name, StringComparer.Ordinal))
        {
            page.Append("\n## ").Append(NameOf(group.Key)).Append("\n\n");
            page.Append(Summary(group.Key.Assembly, "T:" + group.Key.FullName)).Append(" Namespace `").Append(group.Key.Namespace)
                .Append("`.\n\n");
            page.Append("| option | type | default | meaning |\n|---|---|---|---|\n");
            var instance = Instance(group.Key);
            foreach (var option in group.OrderBy(static option => option.Name, StringComparer.Ordinal))
            {
                page.Append("| `").Append(option.Name).Append("` | `").Append(NameOf(option.PropertyType)).Append("` | ")
                    .Append(Default(option, instance))
                    .Append(" | ").Append(Summary(group.Key.Assembly, "P:" + group.Key.FullName + "." + option.Name)).Append(" |\n");
            }
        }

        return page.ToString();
    }

    private static object? Instance(Type type) =>
        type is { IsAbstract: false, ContainsGenericParameters: false } && type.GetConstructor(Type.EmptyTypes) is not null
            ? Activator.CreateInstance(type) : null;

    private static string Default(PropertyInfo option, object? instance)
    {
        if (instance is null || option.GetMethod is null || option.GetIndexParameters().Length > 0)
            return "";
        return option.GetValue(instance) switch
        {
            null => "",
            string { Length: 0 } => "",
            string text => "`" + text + "`",
            bool value => value ? "true" : "false",
            TimeSpan time => Text(time),
            Delegate => "",
            IEnumerable => "",
            IFormattable value => value.ToString(null, CultureInfo.InvariantCulture),
            _ => "",
        };
    }

    private static string Text(TimeSpan time) => time switch
    {
        _ when time == Timeout.InfiniteTimeSpan || time == TimeSpan.MaxValue => "infinite",
        { Ticks: 0 } => "0",
        { TotalMilliseconds: < 1_000 } => Number(time.TotalMilliseconds) + " ms",
        { TotalSeconds: < 120 } => Number(time.TotalSeconds) + " s",
        { TotalMinutes: < 120 } => Number(time.TotalMinutes) + " min",
        { TotalHours: < 48 } => Number(time.TotalHours) + " h",
        _ => Number(time.TotalDays) + " days",
    };

    private static string Number(double value) => value.ToString("0.###", CultureInfo.InvariantCulture);

    private static string NameOf(Type type)
    {
        if (Nullable.GetUnderlyingType(type) is { } value)
            return NameOf(value) + "?";
        var name = Type.GetTypeCode(type) switch
        {
            _ when type.IsEnum => type.Name,
            TypeCode.Int32 => "int",
            TypeCode.Int64 => "long",
            TypeCode.UInt16 => "ushort",
            TypeCode.Single => "float",
            TypeCode.Boolean or TypeCode.String or TypeCode.Double or TypeCode.Byte => type.Name.ToLowerInvariant(),
            _ => type.Name.Split('`')[0],
        };
        return type.IsGenericType ? name + "<" + string.Join(", ", type.GetGenericArguments().Select(NameOf)) + ">" : name;
    }

    private static string Summary(Assembly assembly, string member)
    {
        if (!Documents.TryGetValue(assembly, out var documents))
        {
            var file = Path.ChangeExtension(Path.Combine(AppContext.BaseDirectory, assembly.GetName().Name + ".dll"), ".xml");
            documents = XDocument.Load(file).Descendants("member")
                .ToDictionary(static m => (string)m.Attribute("name")!, static m => m, StringComparer.Ordinal);
            Documents[assembly] = documents;
        }

        var summary = documents.GetValueOrDefault(member)?.Element("summary");
        return summary is null ? "" : Space().Replace(string.Concat(summary.Nodes().Select(Text)), " ").Trim().Replace("|", "\\|");
    }

    private static string Text(XNode node) => node switch
    {
        XText text => text.Value,
        XElement { Name.LocalName: "see" } see when see.Attribute("cref") is { } cref =>
            "`" + cref.Value.Split(':')[^1].Split('(')[0].Split('.')[^1] + "`",
        XElement { Name.LocalName: "see" } see => "`" + (string?)see.Attribute("langword") + "`",
        XElement { Name.LocalName: "paramref" or "typeparamref" } named => "`" + (string?)named.Attribute("name") + "`",
        XElement { Name.LocalName: "c" } code => "`" + code.Value + "`",
        XElement other => string.Concat(other.Nodes().Select(Text)),
        _ => "",
    };

    [GeneratedRegex(@"\s+")]
    private static partial Regex Space();
}
