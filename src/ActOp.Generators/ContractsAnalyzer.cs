using System.Collections.Concurrent;
using System.Collections.Immutable;
using ActOp.Generators.Contracts;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace ActOp.Generators;

/// <summary>
/// Reports where the grain interfaces and grain classes of the source differ from those of OrleansContracts.txt, which is in the
/// repository: a change that silos of the last build would not understand is seen by who reviews it. Off without the property
/// <c>EnableOrleansContractsAnalyzer</c>.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class ContractsAnalyzer : DiagnosticAnalyzer
{
    private static readonly SymbolDisplayFormat Short = SymbolDisplayFormat.MinimallyQualifiedFormat
        .AddMiscellaneousOptions(SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier);

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
    [
        ContractRule.Interface, ContractRule.Version, ContractRule.Member, ContractRule.RemovedInterface, ContractRule.NoFile,
        ContractRule.DuplicateInterface, ContractRule.Class, ContractRule.GrainType, ContractRule.RemovedClass,
        ContractRule.DuplicateClass, ContractRule.RemovedMember,
    ];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        // What is generated is left out by SourceContract, as the code fix must leave it out, too.
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.Analyze);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(Start);
    }

    private static void Start(CompilationStartAnalysisContext start)
    {
        if (!ContractsProject.IsEnabled(start.Options.AnalyzerConfigOptionsProvider))
            return;
        var contracts = new ConcurrentBag<SourceContract>();
        if (ContractsProject.File(start.Options) is not { } file || file.GetText(start.CancellationToken) is not { } text)
        {
            start.RegisterSymbolAction(c => Collect(c, contracts), SymbolKind.NamedType);
            start.RegisterCompilationEndAction(end => Missing(end, contracts));
            return;
        }

        var declared = ContractFile.Parse(text.ToString());
        start.RegisterSymbolAction(
            c =>
            {
                if (Collect(c, contracts) is { } contract)
                    Compare(c, contract, declared);
            },
            SymbolKind.NamedType);
        start.RegisterAdditionalFileAction(c =>
        {
            if (c.AdditionalFile.Path == file.Path)
                Duplicates(c, declared, text);
        });
        start.RegisterCompilationEndAction(end => Removed(end, [.. contracts], declared, file, text));
    }

    private static SourceContract? Collect(SymbolAnalysisContext context, ConcurrentBag<SourceContract> contracts)
    {
        var contract = SourceContract.Read((INamedTypeSymbol)context.Symbol);
        if (contract is not null)
            contracts.Add(contract);
        return contract;
    }

    private static void Missing(CompilationAnalysisContext context, ConcurrentBag<SourceContract> contracts)
    {
        SourceContract? first = null;
        foreach (var contract in contracts)
        {
            if (first is null || Reporting.IsBefore(contract.Type, first.Type))
                first = contract;
        }

        if (first is not null)
        {
            context.ReportDiagnostic(Diagnostic.Create(
                ContractRule.NoFile, first.Type.Locations[0], ContractsProject.FileName(context.Options.AnalyzerConfigOptionsProvider)));
        }
    }

    private static void Compare(SymbolAnalysisContext context, SourceContract contract, ContractFile declared)
    {
        if (declared.Entries.FirstOrDefault(one => !one.IsRetired && contract.IsDeclaredBy(one)) is { } entry)
        {
            if (contract.IsInterface)
                Compare(context, contract, entry);
        }
        else if (declared.Entries.FirstOrDefault(contract.IsRenamed) is { } renamed)
        {
            Report(context, ContractRule.GrainType, contract.Type, contract.Key, contract.Name, renamed.Identity!, contract.Identity);
        }
        else
        {
            Report(context, contract.IsInterface ? ContractRule.Interface : ContractRule.Class, contract.Type, contract.Key, contract.Name);
        }
    }

    private static void Compare(SymbolAnalysisContext context, SourceContract contract, ContractEntry entry)
    {
        if (entry.Version != contract.Number)
            Report(context, ContractRule.Version, contract.Type, contract.Key, contract.Name, entry.Version, contract.Number);
        foreach (var method in contract.Methods)
        {
            var member = SourceContract.Member(method);
            if (entry.Members.Any(one => one.Identity is not null && one.Key == member.Key))
                continue;
            context.ReportDiagnostic(Diagnostic.Create(
                ContractRule.Member, method.Locations[0], Keyed(contract.Key, member.Key),
                Shown(method), WireIdentity.Escape(member.Identity!), contract.Name));
        }
    }

    private static void Report(
        SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol symbol, string key, params object[] arguments) =>
        context.ReportDiagnostic(Diagnostic.Create(rule, symbol.Locations[0], Keyed(key), arguments));

    /// <summary>Tells the code fix which contract it is, and which of its methods.</summary>
    private static ImmutableDictionary<string, string?> Keyed(string key, string? member = null) =>
        ImmutableDictionary<string, string?>.Empty.Add(ContractsProject.Key, key).Add(ContractsProject.MemberKey, member);

    private static string Shown(IMethodSymbol method) =>
        method.ContainingType.ToDisplayString() + "." + method.Name
            + (method.Arity == 0 ? "" : "<" + string.Join(", ", method.TypeParameters.Select(static t => t.Name)) + ">")
            + "(" + string.Join(", ", method.Parameters.Select(static p => p.Type.ToDisplayString(Short) + " " + p.Name)) + ") -> "
            + method.ReturnType.ToDisplayString(Short);

    private static void Duplicates(AdditionalFileAnalysisContext context, ContractFile declared, SourceText text)
    {
        var seen = new HashSet<string>();
        foreach (var entry in declared.Entries.Where(entry => !seen.Add(entry.Key)))
        {
            context.ReportDiagnostic(Diagnostic.Create(
                entry.IsInterface ? ContractRule.DuplicateInterface : ContractRule.DuplicateClass,
                LocationOf(context.AdditionalFile, text, entry.Line), entry.Name));
        }
    }

    private static void Removed(
        CompilationAnalysisContext context, SourceContract[] contracts, ContractFile declared, AdditionalText file, SourceText text)
    {
        foreach (var entry in declared.Entries.Where(static entry => !entry.IsRetired))
        {
            if (contracts.FirstOrDefault(one => one.IsDeclaredBy(entry)) is { } contract)
            {
                var members = new HashSet<string>(contract.Methods.Select(static m => SourceContract.Member(m).Key));
                foreach (var gone in entry.Members.Where(member => member.Identity is not null && !members.Contains(member.Key)))
                {
                    context.ReportDiagnostic(Diagnostic.Create(
                        ContractRule.RemovedMember, LocationOf(file, text, gone.Line), gone.Text, contract.Name));
                }
            }
            else if (entry.IsInterface || !contracts.Any(one => one.IsRenamed(entry) && !declared.Entries.Any(other =>
                !other.IsRetired && one.IsDeclaredBy(other))))
            {
                context.ReportDiagnostic(Diagnostic.Create(
                    entry.IsInterface ? ContractRule.RemovedInterface : ContractRule.RemovedClass,
                    LocationOf(file, text, entry.Line), Keyed(entry.Key), entry.Name));
            }
        }
    }

    private static Location LocationOf(AdditionalText file, SourceText text, int line)
    {
        var span = text.Lines[line].Span;
        return Location.Create(file.Path, span, text.Lines.GetLinePositionSpan(span));
    }
}
