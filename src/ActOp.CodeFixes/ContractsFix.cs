using System.Collections.Immutable;
using System.Composition;
using System.Text;
using ActOp.Generators.Contracts;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.Text;

namespace ActOp.CodeFixes;

/// <summary>
/// Writes OrleansContracts.txt: all of it, or the one contract that a diagnostic of the contracts analyzer is about (ORLEANS0016 to
/// ORLEANS0024). Only the file changes, never the source.
/// </summary>
[ExportCodeFixProvider(
    LanguageNames.CSharp, Name = nameof(ContractsFix),
    DocumentKinds = [nameof(TextDocumentKind.Document), nameof(TextDocumentKind.AdditionalDocument)])]
[Shared]
public sealed class ContractsFix : CodeFixProvider
{
    private const string Title = "Regenerate OrleansContracts.txt";

    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = [.. ContractRule.Fixed.Split(' ')];

    /// <summary>Regenerates the file of each project that has a diagnostic.</summary>
    public override FixAllProvider GetFixAllProvider() => new RegenerateAll();

    /// <inheritdoc/>
    public override Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        var project = context.TextDocument.Project;
        var diagnostic = context.Diagnostics[0];
        context.RegisterCodeFix(
            CodeAction.Create(
                Title, cancel => Write(project, static (file, sources) => file.Regenerate(sources), cancel),
                nameof(ContractFile.Regenerate)),
            context.Diagnostics);
        if (One(diagnostic) is { } one)
        {
            context.RegisterCodeFix(
                CodeAction.Create(one.Title, cancel => Write(project, one.Change, cancel), one.Title), context.Diagnostics);
        }

        return Task.CompletedTask;
    }

    /// <summary>The change of one contract; null where there is no file that could be changed.</summary>
    private static (string Title, Action<ContractFile, List<SourceContract>> Change)? One(Diagnostic diagnostic)
    {
        if (!diagnostic.Properties.TryGetValue(ContractsProject.Key, out var key))
            return null;
        diagnostic.Properties.TryGetValue(ContractsProject.MemberKey, out var member);
        return diagnostic.Id switch
        {
            "ORLEANS0017" => ("Update version in OrleansContracts.txt", (file, sources) => file.Update(FindSource(sources, key))),
            "ORLEANS0019" => ("Mark as *RETIRED* in OrleansContracts.txt", (file, _) => file.Retire(key!)),
            "ORLEANS0023" => ("Update grain class alias in OrleansContracts.txt", (file, sources) => file.Rename(FindSource(sources, key))),
            "ORLEANS0024" => ("Mark grain class as *RETIRED* in OrleansContracts.txt", (file, _) => file.Retire(key!)),
            _ => ("Add to OrleansContracts.txt", (file, sources) => file.Add(FindSource(sources, key), member)),
        };
    }

    private static SourceContract FindSource(List<SourceContract> sources, string? key) => sources.First(source => source.Key == key);

    private static async Task<Solution> Write(
        Project project, Action<ContractFile, List<SourceContract>> change, CancellationToken cancel)
    {
        if (await project.GetCompilationAsync(cancel).ConfigureAwait(false) is not { } compilation)
            return project.Solution;
        var options = project.AnalyzerOptions.AnalyzerConfigOptionsProvider;
        var document = project.AdditionalDocuments.FirstOrDefault(one => ContractsProject.IsFile(one.FilePath, options));
        var old = document is null ? "" : (await document.GetTextAsync(cancel).ConfigureAwait(false)).ToString();
        var file = ContractFile.Parse(old);
        change(file, SourceContract.Read(compilation, cancel));
        if (file.ToString() is var text && text == old)
            return project.Solution;
        var source = SourceText.From(text, new UTF8Encoding(encoderShouldEmitUTF8Identifier: false));
        if (document is not null)
            return project.Solution.WithAdditionalDocumentText(document.Id, source);
        var path = ContractsProject.Path(options) ?? Path.Combine(Path.GetDirectoryName(project.FilePath) ?? "", "OrleansContracts.txt");
        return project.AddAdditionalDocument(Path.GetFileName(path), source, filePath: path).Project.Solution;
    }

    private sealed class RegenerateAll : FixAllProvider
    {
        public override Task<CodeAction?> GetFixAsync(FixAllContext fixAllContext) =>
            Task.FromResult<CodeAction?>(CodeAction.Create(Title, cancel => Regenerate(fixAllContext, cancel), nameof(RegenerateAll)));

        private static async Task<Solution> Regenerate(FixAllContext context, CancellationToken cancel)
        {
            var solution = context.Solution;
            var projects = context.Scope == FixAllScope.Solution ? solution.ProjectIds : [context.Project.Id];
            foreach (var id in projects)
            {
                var project = solution.GetProject(id)!;
                if (project.Language == LanguageNames.CSharp
                    && !(await context.GetAllDiagnosticsAsync(context.Solution.GetProject(id)!).ConfigureAwait(false)).IsEmpty)
                {
                    solution = await Write(project, static (file, sources) => file.Regenerate(sources), cancel).ConfigureAwait(false);
                }
            }

            return solution;
        }
    }
}
