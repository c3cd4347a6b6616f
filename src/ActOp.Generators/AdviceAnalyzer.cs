using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace ActOp.Generators;

/// <summary>
/// Reports what compiles and works, and is a mistake later or elsewhere: missing aliases and serializers, attributes that do nothing on
/// grain classes, and awaits that leave the activation.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class AdviceAnalyzer : DiagnosticAnalyzer
{
    private const string Serializable = "System.SerializableAttribute";
    private const int ContinueOnCapturedContext = 1;

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } =
        [Rule.MissingGenerateSerializer, Rule.MissingAlias, Rule.AttributeOnGrain, Rule.ConfigureAwait];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolAction(static c => Type(c, (INamedTypeSymbol)c.Symbol), SymbolKind.NamedType);
        context.RegisterOperationAction(static c => Await(c, (IInvocationOperation)c.Operation), OperationKind.Invocation);
    }

    private static void Type(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        if (InterfaceReader.IsGrainInterface(type))
            Interface(context, type);
        else if (IsGrainClass(type))
            OnGrainClass(context, type);
        else if (Attributes.Has(type, Attributes.GenerateSerializer))
            CheckAlias(context, type);
        else if (type is { TypeKind: TypeKind.Class or TypeKind.Struct, IsStatic: false } && Attributes.Has(type, Serializable))
            context.Report(Rule.MissingGenerateSerializer, type, type.Name);
    }

    private static void Interface(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        CheckAlias(context, type);
        foreach (var method in InterfaceReader.Methods(type).Where(m => SymbolEqualityComparer.Default.Equals(m.ContainingType, type)))
            CheckAlias(context, method);
    }

    private static void CheckAlias(SymbolAnalysisContext context, ISymbol symbol)
    {
        if (!Attributes.Has(symbol, Attributes.Alias) && !Attributes.Has(symbol, Attributes.CompoundTypeAlias))
            context.Report(Rule.MissingAlias, symbol, symbol.Name);
    }

    private static void OnGrainClass(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        foreach (var name in (string[])[Attributes.Alias, Attributes.GenerateSerializer])
        {
            if (Attributes.FindAttribute(type, name) is { ApplicationSyntaxReference: { } syntax } attribute)
            {
                var shortName = attribute.AttributeClass!.Name.Substring(0, attribute.AttributeClass.Name.Length - "Attribute".Length);
                context.ReportDiagnostic(Diagnostic.Create(
                    Rule.AttributeOnGrain, Location.Create(syntax.SyntaxTree, syntax.Span), shortName, type.Name));
            }
        }
    }

    private static void Await(OperationAnalysisContext context, IInvocationOperation call)
    {
        if (call.TargetMethod.Name != "ConfigureAwait" || call.Arguments.Length == 0 || !Leaves(call.Arguments[call.Arguments.Length - 1])
            || context.ContainingSymbol.ContainingType is not { } type || !IsGrainClass(type))
        {
            return;
        }

        var argument = call.Arguments[call.Arguments.Length - 1].Syntax;
        context.ReportDiagnostic(Diagnostic.Create(Rule.ConfigureAwait, argument.GetLocation(), "ConfigureAwait(" + argument + ")"));
    }

    private static bool Leaves(IArgumentOperation argument) => argument.Value.ConstantValue is { HasValue: true, Value: { } value }
        && (value is false || (value is int options && (options & ContinueOnCapturedContext) == 0));

    private static bool IsGrainClass(INamedTypeSymbol type) =>
        GrainClassReader.IsGrain(type)
            || type.AllInterfaces.Any(static i => i.Name == "IGrainBase" && i.ToDisplayString() == "Orleans.IGrainBase");
}
