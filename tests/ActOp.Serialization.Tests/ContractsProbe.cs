using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace ActOp.Serialization.Tests;

/// <summary>A project with OrleansContracts.txt, an analyzer that compares both, and its code fix.</summary>
internal sealed class ContractsProbe(DiagnosticAnalyzer analyzer, CodeFixProvider fix, MetadataReference[] references) : IDisposable
{
    public const string Folder = "/project/";
    private const string Usings =
        "using System; using System.Collections.Generic; using System.Threading; using System.Threading.Tasks; using Orleans; "
            + "using Orleans.CodeGeneration; using Orleans.Runtime;\n";

    private readonly AdhocWorkspace _workspace = new();

    public void Dispose() => _workspace.Dispose();

    /// <summary>A project of its own solution.</summary>
    public Project Project(string source, string? contracts, bool isEnabled = true, string path = Folder + "OrleansContracts.txt") =>
        Add(_workspace.CurrentSolution, "Sample", source, contracts, isEnabled, path);

    public Project Add(Solution solution, string name, string source, string? contracts, bool isEnabled, string path)
    {
        var id = ProjectId.CreateNewId();
        var options = new CSharpCompilationOptions(
            OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable);
        solution = solution.AddProject(ProjectInfo.Create(
            id, VersionStamp.Default, name, name, LanguageNames.CSharp, Folder + name + ".csproj", compilationOptions: options,
            parseOptions: new CSharpParseOptions(LanguageVersion.CSharp13), metadataReferences: references));
        solution = solution.AddDocument(
            DocumentId.CreateNewId(id), "Sample.cs", SourceText.From(Usings + source), filePath: Folder + name + "/Sample.cs");
        if (contracts is not null)
        {
            solution = solution.AddAdditionalDocument(
                DocumentId.CreateNewId(id), "OrleansContracts.txt", SourceText.From(contracts), filePath: path);
        }

        var settings = "is_global = true\nbuild_property.OrleansContractsPath = " + path + "\n"
            + (isEnabled ? "build_property.EnableOrleansContractsAnalyzer = true\n" : "")
            + "[" + path + "]\nbuild_metadata.AdditionalFiles.OrleansContractsFile = true\n";
        return solution.AddAnalyzerConfigDocument(
            DocumentId.CreateNewId(id), "Sample.globalconfig", SourceText.From(settings), filePath: Folder + name + ".globalconfig")
            .GetProject(id)!;
    }

    public async Task<ImmutableArray<Diagnostic>> Diagnostics(Project project)
    {
        var compilation = (await project.GetCompilationAsync())!;
        Assert.Empty(compilation.GetDiagnostics().Where(static d => d.Severity == DiagnosticSeverity.Error));
        var found = await compilation.WithAnalyzers([analyzer], project.AnalyzerOptions).GetAnalyzerDiagnosticsAsync();
        return [.. found.OrderBy(static d => d.Id, StringComparer.Ordinal).ThenBy(static d => d.Location.SourceSpan.Start)];
    }

    /// <summary>Where a diagnostic is: the text, of a source or of the file of contracts.</summary>
    public static async Task<string> Place(Project project, Diagnostic diagnostic)
    {
        var text = diagnostic.Location.SourceTree is { } tree
            ? await tree.GetTextAsync() : await project.AdditionalDocuments.Single().GetTextAsync();
        return text.ToString(diagnostic.Location.SourceSpan);
    }

    /// <summary>The file of contracts after the code fix of that title; null without a file.</summary>
    public async Task<string?> Fixed(Project project, Diagnostic diagnostic, string title)
    {
        var actions = new List<CodeAction>();
        await fix.RegisterCodeFixesAsync(
            new CodeFixContext(project.Documents.First(), diagnostic, (action, _) => actions.Add(action), default));
        return await Contracts(await Applied(actions.Single(action => action.Title == title)), project.Id);
    }

    public static async Task<Solution> Applied(CodeAction action) =>
        (await action.GetOperationsAsync(default)).OfType<ApplyChangesOperation>().Single().ChangedSolution;

    public static async Task<string?> Contracts(Solution solution, ProjectId project) =>
        solution.GetProject(project)!.AdditionalDocuments.SingleOrDefault() is { } document
            ? (await document.GetTextAsync()).ToString() : null;
}
