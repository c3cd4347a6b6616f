using ActOp.CodeFixes;
using ActOp.Generators;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Formatting;
using Microsoft.CodeAnalysis.Simplification;

namespace ActOp.Serialization.Tests;

/// <summary>What an editor offers for the frequent mistakes.</summary>
public class CodeFixTests
{
    private const string Usings = "using System.Threading.Tasks;\nusing Orleans;\n\n";

    [Theory]
    [InlineData("id",
        "[GenerateSerializer]\npublic class C\n{\n    [Id(3)]\n    public int A { get; set; }\n\n    public int B { get; set; }\n}\n",
        "[GenerateSerializer]\npublic class C\n{\n    [Id(3)]\n    public int A { get; set; }\n\n    [Id(4)]\n    public int B { get; "
            + "set; }\n}\n")]
    [InlineData("ids",
        "[GenerateSerializer]\npublic class C\n{\n    private int _a;\n    // A count.\n    public int B { get; set; }\n    public int "
            + "Sum => _a + B;\n    private static int s;\n}\n",
        "[GenerateSerializer]\npublic class C\n{\n    [Id(0)]\n    private int _a;\n    // A count.\n    [Id(1)]\n    public int B { "
            + "get; set; }\n    public int Sum => _a + B;\n    private static int s;\n}\n")]
    [InlineData("not",
        "[GenerateSerializer]\npublic class C\n{\n    public int B { get; set; }\n}\n",
        "[GenerateSerializer]\npublic class C\n{\n    [field: System.NonSerialized]\n    public int B { get; set; }\n}\n")]
    public async Task A_member_without_an_id_gets_one_or_is_left_out(string key, string before, string after) =>
        Assert.Equal(after, await Fixed(before, new SerializableTypeAnalyzer(), new MissingIdFix(), "ORLEANS0004", key));

    [Theory]
    [InlineData(
        "ORLEANS0005", "[System.Serializable]\npublic class C { }\n", "[GenerateSerializer]\n[System.Serializable]\npublic class C { }\n")]
    [InlineData("ORLEANS0010", "namespace A.B\n{\n    [GenerateSerializer]\n    public class C<T> { }\n}\n",
        "namespace A.B\n{\n    [Alias(\"A.B.C`1\")]\n    [GenerateSerializer]\n    public class C<T> { }\n}\n")]
    [InlineData("ORLEANS0010", "[Alias(\"g\")]\npublic interface IG : IGrainWithGuidKey\n{\n    Task M();\n}\n",
        "[Alias(\"g\")]\npublic interface IG : IGrainWithGuidKey\n{\n    [Alias(\"M\")]\n    Task M();\n}\n")]
    public async Task A_missing_attribute_is_added(string id, string before, string after) =>
        Assert.Equal(after, await Fixed(before, new AdviceAnalyzer(), new MissingAttributeFix(), id, key: null));

    [Fact]
    public async Task An_await_that_leaves_the_activation_is_brought_back() =>
        Assert.Equal(
            "public class G : Grain\n{\n    public async Task M() => await Task.CompletedTask;\n}\n",
            await Fixed(
                "public class G : Grain\n{\n    public async Task M() => await Task.CompletedTask.ConfigureAwait(false);\n}\n",
                new AdviceAnalyzer(), new ConfigureAwaitFix(), "ORLEANS0014", key: null));

    private static async Task<string> Fixed(string code, DiagnosticAnalyzer analyzer, CodeFixProvider fix, string id, string? key)
    {
        using var workspace = new AdhocWorkspace();
        var project = workspace.AddProject("Sample", LanguageNames.CSharp)
            .WithMetadataReferences(PlatformReferences.All)
            .WithCompilationOptions(new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary));
        var document = project.AddDocument("Sample.cs", Usings + code);
        var compilation = await document.Project.GetCompilationAsync();
        var found = await compilation!.WithAnalyzers([analyzer]).GetAnalyzerDiagnosticsAsync();
        var actions = new List<CodeAction>();
        var diagnostic = found.First(d => d.Id == id);
        await fix.RegisterCodeFixesAsync(new CodeFixContext(document, diagnostic, (action, _) => actions.Add(action), default));
        var chosen = actions.First(action => key is null || action.EquivalenceKey == key);
        var operations = await chosen.GetOperationsAsync(default);
        var changed = operations.OfType<ApplyChangesOperation>().Single().ChangedSolution.GetDocument(document.Id)!;
        var simplified = await Simplifier.ReduceAsync(changed);
        var formatted = await Formatter.FormatAsync(simplified, Formatter.Annotation);
        return (await formatted.GetTextAsync()).ToString()[Usings.Length..].ReplaceLineEndings("\n");
    }
}
