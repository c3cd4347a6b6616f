using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>The words of the house.</summary>
public class NamingTests
{
    private static readonly string[] Empty = ["Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Center", "Impl", "Info", "Base",
        "Data"];

    /// <summary>Methods that had these names do different things, and now say which.</summary>
    private static readonly string[] GivenUp = ["Judge", "Look", "Nothing", "Told"];

    [Fact]
    public void A_type_name_ends_in_a_word_that_says_something()
    {
        var orleans = Repository.List("orleans-names.txt");
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    from name in file.TypeNames
                    where Empty.Any(word => name.EndsWith(word, StringComparison.Ordinal)) && !orleans.ContainsKey(name)
                    select $"{file.Path}: {name}";
        Findings.None(wrong);
    }

    /// <summary>What its parts are for, the name must say: ActivationParts are all that an activation uses; Orleans has ApplicationParts.</summary>
    [Fact]
    public void A_type_is_not_named_after_its_parts()
    {
        var wrong = from file in Repository.Sources("src")
                    from name in file.TypeNames
                    where name.EndsWith("Parts", StringComparison.Ordinal) && name is not ("ActivationParts" or "ApplicationParts")
                    select $"{file.Path}: {name}";
        Findings.None(wrong);
    }

    /// <summary>A name that does not say what the method does.</summary>
    [Fact]
    public void No_method_has_a_name_that_was_given_up()
    {
        var wrong = from file in Repository.Sources("src")
                    from method in file.Syntax.DescendantNodes().OfType<MethodDeclarationSyntax>()
                    where GivenUp.Contains(method.Identifier.Text)
                    select $"{file.Path}: {method.Identifier.Text}";
        Findings.None(wrong);
    }

    [Fact]
    public void Every_listed_name_is_in_use()
    {
        HashSet<string> used = [.. Repository.Sources("src").SelectMany(static file => file.TypeNames)];
        Findings.None(Repository.List("orleans-names.txt").Keys.Except(used));
    }
}
