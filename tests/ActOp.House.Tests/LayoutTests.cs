using System.Xml.Linq;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>Where things are and how long they are.</summary>
public class LayoutTests(ITestOutputHelper output)
{
    private const int MostLines = 600;
    private const int MostArguments = 8;

    /// <summary>
    /// What is read together stands together: the length of the median file of src. A third of the files are the public names of Orleans,
    /// by namespace.
    /// </summary>
    private const int ShortestMedian = 60;

    [Fact]
    public void A_namespace_is_its_folder()
    {
        var given = Repository.List("given-namespaces.txt").Keys.ToArray();
        var wrong = from file in Repository.Sources("src", "tests")
                    where file.Types.Length > 0 && !IsForeign(file)
                    where !given.Any(folder => file.Path.StartsWith(folder, StringComparison.Ordinal))
                    let expected = string.Join('.', [file.Project, .. file.Folders])
                    where file.Namespace != expected
                    select $"{file.Path}: {file.Namespace} instead of {expected}";
        Findings.None(wrong);
    }

    /// <summary>The contract stands in one folder of each assembly, and nothing else does: Orleans.X in Orleans/X, others behind it.</summary>
    [Fact]
    public void The_names_of_Orleans_are_in_the_folder_of_their_namespace()
    {
        var wrong = from file in Repository.Sources("src")
                    where file.Types.Length > 0 && (IsForeign(file) || file.Folders.FirstOrDefault() == "Orleans")
                    let folder = string.Join('.', file.Folders)
                    let isOrleans = file.Namespace!.StartsWith("Orleans", StringComparison.Ordinal)
                    where folder != (isOrleans ? file.Namespace : "Orleans." + file.Namespace)
                    select $"{file.Path}: {file.Namespace}";
        Findings.None(wrong);
    }

    private static bool IsForeign(SourceFile file) =>
        file.Namespace is { } name && new[] { "Orleans", "Microsoft" }.Any(
            root => name == root || name.StartsWith(root + ".", StringComparison.Ordinal));

    [Fact]
    public void A_namespace_is_declared_for_the_whole_file()
    {
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    where file.Syntax.Members.OfType<NamespaceDeclarationSyntax>().Any()
                    select file.Path;
        Findings.None(wrong);
    }

    /// <summary>
    /// What `dotnet format` asks for beyond white space and the rules that the build enforces: System first, then by name; static ones and
    /// names for types last.
    /// </summary>
    [Fact]
    public void Usings_are_in_order()
    {
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    let usings = file.Syntax.Usings.Select(KeyOf).ToArray()
                    where !usings.SequenceEqual(usings.Order(StringComparer.Ordinal))
                    select file.Path;
        Findings.None(wrong);
    }

    /// <summary>A text that sorts as the using does: parts of names end with the lowest character.</summary>
    private static string KeyOf(UsingDirectiveSyntax one)
    {
        var name = (one.Alias?.Name ?? one.NamespaceOrType).ToString();
        var kind = one.Alias is not null ? 2 : one.StaticKeyword.Text.Length > 0 ? 1 : 0;
        var isSystem = one.Alias is null && (name == "System" || name.StartsWith("System.", StringComparison.Ordinal));
        return kind + (isSystem ? "0" : "1") + name.Replace('.', '\0').ToUpperInvariant();
    }

    [Fact]
    public void Lines_of_src_have_at_most_140_columns()
    {
        var wrong = from path in Repository.Files("src", "*.cs")
                    from line in Repository.Text(path).Split('\n').Select(static (text, index) => (Text: text, Number: index + 1))
                    where line.Text.Length > 140
                    select path + ":" + line.Number;
        Findings.None(wrong);
    }

    /// <summary>NU1900 and NU1905: a source did not answer, or serves no such data. The build goes on, but not in silence.</summary>
    [Fact]
    public void A_restore_that_could_not_ask_for_known_vulnerabilities_says_so()
    {
        var properties = XDocument.Parse(Repository.Text("Directory.Build.props")).Descendants();
        Assert.Contains(properties, static one => one.Name == "NuGetAudit" && one.Value == "true");
        Assert.DoesNotContain(properties, static one => one.Name == "NoWarn" && one.Value.Contains("NU19", StringComparison.Ordinal));
    }

