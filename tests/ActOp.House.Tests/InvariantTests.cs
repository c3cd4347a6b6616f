using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>The checks of src that tests and the simulator run with (record 0077).</summary>
public class InvariantTests(ITestOutputHelper output)
{
    private const int Least = 300;

    private static readonly string[] Checks = ["Holds", "Held", "NotHeld", "Entered"];

    [Fact]
    public void The_sources_state_their_invariants()
    {
        var calls = Calls().GroupBy(static one => one.File.Project).OrderBy(static project => project.Key, StringComparer.Ordinal).ToArray();
        foreach (var project in calls)
            output.WriteLine($"{project.Key}: {project.Count()}");
        var all = calls.Sum(static project => project.Count());
        output.WriteLine($"all: {all}");
        Assert.InRange(all, Least, int.MaxValue);
    }

    /// <summary>While the switch is off, nothing of a check may be left: no closure, no text that is put together, no step of its own.</summary>
    [Fact]
    public void A_condition_changes_nothing_and_makes_nothing()
    {
        var wrong = from one in Calls()
                    let condition = one.Call.ArgumentList.Arguments[0].Expression
                    where one.Call.ArgumentList.Arguments.Count != 1 || condition.DescendantNodesAndSelf().Any(IsStep)
                    select $"{one.File.Path}: {one.Call}";
        Findings.None(wrong);
    }

    [Fact]
    public void Tests_check_and_what_is_not_a_test_does_not()
    {
        const string Switch = "ActOp.Invariants";
        Assert.True(AppContext.TryGetSwitch(Switch, out var isOn) && isOn);
        Assert.Contains(Switch, Repository.Text("tests/Directory.Build.props"), StringComparison.Ordinal);
        Findings.None(new[] { "src", "bench", "samples" }.SelectMany(static folder => Repository.Files(folder, "*.*proj"))
            .Concat(["Directory.Build.props", "src/Directory.Build.props", "src/Directory.Build.targets"])
            .Where(static path => Repository.Text(path).Contains(Switch + "\"", StringComparison.Ordinal)));
    }

    private static IEnumerable<(SourceFile File, InvocationExpressionSyntax Call)> Calls() =>
        from file in Repository.Sources("src")
        where file.Project != "Shared"
        from call in file.Syntax.DescendantNodes().OfType<InvocationExpressionSyntax>()
        where call.Expression is MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax { Identifier.Text: "Invariant" } } check
            && Checks.Contains(check.Name.Identifier.Text)
        select (file, call);

    private static bool IsStep(SyntaxNode node) => node is AssignmentExpressionSyntax or AwaitExpressionSyntax
        or InterpolatedStringExpressionSyntax or BaseObjectCreationExpressionSyntax or AnonymousFunctionExpressionSyntax { Modifiers.Count: 0 }
        || node.Kind() is SyntaxKind.PostIncrementExpression or SyntaxKind.PostDecrementExpression
            or SyntaxKind.PreIncrementExpression or SyntaxKind.PreDecrementExpression;
}
