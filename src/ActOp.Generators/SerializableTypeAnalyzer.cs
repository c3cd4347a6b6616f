using System.Collections.Concurrent;
using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace ActOp.Generators;

/// <summary>Checks the ids and aliases of types with [GenerateSerializer], and that all their members are serialized.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class SerializableTypeAnalyzer : DiagnosticAnalyzer
{
    private const string InlineArray = "System.Runtime.CompilerServices.InlineArrayAttribute";

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
        [Rule.MissingId, Rule.DuplicateId, Rule.DuplicateAlias, Rule.Hidden, Rule.Lost, Rule.AbstractMember];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(static start =>
        {
            var aliases = new ConcurrentDictionary<string, INamedTypeSymbol>();
            start.RegisterSymbolAction(c => Type(c, (INamedTypeSymbol)c.Symbol, aliases), SymbolKind.NamedType);
            start.RegisterOperationAction(Capture, OperationKind.ParameterReference);
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
        if (!CustomRequests.IsInvokable(type))
            CheckInheritance(context, type);
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
            if (member.IsAbstract && Attributes.Number(member) is not null)
            {
                context.Report(Rule.AbstractMember, member, member.Name);
            }
            else if (HasIdInVain(type, member))
            {
                context.Report(Rule.Lost, member, "The member '" + member.Name + "', which has an [Id],", type.Name,
                    "generated code cannot read and set it, since it is static, an indexer, or computed");
            }

            if (!known.Contains(member) && IsState(type, member) && !CodecReader.IsNotSerialized(member)
                && !CodecReader.IsExcludedParameter(type, member))
            {
                context.Report(Rule.MissingId, member, member.Name);
            }
        }
    }

    private static void CheckInheritance(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        if (Attributes.Has(type, InlineArray))
            context.Report(Rule.Lost, type, "All elements but the first", type.Name, "an inline array has one field only; use an array");
        var inherited = Inheritance.InheritanceOf(type);
        if (inherited.Lost is { } lost)
        {
            context.Report(Rule.Lost, type, "The state of the base class '" + lost.Name + "'", type.Name,
                "mark the base class with [GenerateSerializer], or register a converter for the type with [RegisterConverter]");
        }

        if (inherited.Items is not null && !type.IsAbstract && type.InstanceConstructors.All(static c => c.Parameters.Length > 0))
        {
            context.Report(Rule.Lost, type, "The items of the collection", type.Name,
                "it needs a constructor without parameters, which may be private");
        }
    }

    private static bool HasIdInVain(INamedTypeSymbol type, ISymbol member) =>
        member is IPropertySymbol or IFieldSymbol { AssociatedSymbol: null } && Attributes.Number(member) is not null
            && !CodecReader.IsNotSerialized(member)
        && (member.IsStatic || CodecReader.Member(type, member, 0) is null);

    /// <summary>A parameter of the primary constructor that methods use is state in a field that has no name.</summary>
    private static void Capture(OperationAnalysisContext context)
    {
        if (((IParameterReferenceOperation)context.Operation).Parameter is not
            {
                ContainingSymbol: IMethodSymbol
                {
                    MethodKind: MethodKind.Constructor, ContainingType: { IsRecord: false } type,
                } constructor,
            } parameter
            || !Attributes.Has(type, Attributes.GenerateSerializer) || CodecReader.IsServiceConstructor(constructor)
                || !SymbolEqualityComparer.Default.Equals(CodecReader.PrimaryConstructor(type), constructor))
        {
            return;
        }

        if (!IsInitialization(context.Operation.Syntax))
        {
            context.ReportDiagnostic(Diagnostic.Create(Rule.Lost, parameter.Locations[0], "The parameter '" + parameter.Name + "'",
                type.Name, "a method or property uses it after construction; keep it in a field or property with an [Id]"));
        }
    }

    private static bool IsInitialization(SyntaxNode node)
    {
        for (var current = node; current is not null and not BaseTypeDeclarationSyntax; current = current.Parent)
        {
            if (current is PrimaryConstructorBaseTypeSyntax or EqualsValueClauseSyntax
                {
                    Parent: PropertyDeclarationSyntax or VariableDeclaratorSyntax { Parent.Parent: FieldDeclarationSyntax },
                })
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Reports at the type that comes later in the source, in whatever order the two were analyzed.</summary>
    private static void CheckAlias(SymbolAnalysisContext context, INamedTypeSymbol type, string alias, INamedTypeSymbol first)
    {
        if (SymbolEqualityComparer.Default.Equals(type, first))
            return;
        var (later, earlier) = Reporting.IsBefore(type, first) ? (first, type) : (type, first);
        context.Report(Rule.DuplicateAlias, later, alias, earlier.Name);
    }

    private static bool IsState(INamedTypeSymbol type, ISymbol member) => !member.IsStatic && !member.IsImplicitlyDeclared && member switch
    {
        IFieldSymbol field => field is { IsConst: false, AssociatedSymbol: null },
        IPropertySymbol property => CodecReader.BackingField(type, property) is { } backing && !CodecReader.IsNotSerialized(backing),
        _ => false,
    };
}
