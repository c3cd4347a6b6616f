using System.Reflection;
using System.Text.RegularExpressions;
using ActOp.Runtime.Nodes;

namespace ActOp.House.Tests;

/// <summary>
/// Every public option of ours has an effect that a test shows, or a start that sets it reports that it has none. Lists/options.txt says
/// which of the two: <c>Class.Option</c>, then the tests that show its effect, or the word <c>none</c>.
/// </summary>
public partial class OptionTests(ITestOutputHelper output)
{
    private const string None = "none";
    private const string Tuning = "tuning";
    private const string Untested = "untested";

    private static readonly Assembly[] Assemblies =
    [
        typeof(Orleans.Grain).Assembly, typeof(Serialization.TypeManifest).Assembly,
        typeof(Orleans.Serialization.Serializer).Assembly, typeof(Mesh.MeshOptions).Assembly,
        typeof(Partitioning.PartitioningOptions).Assembly, typeof(Staging.Stage).Assembly, typeof(Node).Assembly,
        typeof(Orleans.Hosting.ActivationRepartitioningExtensions).Assembly, typeof(Orleans.Hosting.MemoryGrainStorageSiloBuilderExtensions).Assembly,
        typeof(Orleans.Hosting.SiloBuilderStreamingExtensions).Assembly, typeof(Orleans.Hosting.SiloBuilderReminderMemoryExtensions).Assembly,
        typeof(Orleans.Hosting.ActivationRebalancerExtensions).Assembly, typeof(Orleans.Hosting.ClientBuilder).Assembly,
        typeof(Orleans.TestingHost.TestCluster).Assembly,
    ];

    private static readonly Dictionary<string, string> Table = Repository.List("options.txt");

    private static PropertyInfo[] Options => [.. from assembly in Assemblies
                                                 from type in assembly.GetExportedTypes()
                                                 where type.IsClass && type.Name.EndsWith("Options", StringComparison.Ordinal)
                                                     // Views of the settings that .NET reads in a handshake of TLS.
                                                     && !type.Name.EndsWith("AuthenticationOptions", StringComparison.Ordinal)
                                                     && type.Namespace is { } space && (space.StartsWith("ActOp", StringComparison.Ordinal)
                                                     || space.StartsWith("Orleans", StringComparison.Ordinal))
                                                 from option in type.GetProperties(
                                                     BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly)
                                                 select option];

    [Fact]
    public void Every_option_is_in_the_table() =>
        Findings.None(Options.Select(NameOf).Except(Table.Keys).Select(static name => name + " is not in Lists/options.txt.")
            .Concat(Table.Keys.Except(Options.Select(NameOf)).Select(static name => name + " is in Lists/options.txt and is no option.")));

    [Fact]
    public void An_option_with_an_effect_is_read_outside_of_its_class_and_its_validation()
    {
        // What only the test cluster reads has no effect in a silo.
        var inProduct = Assemblies[..^1].SelectMany(GetterCalls.In).ToHashSet();
        var inTests = GetterCalls.In(Assemblies[^1]).ToHashSet();
        Findings.None(from option in Options
                      where Table.GetValueOrDefault(NameOf(option)) is not (null or None)
                      // It has one value, which the validation of the start enforces.
                      where NameOf(option) != "ConnectionOptions.ProtocolVersion"
                      where !(option.Module.Assembly == Assemblies[^1] ? inTests : inProduct).Contains(option.GetMethod!)
                      select NameOf(option));
    }

    [Fact]
    public void The_effect_of_an_option_is_shown_by_a_test_that_exists()
    {
        var tests = Repository.Sources("tests").SelectMany(TestsOf).ToHashSet(StringComparer.Ordinal);
        Findings.None(from entry in Table
                      where entry.Value is not (None or Tuning or Untested)
                      from test in entry.Value.Split(' ', StringSplitOptions.RemoveEmptyEntries).DefaultIfEmpty("no test")
                      where !tests.Contains(test)
                      select entry.Key + ": " + test);
    }

    [Fact]
    public void Only_options_of_our_own_are_for_tuning()
    {
        var orleans = Options.Where(static option => option.DeclaringType!.Namespace!.StartsWith("Orleans", StringComparison.Ordinal));
        Findings.None(orleans.Select(NameOf).Where(static name => Table.GetValueOrDefault(name) == Tuning));
    }

    [Fact]
    public void An_option_without_effect_is_reported_at_start_and_stands_in_the_migration_page()
    {
        string[] without = [.. Table.Where(static entry => entry.Value == None).Select(static entry => entry.Key)];
        output.WriteLine(without.Length + " options without effect:\n" + string.Join('\n', without));
        string[] reported = [.. OptionReport.Entries.Select(static entry => entry.Name)];
        Findings.None(without.Where(static name => !name.Contains("TestCluster", StringComparison.Ordinal)).Except(reported)
            .Select(static name => name + " is not reported.")
            .Concat(reported.Except(without).Select(static name => name + " is reported and has an effect by the table.")));
        var page = Repository.Text("docs/migrating-from-orleans.md");
        Findings.None(without.Where(name => !page.Contains("`" + name + "`", StringComparison.Ordinal)));
    }

