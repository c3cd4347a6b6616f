using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators;

/// <summary>
/// Reports attributes that compile and would do nothing: those that exist for source compatibility and are not implemented, and those that
/// name a class that generated code cannot use.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class AttributeAnalyzer : DiagnosticAnalyzer
{
    private const string OwnRequests = "generated references and requests have fixed base classes";

    private static readonly Dictionary<string, string> Unsupported = new()
    {
        ["Orleans.GeneratedActivatorConstructorAttribute"] =
            "objects are created without services; use [UseActivator] and a class with [RegisterActivator]",
        ["Orleans.InvokableCustomInitializerAttribute"] = OwnRequests,
        ["Orleans.DefaultInvokableBaseTypeAttribute"] = OwnRequests,
        ["Orleans.InvokableBaseTypeAttribute"] = OwnRequests,
        ["Orleans.GenerateMethodSerializersAttribute"] = OwnRequests + "; derive the interface from IGrain or IGrainObserver",
        ["Orleans.Invocation.ReturnValueProxyAttribute"] = OwnRequests,
    };

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rule.Unsupported, Rule.Hook];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolAction(static c => Check(c.Symbol.GetAttributes(), c.ReportDiagnostic), SymbolKind.NamedType, SymbolKind.Method);
        context.RegisterSymbolAction(static c => CheckHooks(c, (INamedTypeSymbol)c.Symbol), SymbolKind.NamedType);
        context.RegisterCompilationAction(static c => Check(c.Compilation.Assembly.GetAttributes(), c.ReportDiagnostic));
    }

    private static void Check(ImmutableArray<AttributeData> attributes, Action<Diagnostic> report)
    {
        foreach (var attribute in attributes)
        {
            if (attribute.AttributeClass is { } type && Unsupported.TryGetValue(type.ToDisplayString(), out var reason))
            {
                var place = attribute.ApplicationSyntaxReference is { } syntax ? Location.Create(syntax.SyntaxTree, syntax.Span) : Location.None;
                var name = type.Name.Substring(0, type.Name.Length - "Attribute".Length);
                report(Diagnostic.Create(Rule.Unsupported, place, name, reason));
            }
        }
    }

    private static void CheckHooks(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        foreach (var hook in SerializationHooks.Types(type))
        {
            if (!SerializationHooks.IsCreatable(hook))
                context.Report(Rule.Hook, type, hook.Name, "must be a public or internal class with a constructor without parameters");
            else if (!SerializationHooks.Methods(hook).Any())
                context.Report(Rule.Hook, type, hook.Name, "has none of the methods OnSerializing, OnSerialized, OnDeserializing, OnDeserialized, OnCopying, OnCopied");
        }

        if (ApplicationCodecReader.Registration(type) is null
            && (Attributes.Has(type, Attributes.RegisterSerializer) || Attributes.Has(type, Attributes.RegisterCopier)))
        {
            context.Report(Rule.Hook, type, type.Name, "must be public or internal and not abstract, because generated code registers it");
        }

        if (Attributes.Has(type, Attributes.RegisterActivator) && !ActivatorReader.Registrations(type).Any())
        {
            context.Report(Rule.Hook, type, type.Name,
                "must implement IActivator<T>, have no type parameters, and have a constructor without parameters");
        }
    }
}
