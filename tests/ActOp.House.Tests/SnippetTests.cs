using System.Collections.Immutable;
using System.Text.RegularExpressions;
using ActOp.Generators;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.House.Tests;

/// <summary>
/// What the documents show compiles. A block of C# is a file: types, or a program; it may use the types of the other blocks of its
/// document. A block that is a fragment says after "csharp" where it stands (<see cref="Places"/>), as in "csharp silo".
/// </summary>
public partial class SnippetTests
{
    private static readonly Dictionary<string, Func<string, string>> Places = new()
    {
        [""] = static code => code,
        ["silo"] = static code => Method("ISiloBuilder silo", code),
        ["client"] = static code => Method("IClientBuilder client", code),
        ["services"] = static code => Method("Microsoft.Extensions.DependencyInjection.IServiceCollection services", code),
        ["statements"] = static code => Method("IGrainFactory grains, IClusterClient cluster", code),
        ["members"] = static code => Split(code, static body => $"public sealed class Fragment : Grain\n{{\n{body}\n}}"),
    };

    private const string Usings = """
        global using System;
        global using System.Collections.Generic;
        global using System.IO;
        global using System.Linq;
        global using System.Net.Http;
        global using System.Threading;
        global using System.Threading.Tasks;
        global using Orleans;
        global using Orleans.Hosting;
        global using Orleans.Runtime;
        """;

    private static readonly ImmutableArray<MetadataReference> References =
        [.. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Select(static path => MetadataReference.CreateFromFile(path))];

    private static readonly ImmutableArray<DiagnosticAnalyzer> Analyzers =
        [.. typeof(GrainGenerator).Assembly.GetTypes().Where(static type => type.IsSubclassOf(typeof(DiagnosticAnalyzer))
            && !type.IsAbstract).Select(static type => (DiagnosticAnalyzer)Activator.CreateInstance(type)!)];

    public static TheoryData<string> Snippets =>
        [.. Documents().SelectMany(static path => Blocks(path).Select(block => $"{path}:{block.Line}"))];

    [Theory]
    [MemberData(nameof(Snippets))]
    public async Task A_snippet_compiles(string snippet)
    {
        var path = snippet[..snippet.LastIndexOf(':')];
        (var line, var place, var code) = Blocks(path).Single(block => $"{path}:{block.Line}" == snippet);
        Assert.True(Places.ContainsKey(place), $"{path}:{line} stands in \"{place}\", which is none of: {string.Join(", ", Places.Keys)}.");
        string[] context = [.. Blocks(path).Where(block => block.Line != line && block.Place.Length == 0
            && IsTypesOnly(block.Code)).Select(static block => block.Code)];
        Findings.None((await ErrorsAsync(Places[place](code), context)).Select(error => $"{path}, block of line {line}: {error}"));
    }

    [Fact]
    public async Task A_snippet_that_is_wrong_is_found()
    {
        Assert.Empty(await ErrorsAsync("await Task.Yield();\nConsole.WriteLine(args.Length);", []));
        Assert.NotEmpty(await ErrorsAsync(Places["silo"]("silo.UseNothing();"), []));
        Assert.NotEmpty(await ErrorsAsync("public interface IWrong : IGrainWithStringKey { int Number(); }", []));
    }

    private static IEnumerable<string> Documents() =>
        [.. Directory.EnumerateFiles(Repository.Root, "*.md").Select(static path => Path.GetFileName(path)),
            .. new[] { "docs", "samples", "bench", "src" }.SelectMany(static folder => Repository.Files(folder, "*.md"))];

    private static IEnumerable<(int Line, string Place, string Code)> Blocks(string path)
    {
        var text = Repository.Text(path);
        return Fence().Matches(text).Select(
            match => (text[..match.Index].Count(static letter => letter == '\n') + 1, match.Groups[1].Value.Trim(), match.Groups[2].Value));
    }

    private static bool IsTypesOnly(string code) => !Parse(code).GetCompilationUnitRoot().Members.OfType<GlobalStatementSyntax>().Any();

    private static async Task<IEnumerable<string>> ErrorsAsync(string code, string[] context)
    {
        var kind = IsTypesOnly(code) ? OutputKind.DynamicallyLinkedLibrary : OutputKind.ConsoleApplication;
        CSharpCompilationOptions options = new(kind, nullableContextOptions: NullableContextOptions.Enable);
        var compilation = CSharpCompilation.Create("Snippet", [Parse(Usings), Parse(code), .. context.Select(Parse)], References, options);
        GeneratorDriver driver = CSharpGeneratorDriver.Create(
            [new GrainGenerator().AsSourceGenerator()], parseOptions: CSharpParseOptions.Default);
        driver.RunGeneratorsAndUpdateCompilation(compilation, out var generated, out var reported, TestContext.Current.CancellationToken);
        var analyzed = await generated.WithAnalyzers(Analyzers).GetAllDiagnosticsAsync(TestContext.Current.CancellationToken);
        return [.. analyzed.Concat(reported)
            .Where(static found => found.Severity == DiagnosticSeverity.Error)
            .Select(static found => found.ToString())];
    }

    private static SyntaxTree Parse(string code) => CSharpSyntaxTree.ParseText(code);

    private static string Method(string parameters, string code) =>
        Split(code, body =>
            $"internal static class Fragment\n{{\n    internal static async Task RunAsync({parameters})\n    {{\n        await Task.Yield();\n{body}\n    }}\n}}");

    // Usings stay in front of what the rest is put into.
    private static string Split(string code, Func<string, string> wrap)
    {
        var lines = code.Split('\n');
        return string.Join('\n', lines.TakeWhile(IsUsing)) + "\n" + wrap(string.Join('\n', lines.SkipWhile(IsUsing)));
    }

    private static bool IsUsing(string line) =>
        line.Length == 0 || line.StartsWith("using ", StringComparison.Ordinal) && !line.Contains('=', StringComparison.Ordinal);

    [GeneratedRegex(@"^```(?:csharp|cs|c#)\b([^\n]*)\n(.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fence();
}
