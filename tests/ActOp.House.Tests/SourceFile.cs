using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>A parsed C# file.</summary>
internal sealed record SourceFile(string Path, string Text, CompilationUnitSyntax Syntax)
{
    private static readonly CSharpParseOptions Options = new(LanguageVersion.Preview);

    /// <summary>The project's folder name: the second part of the path.</summary>
    public string Project => Path.Split('/')[1];

    /// <summary>The folders below the project.</summary>
    public string[] Folders => Path.Split('/')[2..^1];

    /// <summary>The declared namespace, null when there is none.</summary>
    public string? Namespace => Syntax.Members.OfType<BaseNamespaceDeclarationSyntax>().FirstOrDefault()?.Name.ToString();

    /// <summary>The types that are in no other type.</summary>
    public MemberDeclarationSyntax[] Types =>
        [.. Syntax.DescendantNodes(static node => node is CompilationUnitSyntax or BaseNamespaceDeclarationSyntax)
            .OfType<MemberDeclarationSyntax>().Where(static node => node is BaseTypeDeclarationSyntax or DelegateDeclarationSyntax)];

    /// <summary>The names of all types, nested ones too.</summary>
    public IEnumerable<string> TypeNames => Syntax.DescendantNodes().Select(NameOf).OfType<string>();

    /// <summary>Lines of text.</summary>
    public int Lines => Text.Count(static c => c == '\n');

    public static SourceFile Read(string path)
    {
        var text = Repository.Text(path);
        return new SourceFile(path, text, (CompilationUnitSyntax)CSharpSyntaxTree.ParseText(text, Options).GetRoot());
    }

    /// <summary>The name of a type declaration, null for any other node.</summary>
    public static string? NameOf(Microsoft.CodeAnalysis.SyntaxNode node) => node switch
    {
        BaseTypeDeclarationSyntax type => type.Identifier.Text,
        DelegateDeclarationSyntax type => type.Identifier.Text,
        _ => null,
    };
}
