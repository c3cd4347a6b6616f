using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators;

/// <summary>
/// Reports attributes that compile and would do nothing: those on a class that generated code does not use so, and those that name a class
/// that it cannot use.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class AttributeAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rule.Unsupported, Rule.Hook, Rule.Mapping];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolAction(
            static c => Check(c.Symbol, c.Symbol.GetAttributes(), c.Compilation, c.ReportDiagnostic),
            SymbolKind.NamedType, SymbolKind.Method);
        context.RegisterSymbolAction(static c => CheckHooks(c, (INamedTypeSymbol)c.Symbol), SymbolKind.NamedType);
        context.RegisterCompilationAction(static c =>
            Check(null, c.Compilation.Assembly.GetAttributes(), c.Compilation, c.ReportDiagnostic));
    }

    private static void Check(
        ISymbol? owner, ImmutableArray<AttributeData> attributes, Compilation compilation, Action<Diagnostic> report)
    {
        foreach (var attribute in attributes)
        {
            if (attribute.AttributeClass is not { } type)
                continue;
            var location = attribute.ApplicationSyntaxReference is { } syntax
                ? Location.Create(syntax.SyntaxTree, syntax.Span) : Location.None;
            var fullName = type.ToDisplayString();
            if (Reason(fullName, owner, attribute) is { } reason)
            {
                var name = type.Name.Substring(0, type.Name.Length - "Attribute".Length);
                report(Diagnostic.Create(Rule.Unsupported, location, name, reason));
            }
            else if (fullName is Attributes.InvokableBaseType or Attributes.DefaultInvokableBaseType
                && Type(attribute, attribute.ConstructorArguments.Length - 1) is { } request
                && CustomRequests.Fault(request, compilation) is { } fault)
            {
                report(Diagnostic.Create(Rule.Mapping, location, fault));
            }
        }
    }

    /// <summary>Why the attribute would do nothing here; null if it does what it says.</summary>
    private static string? Reason(string attribute, ISymbol? owner, AttributeData data)
    {
        var type = owner as INamedTypeSymbol;
        switch (attribute)
        {
            case Attributes.GeneratedActivatorConstructor or Attributes.OrleansConstructor:
                return owner is IMethodSymbol { ContainingType: { } made } constructor && (CustomRequests.IsInvokable(made)
                        || (Attributes.Has(made, Attributes.GenerateSerializer) && CodecReader.IsServiceConstructor(constructor)))
                    ? null
                    : "the class must have [GenerateSerializer], and the constructor must be public or internal";
            case Attributes.InvokableCustomInitializer:
                return type is not null && CustomRequests.Bases(type).Any(static t => t.ToDisplayString() == "System.Attribute")
                    ? null
                    : "the class is no attribute for grain methods";
            case Attributes.InvokableBaseType or Attributes.DefaultInvokableBaseType:
                return Type(data, data.ConstructorArguments.Length - 1) is { } request && CustomRequests.IsInvokable(request)
                    ? null
                    : "the class of requests does not implement IInvokable";
            case Attributes.GenerateMethodSerializers:
                return Type(data, 0) is { } proxy && CustomRequests.IsReferenceBase(proxy)
                    ? null
                    : "the base class of references must be a class with the methods InvokeAsync, such as GrainReference";
            case Attributes.ReturnValueProxy:
                return type is not null && CustomRequests.IsInvokable(type)
                    && Attributes.Text(type, attribute) is { } name && CustomRequests.Lookup(type, name, 1) is not null
                    ? null
                    : "the class must implement IInvokable and have the method, with one parameter for the reference";
            default:
                return null;
        }
    }

    private static INamedTypeSymbol? Type(AttributeData data, int index) =>
        index >= 0 && index < data.ConstructorArguments.Length ? data.ConstructorArguments[index].Value as INamedTypeSymbol : null;

    private static void CheckHooks(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        foreach (var hook in SerializationHooks.Types(type))
        {
            if (!SerializationHooks.IsHook(hook))
            {
                context.Report(Rule.Hook, type, hook.Name,
                    "must be a public or internal class with a constructor without parameters, or a public one that gets services");
            }
            else if (!SerializationHooks.Methods(hook).Any())
            {
                context.Report(Rule.Hook, type, hook.Name,
                    "has none of the methods OnSerializing, OnSerialized, OnDeserializing, OnDeserialized, OnCopying, OnCopied");
            }
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
