using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators;

/// <summary>Reports why no code can be generated for a grain interface.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class GrainInterfaceAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
        [Rule.InterleaveOnClass, Rule.ByReference, Rule.Property, Rule.ReturnType, Rule.DuplicateAlias, Rule.DuplicateId, Rule.ManyTokens,
            Rule.Hidden];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolAction(static c => Interface(c, (INamedTypeSymbol)c.Symbol), SymbolKind.NamedType);
        context.RegisterSymbolAction(static c => ClassMethod(c, (IMethodSymbol)c.Symbol), SymbolKind.Method);
    }

    private static void ClassMethod(SymbolAnalysisContext context, IMethodSymbol method)
    {
        if (method.ContainingType?.TypeKind == TypeKind.Class && Attributes.Has(method, Attributes.AlwaysInterleave))
            context.Report(Rule.InterleaveOnClass, method, method.Name);
    }

    private static void Interface(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        if (!InterfaceReader.IsGrainInterface(type))
            return;
        if (TypeText.Accessibility(type) is null)
            context.Report(Rule.Hidden, type, type.Name);
        foreach (var member in type.GetMembers().Where(static m => !m.IsStatic && m is IPropertySymbol or IEventSymbol { IsStatic: false }))
            context.Report(Rule.Property, member, type.Name, member.Name);
        var methods = InterfaceReader.Methods(type).Where(m => SymbolEqualityComparer.Default.Equals(m.ContainingType, type)).ToList();
        var proxy = CustomRequests.ProxyBase(type, context.Compilation, out _);
        foreach (var method in methods)
            Method(context, method, proxy);
        Duplicates(context, methods);
    }

    private static void Method(SymbolAnalysisContext context, IMethodSymbol method, INamedTypeSymbol? proxy)
    {
        foreach (var parameter in method.Parameters)
        {
            if (parameter.RefKind != RefKind.None || parameter.Type.IsRefLikeType || parameter.Type.TypeKind == TypeKind.Pointer)
                context.Report(Rule.ByReference, parameter, parameter.Name, method.Name);
        }

        var tokens = method.Parameters.Count(static p => InterfaceReader.IsToken(p.Type));
        if (tokens > 1)
            context.Report(Rule.ManyTokens, method, method.Name);
        if (proxy is not null && !InterfaceReader.HasAnswer(method, proxy, context.Compilation))
            context.Report(Rule.ReturnType, method, method.Name);
    }

    private static void Duplicates(SymbolAnalysisContext context, List<IMethodSymbol> methods)
    {
        var aliases = new Dictionary<string, IMethodSymbol>();
        var ids = new Dictionary<uint, IMethodSymbol>();
        foreach (var method in methods)
        {
            if (Attributes.Text(method, Attributes.Alias) is { } alias)
            {
                if (aliases.TryGetValue(alias, out var other))
                    context.Report(Rule.DuplicateAlias, method, alias, other.Name);
                aliases[alias] = method;
            }

            if (Attributes.Number(method) is { } id)
            {
                if (ids.TryGetValue(id, out var other))
                    context.Report(Rule.DuplicateId, method, id, other.Name);
                ids[id] = method;
            }
        }
    }
}