    [Fact]
    public void Files_of_src_are_long_enough_to_be_read_alone()
    {
        SourceFile[] files = [.. Repository.Sources("src").OrderBy(static file => file.Lines)];
        var median = files[files.Length / 2].Lines;
        output.WriteLine($"src: {files.Length} files, median {median} lines, largest {files[^1].Lines} ({files[^1].Path})");
        foreach (var project in files.GroupBy(static file => file.Project).OrderBy(static project => project.Key, StringComparer.Ordinal))
        {
            int[] lines = [.. project.Select(static file => file.Lines).Order()];
            output.WriteLine($"  {project.Key}: {lines.Length} files, {lines.Sum()} lines, median {lines[lines.Length / 2]}, largest {lines[^1]}");
        }

        Assert.InRange(median, ShortestMedian, MostLines);
    }

    [Fact]
    public void A_partial_class_is_completed_by_generated_code_only()
    {
        var parts = from file in Repository.Sources("src")
                    from type in file.Syntax.DescendantNodes().OfType<TypeDeclarationSyntax>()
                    where type.Modifiers.Any(static modifier => modifier.Text == "partial")
                    select (file.Path, Name: file.Namespace + "." + type.Identifier.Text, Generated: type.DescendantNodes()
                        .OfType<MethodDeclarationSyntax>().Any(IsGenerated));
        var found = parts.ToArray();
        output.WriteLine($"partial classes: {found.Length}, all for generated code");
        Findings.None(
            found.GroupBy(static part => part.Name).Where(static type => type.Count() > 1
                || !type.All(static part => part.Generated)).Select(static type => type.Key));
    }

    /// <summary>A class that needs more has too much to do, or a part is missing between it and what it uses.</summary>
    [Fact]
    public void A_constructor_takes_at_most_8_arguments()
    {
        var all = Repository.Sources("src").SelectMany(
            static file => file.Syntax.DescendantNodes().Select(static node => node switch
            {
                TypeDeclarationSyntax { ParameterList: { } list } type => (type.Identifier.Text, list.Parameters.Count),
                ConstructorDeclarationSyntax one => (one.Identifier.Text, one.ParameterList.Parameters.Count),
                _ => (Text: "", Count: 0),
            }).Where(static one => one.Text.Length > 0).Select(one => (Name: file.Path + "," + one.Text, one.Count))).ToArray();
        var large = all.Where(static one => one.Count > MostArguments).OrderByDescending(static one => one.Count).ToArray();
        output.WriteLine($"constructors: {all.Length}, {large.Length} with more than {MostArguments} arguments");
        foreach (var (name, count) in large)
            output.WriteLine($"  {count} {name}");
        Findings.AreListed(large.Select(static one => one.Name), "constructors.txt");
    }

    [Fact]
    public void Only_the_host_holds_the_node()
    {
        var holders = from file in Repository.Sources("src")
                      where file.Syntax.DescendantNodes().OfType<IdentifierNameSyntax>().Any(
                          static name => name.Identifier.Text == "Node" && name.Parent is not MemberAccessExpressionSyntax)
                      select file.Path;
        string[] found = [.. holders];
        output.WriteLine($"files that hold the node: {found.Length}");
        Findings.None(found.Except(Repository.List("node-holders.txt").Keys));
    }

    [Fact]
    public void A_file_fits_the_limit_of_lines()
    {
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    where file.Lines > MostLines
                    select $"{file.Path}: {file.Lines}";
        Findings.None(wrong);
    }

    /// <summary>One style: what is written on one line below its head has no braces (and what takes more has them: IDE0011).</summary>
    [Fact]
    public void A_body_of_one_line_has_no_braces()
    {
        var wrong = from file in Repository.Sources("src")
                    from block in file.Syntax.DescendantNodes().OfType<BlockSyntax>()
                    where OneLine.HasNeedlessBraces(block)
                    select $"{file.Path}:{block.GetLocation().GetLineSpan().StartLinePosition.Line + 1}";
        Findings.None(wrong);
    }

    private static bool IsGenerated(MethodDeclarationSyntax method) =>
        method.Modifiers.Any(static modifier => modifier.Text == "partial") && method.Body is null && method.ExpressionBody is null;
}
