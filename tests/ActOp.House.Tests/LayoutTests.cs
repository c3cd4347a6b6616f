using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>Where things are and how long they are.</summary>
public class LayoutTests
{
    private const int MostLines = 600;

    // Folders whose types have the public names of Orleans, or of the framework that Orleans extends.
    private static readonly string[] PublicNames = [.. Repository.List("public-namespaces.txt").Keys];

    [Fact]
    public void A_namespace_is_its_folder()
    {
        var wrong = from file in Repository.Sources("src")
                    where file.Types.Length > 0 && !PublicNames.Any(folder => file.Path.StartsWith(folder, StringComparison.Ordinal))
                    let expected = string.Join('.', [file.Project, .. file.Folders])
                    where file.Namespace != expected
                    select $"{file.Path}: {file.Namespace} instead of {expected}";
        Findings.None(wrong);
    }

    [Fact]
    public void Public_names_are_in_the_namespaces_of_Orleans_or_of_ours()
    {
        string[] roots = ["Orleans", "ActOp", "Microsoft.Extensions.Hosting", "Microsoft.Extensions.DependencyInjection", "System.Runtime.CompilerServices"];
        var wrong = from file in Repository.Sources("src")
                    where file.Types.Length > 0 && PublicNames.Any(folder => file.Path.StartsWith(folder, StringComparison.Ordinal))
                    where !roots.Any(root => file.Namespace == root || file.Namespace!.StartsWith(root + ".", StringComparison.Ordinal))
                    select $"{file.Path}: {file.Namespace}";
        Findings.None(wrong);
    }

    [Fact]
    public void The_names_of_Orleans_are_in_the_folder_of_their_namespace()
    {
        const string abstractions = "src/ActOp.Abstractions/";
        var wrong = from file in Repository.Sources("src")
                    where file.Path.StartsWith(abstractions, StringComparison.Ordinal)
                    let folder = string.Join('.', file.Folders)
                    let expected = file.Folders[0] == "Orleans" ? folder : "ActOp." + folder
                    where file.Namespace != expected
                    select $"{file.Path}: {file.Namespace} instead of {expected}";
        Findings.None(wrong);
    }

    [Fact]
    public void A_namespace_is_declared_for_the_whole_file()
    {
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    where file.Syntax.Members.OfType<NamespaceDeclarationSyntax>().Any()
                    select file.Path;
        Findings.None(wrong);
    }

    [Fact]
    public void A_file_fits_the_limit_of_lines()
    {
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    where file.Lines > MostLines
                    select $"{file.Path}: {file.Lines}";
        Findings.None(wrong);
    }
}