    /// <summary>
    /// The same for attributes: a test shows what each does, or the analyzer refuses it (see the diagnostics in GeneratorDiagnosticTests).
    /// </summary>
    [Fact]
    public void Every_attribute_has_an_effect_that_a_test_shows_or_is_a_build_error()
    {
        var table = Repository.List("attributes.txt");
        var attributes = Assemblies.SelectMany(static assembly => assembly.GetExportedTypes())
            .Where(static type => typeof(Attribute).IsAssignableFrom(type)).Select(static type => type.Name)
            .ToHashSet(StringComparer.Ordinal);
        var tests = Repository.Sources("tests").SelectMany(TestsOf).ToHashSet(StringComparer.Ordinal);
        var analyzer = Repository.Text("src/ActOp.Generators/AttributeAnalyzer.cs");
        output.WriteLine(
            "A build error: " + string.Join(", ", table.Where(static entry => entry.Value == "error").Select(static entry => entry.Key)));
        Findings.None(attributes.Except(table.Keys).Select(static name => name + " is not in Lists/attributes.txt.")
            .Concat(table.Keys.Except(attributes).Select(static name => name + " is in Lists/attributes.txt and is no attribute."))
            .Concat(table.Where(entry => entry.Value == "error" && !analyzer.Contains("." + entry.Key + "\"", StringComparison.Ordinal))
                .Select(static entry => entry.Key + " is not refused by the analyzer."))
            .Concat(table.Where(entry => entry.Value is not ("error" or "internal") && !tests.Contains(entry.Value))
                .Select(static entry => entry.Key + ": there is no test " + entry.Value)));
    }

    [Fact]
    public void The_page_of_options_is_what_the_code_says()
    {
        const string path = "docs/options.md";
        var actual = OptionsPage.Text(Options);
        if (Environment.GetEnvironmentVariable(PublicApiTests.Update) == "1")
            File.WriteAllText(Path.Combine(Repository.Root, path), actual);
        Assert.True(actual == Repository.Text(path), $"{path} differs: run the tests with {PublicApiTests.Update}=1.");
    }

    [Fact]
    public void Every_option_is_documented() =>
        Findings.None(OptionsPage.Text(Options).Split('\n')
            .Where(static line => line.StartsWith("| `", StringComparison.Ordinal) && line.EndsWith("|  |", StringComparison.Ordinal)));

    private static string NameOf(PropertyInfo option) => option.DeclaringType!.Name + "." + option.Name;

    private static IEnumerable<string> TestsOf(SourceFile file) =>
        TestMethod().Matches(file.Text).Select(match => Path.GetFileNameWithoutExtension(file.Path) + "." + match.Groups[1].Value);

    [GeneratedRegex(@"\[(?:Fact|Theory)[^\]]*\](?:\s*\[[^\n]*\])*\s*public (?:async )?(?:void|Task|ValueTask) (\w+)\(")]
    private static partial Regex TestMethod();

    /// <summary>The property getters that the code of an assembly calls, by reading the instructions of its methods.</summary>
    private static class GetterCalls
    {
        private const BindingFlags Declared = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static
            | BindingFlags.DeclaredOnly;

        private static readonly Dictionary<int, System.Reflection.Emit.OpCode> Codes = typeof(System.Reflection.Emit.OpCodes)
            .GetFields(BindingFlags.Public | BindingFlags.Static)
            .Select(static field => (System.Reflection.Emit.OpCode)field.GetValue(null)!)
            .ToDictionary(static code => (int)(ushort)code.Value);

        internal static IEnumerable<MethodBase> In(Assembly assembly) =>
            from type in assembly.GetTypes()
            where !IsValidation(type)
            from method in type.GetMethods(Declared).Cast<MethodBase>().Concat(type.GetConstructors(Declared))
            where !method.Name.StartsWith("Validate", StringComparison.Ordinal) && !IsAccessor(method)
            from called in CallsOf(method)
            where called.Name.StartsWith("get_", StringComparison.Ordinal)
            where called.DeclaringType!.Name.EndsWith("Options", StringComparison.Ordinal)
            select called;

        private static bool IsAccessor(MethodBase method) => method.IsSpecialName && !method.IsConstructor
            && method.DeclaringType!.Name.EndsWith("Options", StringComparison.Ordinal);

        private static bool IsValidation(Type type) =>
            Outermost(type).Name is nameof(OptionReport) or "OptionRules";

        private static Type Outermost(Type type) => type.DeclaringType is { } outer ? Outermost(outer) : type;

        private static IEnumerable<MethodBase> CallsOf(MethodBase method)
        {
            if (method.GetMethodBody()?.GetILAsByteArray() is not { } il)
                yield break;
            for (var at = 0; at < il.Length;)
            {
                var code = il[at] == 0xFE ? Codes[0xFE00 | il[++at]] : Codes[il[at]];
                at++;
                if (code.OperandType == System.Reflection.Emit.OperandType.InlineMethod
                    && Resolve(method, BitConverter.ToInt32(il, at)) is { } called)
                {
                    yield return called;
                }

                at += SizeOf(code.OperandType, il, at);
            }
        }

        private static MethodBase? Resolve(MethodBase method, int token)
        {
            try
            {
                return method.Module.ResolveMethod(token, method.DeclaringType!.GetGenericArguments(),
                    method.IsGenericMethod ? method.GetGenericArguments() : null);
            }
            catch (Exception exception) when (exception is ArgumentException or TypeLoadException or FileNotFoundException)
            {
                return null;
            }
        }

        private static int SizeOf(System.Reflection.Emit.OperandType operand, byte[] il, int at) => operand switch
        {
            System.Reflection.Emit.OperandType.InlineNone => 0,
            System.Reflection.Emit.OperandType.ShortInlineBrTarget or System.Reflection.Emit.OperandType.ShortInlineI
                or System.Reflection.Emit.OperandType.ShortInlineVar => 1,
            System.Reflection.Emit.OperandType.InlineVar => 2,
            System.Reflection.Emit.OperandType.InlineI8 or System.Reflection.Emit.OperandType.InlineR => 8,
            System.Reflection.Emit.OperandType.InlineSwitch => 4 + (4 * BitConverter.ToInt32(il, at)),
            _ => 4,
        };
    }
}
