namespace ActOp.House.Tests;

/// <summary>The words of the house.</summary>
public class NamingTests
{
    private static readonly string[] Empty = ["Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Center", "Impl", "Info", "Base",
        "Data"];

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

    [Fact]
    public void Every_listed_name_is_in_use()
    {
        HashSet<string> used = [.. Repository.Sources("src").SelectMany(static file => file.TypeNames)];
        Findings.None(Repository.List("orleans-names.txt").Keys.Except(used));
    }
}
