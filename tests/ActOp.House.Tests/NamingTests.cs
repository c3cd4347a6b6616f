using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>The words of the house.</summary>
public class NamingTests(ITestOutputHelper output)
{
    private static readonly string[] Empty = ["Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Center", "Impl", "Info", "Base",
        "Data"];

    /// <summary>
    /// Methods that had these names do different things, and now say which: two dozen called Of made, converted, computed or found something.
    /// </summary>
    private static readonly string[] GivenUp = ["Find", "Judge", "Look", "Nothing", "Of", "Put", "Take", "Told"];

    /// <summary>
    /// "Place" is the verb of placement; it was also an index, a bucket, a location, a line of source and a share of a limit. A lane is what
    /// writes one transaction after the other into a database.
    /// </summary>
    private static readonly string[] OneMeaning = ["Place", "Places", "place", "places", "_place", "_places", "Lane", "lane", "_lane"];

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
        var names = Named(GivenUp, static node => node switch
        {
            MethodDeclarationSyntax method => method.Identifier.Text,
            LocalFunctionStatementSyntax function => function.Identifier.Text,
            _ => "",
        });
        output.WriteLine($"methods with a name that was given up: {names.Length}, all listed");
        Findings.AreListed(names, "given-up-names.txt");
    }

    /// <summary>Names of types, members, arguments and locals that had several meanings.</summary>
    [Fact]
    public void A_word_that_had_several_meanings_has_one()
    {
        var names = Named(OneMeaning, static node => node switch
        {
            BaseTypeDeclarationSyntax type => type.Identifier.Text,
            MethodDeclarationSyntax method => method.Identifier.Text,
            PropertyDeclarationSyntax property => property.Identifier.Text,
            VariableDeclaratorSyntax variable => variable.Identifier.Text,
            SingleVariableDesignationSyntax variable => variable.Identifier.Text,
            ParameterSyntax parameter => parameter.Identifier.Text,
            TupleElementSyntax element => element.Identifier.Text,
            _ => "",
        });
        Findings.AreListed(names, "several-meanings.txt");
    }

    /// <summary>The files of src in which something has one of the names, each with the name.</summary>
    private static string[] Named(string[] names, Func<SyntaxNode, string> nameOf) =>
    [
        .. (from file in Repository.Sources("src")
            from node in file.Syntax.DescendantNodes()
            let name = nameOf(node)
            where names.Contains(name)
            select file.Path + "," + name).Distinct(),
    ];

    /// <summary>
    /// The rules of .editorconfig (IDE1006), which editors show and builds leave to this test; and those for statics that change, which no
    /// rule can say: t_ for each thread, s_ for all.
    /// </summary>
    [Fact]
    public void A_field_is_named_by_what_may_change_it()
    {
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    from field in file.Syntax.DescendantNodes().OfType<FieldDeclarationSyntax>()
                    from variable in field.Declaration.Variables
                    where !IsNamedWell(field, variable.Identifier.Text)
                    select $"{file.Path}: {variable.Identifier.Text}";
        Findings.None(wrong);
    }

    private static bool IsNamedWell(FieldDeclarationSyntax field, string name)
    {
        var words = field.Modifiers.Select(static modifier => modifier.Text).ToHashSet();
        if (words.Contains("const") || (words.Contains("static") && words.Contains("readonly")))
            return char.IsUpper(name[0]);
        if (words.Overlaps(["public", "protected", "internal"]))
            return true;
        if (!words.Contains("static"))
            return name.Length > 1 && name[0] == '_' && !char.IsUpper(name[1]);
        var isOfThread = field.AttributeLists.Any(static list => list.ToString().Contains("ThreadStatic", StringComparison.Ordinal));
        return name.StartsWith(isOfThread ? "t_" : "s_", StringComparison.Ordinal);
    }

    [Fact]
    public void Every_listed_name_is_in_use()
    {
        HashSet<string> used = [.. Repository.Sources("src").SelectMany(static file => file.TypeNames)];
        Findings.None(Repository.List("orleans-names.txt").Keys.Except(used));
    }
}
