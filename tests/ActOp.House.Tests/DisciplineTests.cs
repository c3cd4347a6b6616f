using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>Nothing unfinished, nothing that waits for the clock on the wall, no banned interface without a reason.</summary>
public partial class DisciplineTests
{
    [Fact]
    public void Nothing_is_left_for_later()
    {
        // Put together here so that this file does not find itself.
        string[] marks = ["TO" + "DO", "FIX" + "ME", "HA" + "CK:", "NotImplemented" + "Exception"];
        var found = from file in Repository.Sources("src", "tests", "samples", "bench")
                    from mark in marks
                    where file.Text.Contains(mark, StringComparison.Ordinal)
                    select $"{file.Path}: {mark}";
        Findings.None(found);
    }

    [Fact]
    public void No_test_is_skipped()
    {
        var found = from file in Repository.Sources("tests")
                    from argument in file.Syntax.DescendantNodes().OfType<AttributeArgumentSyntax>()
                    where argument.NameEquals?.Name.Identifier.Text is "Skip" or "SkipWhen" or "SkipUnless"
                    select file.Path;
        Findings.None(found);
    }

    [Fact]
    public void No_test_waits_for_the_clock_on_the_wall()
    {
        var bounded = Repository.List("bounded-waits.txt");
        var found = from file in Repository.Sources("tests")
                    from call in file.Syntax.DescendantNodes().OfType<InvocationExpressionSyntax>()
                    let name = call.Expression.ToString()
                    where name is "Thread.Sleep"
                        || (name == "SpinWait.SpinUntil" && !(bounded.ContainsKey(file.Path) && call.ArgumentList.Arguments.Count == 2))
                            || (name == "Task.Delay" && !HasProvider(call))
                    select $"{file.Path}: {call}";
        Findings.None(found);
    }

    [Fact]
    public void A_banned_interface_is_used_only_where_the_list_says_why()
    {
        var sanctioned = Repository.List("sanctioned.txt");
        var used = Repository.Sources("src")
            .Select(static file => (file.Path, Match: Sanction().Match(file.Text)))
            .Where(static found => found.Match.Success)
            .ToDictionary(static found => found.Path, static found => found.Match.Groups[1].Value.Trim(), StringComparer.Ordinal);
        Assert.Equal(sanctioned.OrderBy(static entry => entry.Key, StringComparer.Ordinal),
            used.OrderBy(static entry => entry.Key, StringComparer.Ordinal));
        Assert.DoesNotContain("", used.Values);
    }

    [Fact]
    public void Banned_interfaces_are_let_in_by_a_pragma_only()
    {
        var found = from path in Repository.Files("src", "*.csproj")
                    where Repository.Text(path).Contains("RS0030", StringComparison.Ordinal)
                    select path;
        Findings.None(found);
        Assert.DoesNotContain("RS0030", Repository.Text(".editorconfig"), StringComparison.Ordinal);
    }

    [Fact]
    public void No_task_is_discarded()
    {
        var allowed = Repository.List("discarded-tasks.txt");
        HashSet<string> found = [];
        foreach (var file in Repository.Sources("src"))
        {
            var discards = from assignment in file.Syntax.DescendantNodes().OfType<AssignmentExpressionSyntax>()
                           where assignment.Left is IdentifierNameSyntax { Identifier.Text: "_" }
                           && assignment.Right is InvocationExpressionSyntax
                           select assignment;
            if (discards.Any())
                found.Add(file.Path);
        }

        // Both ways: a place that has gone leaves the list, too.
        Assert.Equal(allowed.Keys.Order(StringComparer.Ordinal), found.Order(StringComparer.Ordinal));
        Assert.DoesNotContain("", allowed.Values);
    }

    /// <summary>What escapes such a method ends the process, and it tells the context of its caller that it begins.</summary>
    [Fact]
    public void No_method_is_async_void()
    {
        var found = from file in Repository.Sources("src")
                    from node in file.Syntax.DescendantNodes()
                    where (node is MethodDeclarationSyntax method && IsAsyncVoid(method.ReturnType, method.Modifiers))
                        || (node is LocalFunctionStatementSyntax local && IsAsyncVoid(local.ReturnType, local.Modifiers))
                    select $"{file.Path}: {node.ToString().Split('\n')[0].Trim()}";
        Findings.None(found);
    }

    private static bool IsAsyncVoid(TypeSyntax type, SyntaxTokenList modifiers) =>
        type.ToString() == "void" && modifiers.Any(static modifier => modifier.Text == "async");

    private static bool HasProvider(InvocationExpressionSyntax call) =>
        call.ArgumentList.Arguments.Count > 1 && !call.ArgumentList.Arguments[1].ToString().Contains("ancel", StringComparison.Ordinal);

    [GeneratedRegex("#pragma warning disable RS0030(?: *// *(.*))?")]
    private static partial Regex Sanction();
}
