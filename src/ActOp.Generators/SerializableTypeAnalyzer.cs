using System.Collections.Concurrent;
using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators;

/// <summary>Checks the ids and aliases of types with [GenerateSerializer].</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class SerializableTypeAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rule.MissingId, Rule.DuplicateId, Rule.DuplicateAlias, Rule.Hidden];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(static start =>
        {
            var aliases = new ConcurrentDictionary<string, INamedTypeSymbol>();
            start.RegisterSymbolAction(c => Type(c, (INamedTypeSymbol)c.Symbol, aliases), SymbolKind.NamedType);
        });
    }

    private static void Type(SymbolAnalysisContext context, INamedTypeSymbol type, ConcurrentDictionary<string, INamedTypeSymbol> aliases)
    {
        if (Attributes.Text(type, Attributes.Alias) is { } alias)
            CheckAlias(context, type, alias, aliases.GetOrAdd(alias, type));
        if (type.TypeKind == TypeKind.Enum || !Attributes.Has(type, Attributes.GenerateSerializer))
            return;
        if (TypeText.Accessibility(type) is null)
            context.Report(Rule.Hidden, type, type.Name);
        var known = new HashSet<ISymbol>(CodecReader.ImplicitParameters(type), SymbolEqualityComparer.Default);
        var ids = new Dictionary<uint, ISymbol>();
        foreach (var (member, id) in CodecReader.WithIds(type))
        {
            known.Add(member);
            if (ids.TryGetValue(id, out var other))
                context.Report(Rule.DuplicateId, member, id, other.Name);
            ids[id] = member;
        }

        foreach (var member in type.GetMembers())
        {
            if (!known.Contains(member) && IsState(type, member) && !CodecReader.IsNotSerialized(member))
                context.Report(Rule.MissingId, member, member.Name);
        }
    }

    /// <summary>Reports at the type that comes later in the source, in whatever order the two were analyzed.</summary>
    private static void CheckAlias(SymbolAnalysisContext context, INamedTypeSymbol type, string alias, INamedTypeSymbol first)
    {
        if (SymbolEqualityComparer.Default.Equals(type, first))
            return;
        var (later, earlier) = IsBefore(type.Locations[0], first.Locations[0]) ? (first, type) : (type, first);
        context.Report(Rule.DuplicateAlias, later, alias, earlier.Name);
    }

    private static bool IsBefore(Location a, Location b)
    {
        var files = string.CompareOrdinal(a.SourceTree?.FilePath, b.SourceTree?.FilePath);
        return files < 0 || (files == 0 && a.SourceSpan.Start < b.SourceSpan.Start);
    }

    private static bool IsState(INamedTypeSymbol type, ISymbol member) => !member.IsStatic && !member.IsImplicitlyDeclared && member switch
    {
        IFieldSymbol field => field is { IsConst: false, AssociatedSymbol: null },
        IPropertySymbol { SetMethod: not null } property => CodecReader.BackingField(type, property) is { } backing && !CodecReader.IsNotSerialized(backing),
        _ => false,
    };
}
