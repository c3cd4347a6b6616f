using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace ActOp.Generators;

/// <summary>
/// Reports what a grain takes from its machine, such as the time of day: a simulation of the grain (<c>ActOp.Testing</c>) cannot repeat it.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class DeterminismAnalyzer : DiagnosticAnalyzer
{
    internal static readonly DiagnosticDescriptor NotRepeatable = new(
        "ACTOP0021",
        "What a grain takes from its machine cannot be repeated",
        "'{0}' is decided outside of the grain, so a simulated test cannot repeat it: use {1}",
        "ActOp",
        DiagnosticSeverity.Info,
        isEnabledByDefault: true,
        helpLinkUri: Rule.Help("ACTOP0021"));

    private const string Time = "the TimeProvider of the grain's services";
    private const string Chance = "a Random with a seed, or a value that the caller sends";
    private const string Turns = "the turns of the grain, without threads of its own";

    private static readonly Dictionary<string, string> Members = new()
    {
        ["System.DateTime.Now"] = Time,
        ["System.DateTime.UtcNow"] = Time,
        ["System.DateTime.Today"] = Time,
        ["System.DateTimeOffset.Now"] = Time,
        ["System.DateTimeOffset.UtcNow"] = Time,
        ["System.TimeProvider.System"] = Time,
        ["System.Environment.TickCount"] = Time,
        ["System.Environment.TickCount64"] = Time,
        ["System.Diagnostics.Stopwatch.StartNew"] = Time,
        ["System.Diagnostics.Stopwatch.GetTimestamp"] = Time,
        ["System.Random.Shared"] = Chance,
        ["System.Guid.NewGuid"] = Chance,
        ["System.Guid.CreateVersion7"] = Chance,
        ["System.Threading.Thread.Sleep"] = "await Task.Delay with " + Time,
        ["System.Threading.Tasks.Task.Delay"] = "Task.Delay with " + Time,
        ["System.Threading.Tasks.Task.Run"] = Turns,
        ["System.Threading.ThreadPool.QueueUserWorkItem"] = Turns,
        ["System.Threading.ThreadPool.UnsafeQueueUserWorkItem"] = Turns,
    };

    private static readonly Dictionary<string, string> Types = new()
    {
        ["System.Random"] = Chance,
        ["System.Diagnostics.Stopwatch"] = Time,
        ["System.Threading.Timer"] = "a timer of the grain (RegisterGrainTimer)",
        ["System.Threading.PeriodicTimer"] = "a timer of the grain (RegisterGrainTimer)",
        ["System.Threading.Thread"] = Turns,
    };

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [NotRepeatable];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterOperationAction(static c => Member(c, ((IInvocationOperation)c.Operation).TargetMethod), OperationKind.Invocation);
        context.RegisterOperationAction(
            static c => Member(c, ((IPropertyReferenceOperation)c.Operation).Property), OperationKind.PropertyReference);
        context.RegisterOperationAction(static c => Creation(c, (IObjectCreationOperation)c.Operation), OperationKind.ObjectCreation);
    }

    private static void Member(OperationAnalysisContext context, ISymbol member)
    {
        if (!member.IsStatic || member.ContainingType is not { } type
            || !Members.TryGetValue(type.ToDisplayString() + "." + member.Name, out var instead))
        {
            return;
        }

        // What is given the time does not take it.
        if (member is IMethodSymbol method && method.Parameters.Any(static one => one.Type.Name is "TimeProvider" or "DateTimeOffset"))
            return;
        Report(context, type.Name + "." + member.Name, instead);
    }

    private static void Creation(OperationAnalysisContext context, IObjectCreationOperation creation)
    {
        if (creation.Type is not { } type || !Types.TryGetValue(type.ToDisplayString(), out var instead)
            || (type.Name == "Random" && creation.Arguments.Length > 0)
            || creation.Arguments.Any(static one => one.Parameter?.Type.Name == "TimeProvider"))
        {
            return;
        }

        Report(context, "new " + type.Name, instead);
    }

    private static void Report(OperationAnalysisContext context, string what, string instead)
    {
        if (context.ContainingSymbol.ContainingType is { } type && GrainStateReader.IsGrainClass(type))
            context.ReportDiagnostic(Diagnostic.Create(NotRepeatable, context.Operation.Syntax.GetLocation(), what, instead));
    }
}
