using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>Where things are and how long they are.</summary>
public class LayoutTests
{
    private const int MostLines = 400;

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
    public void A_file_has_one_type_and_its_name()
    {
        Dictionary<string, string> crowded = Repository.List("crowded-files.txt");
        var wrong = from file in Repository.Sources("src", "tests", "samples", "bench")
                    where file.Types.Length > 1 || (file.Types.Length == 1 && !IsNamedAfter(file))
                    where !crowded.ContainsKey(file.Path)
                    select $"{file.Path}: {string.Join(", ", file.Types.Select(SourceFile.NameOf))}";
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
        // The ratchet: a listed file may shrink, not grow, and leaves the list when it fits.
        Dictionary<string, int> listed = Repository.List("long-files.txt").ToDictionary(static entry => entry.Key, static entry => int.Parse(entry.Value));
        var sizes = Repository.Sources("src", "tests", "samples", "bench").ToDictionary(static file => file.Path, static file => file.Lines);
        Findings.None(sizes.Where(file => file.Value > listed.GetValueOrDefault(file.Key, MostLines)));
        Findings.None(listed.Keys.Where(path => sizes.GetValueOrDefault(path) <= MostLines));
    }

    // File "GrainOfTState" for Grain<TState>, "ResponseOf" for Response<T>, "TupleCodec2" for one with two parameters, "Node.Life" for a part of Node.
    private static bool IsNamedAfter(SourceFile file)
    {
        string type = SourceFile.NameOf(file.Types[0])!;
        int arity = Arity(file.Types[0]);
        return file.Name == type || (arity > 0 && (file.Name == type + arity || file.Name.StartsWith(type + "Of", StringComparison.Ordinal)));
    }

    private static int Arity(MemberDeclarationSyntax type) => type switch
    {
        TypeDeclarationSyntax declared => declared.Arity,
        DelegateDeclarationSyntax declared => declared.Arity,
        _ => 0,
    };
}
