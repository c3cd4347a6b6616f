using System.Collections.Immutable;
using System.Composition;
using System.Globalization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Formatting;
using Microsoft.CodeAnalysis.Simplification;

namespace ActOp.CodeFixes;

/// <summary>Gives a member of a serialized type the next free [Id] (ORLEANS0004).</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(MissingIdFix))]
[Shared]
public sealed class MissingIdFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = ["ORLEANS0004"];

    /// <summary>
    /// None: two fixes of one type at the same time would choose the same id. One fix gives ids to all members of its type.
    /// </summary>
    public override FixAllProvider? GetFixAllProvider() => null;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        var root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        var member = root?.FindNode(context.Span)
            .FirstAncestorOrSelf<MemberDeclarationSyntax>(static m => m is FieldDeclarationSyntax or PropertyDeclarationSyntax);
        if (member?.Parent is not TypeDeclarationSyntax type)
            return;
        var next = NextId(type);
        context.RegisterCodeFix(
            CodeAction.Create(
                "Add [Id(" + next.ToString(CultureInfo.InvariantCulture) + ")]",
                _ => Task.FromResult(
                    Editing.Replace(context.Document, root!, member, Editing.WithAttribute(member, "Orleans.Id", Editing.Number(next)))),
                "id"),
            context.Diagnostics);
        context.RegisterCodeFix(
            CodeAction.Create(
                "Add [Id] to all members of " + type.Identifier.Text,
                _ => Task.FromResult(Editing.Replace(context.Document, root!, type, WithIds(type, next))),
                "ids"),
            context.Diagnostics);
        context.RegisterCodeFix(
            CodeAction.Create(
                "Add [NonSerialized]",
                _ => Task.FromResult(Editing.Replace(context.Document, root!, member, Editing.NotSerialized(member))),
                "not"),
            context.Diagnostics);
    }

    private static TypeDeclarationSyntax WithIds(TypeDeclarationSyntax type, uint next)
    {
        var members = type.Members.Where(static m => Editing.HoldsState(m) && !Editing.Has(m, "Id") && !Editing.Has(m, "NonSerialized"));
        return type.ReplaceNodes(members, (member, _) => Editing.WithAttribute(member, "Orleans.Id", Editing.Number(next++)));
    }

    /// <summary>One more than the largest id in this part of the type. Ids that were given up below it are not used again.</summary>
    private static uint NextId(TypeDeclarationSyntax type)
    {
        var ids = type.Members.SelectMany(static m => m.AttributeLists).SelectMany(static list => list.Attributes)
            .Where(static a => Editing.IsNamed(a, "Id") && a.ArgumentList is { Arguments.Count: 1 })
            .Select(static a => a.ArgumentList!.Arguments[0].Expression is LiteralExpressionSyntax { Token.Value: int and >= 0 and var id }
                ? (uint)id + 1 : 0);
        return ids.DefaultIfEmpty(0u).Max();
    }
}

/// <summary>
/// Adds [GenerateSerializer] to a [Serializable] type (ORLEANS0005), and [Alias] to types and methods without one (ORLEANS0010).
/// </summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(MissingAttributeFix))]
[Shared]
public sealed class MissingAttributeFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = ["ORLEANS0005", "ORLEANS0010"];

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        var root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        if (root?.FindNode(context.Span).FirstAncestorOrSelf<MemberDeclarationSyntax>() is not { } member)
            return;
        var isAlias = context.Diagnostics[0].Id == "ORLEANS0010";
        var changed = isAlias
            ? Editing.WithAttribute(member, "Orleans.Alias", Editing.Text(AliasOf(member)))
            : Editing.WithAttribute(member, "Orleans.GenerateSerializer", null);
        var title = isAlias ? "Add [Alias(\"" + AliasOf(member) + "\")]" : "Add [GenerateSerializer]";
        context.RegisterCodeFix(
            CodeAction.Create(title, _ => Task.FromResult(Editing.Replace(context.Document, root!, member, changed)), title),
            context.Diagnostics);
    }

    /// <summary>A method's name, or a type's name with its namespaces, containing types and arity, as the runtime would name it.</summary>
    private static string AliasOf(MemberDeclarationSyntax member)
    {
        if (member is MethodDeclarationSyntax method)
            return method.Identifier.Text;
        var parts = member.AncestorsAndSelf().Select(static node => node switch
        {
            TypeDeclarationSyntax { TypeParameterList.Parameters.Count: > 0 and var arity } type =>
                type.Identifier.Text + "`" + arity.ToString(CultureInfo.InvariantCulture),
            BaseTypeDeclarationSyntax type => type.Identifier.Text,
            BaseNamespaceDeclarationSyntax space => space.Name.ToString(),
            _ => null,
        }).OfType<string>().Reverse();
        return string.Join(".", parts);
    }
}

/// <summary>Lets an await of a grain stay on its activation (ORLEANS0014).</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(ConfigureAwaitFix))]
[Shared]
public sealed class ConfigureAwaitFix : CodeFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds { get; } = ["ORLEANS0014"];

    /// <inheritdoc/>
    public override FixAllProvider GetFixAllProvider() => WellKnownFixAllProviders.BatchFixer;

    /// <inheritdoc/>
    public override async Task RegisterCodeFixesAsync(CodeFixContext context)
    {
        var root = await context.Document.GetSyntaxRootAsync(context.CancellationToken).ConfigureAwait(false);
        var call = root?.FindNode(context.Span, getInnermostNodeForTie: true).FirstAncestorOrSelf<InvocationExpressionSyntax>(
            static i => i.Expression is MemberAccessExpressionSyntax { Name.Identifier.Text: "ConfigureAwait" });
        if (call?.Expression is not MemberAccessExpressionSyntax { Expression: var awaited })
            return;
        context.RegisterCodeFix(
            CodeAction.Create(
                "Remove ConfigureAwait",
                _ => Task.FromResult(Editing.Replace(context.Document, root!, call, awaited.WithTrailingTrivia(call.GetTrailingTrivia()))),
                "remove"),
            context.Diagnostics);
    }
}

internal static class Editing
{
    public static Document Replace(Document document, SyntaxNode root, SyntaxNode node, SyntaxNode changed) =>
        document.WithSyntaxRoot(root.ReplaceNode(node, changed));

    /// <summary>Puts the attribute above what is there. The name is shortened where a using directive permits it.</summary>
    public static MemberDeclarationSyntax WithAttribute(MemberDeclarationSyntax member, string name, ExpressionSyntax? argument)
    {
        var arguments = argument is null ? null : SyntaxFactory.AttributeArgumentList(
            SyntaxFactory.SingletonSeparatedList(SyntaxFactory.AttributeArgument(argument)));
        var attribute = SyntaxFactory.Attribute(SyntaxFactory.ParseName(name).WithAdditionalAnnotations(Simplifier.Annotation), arguments);
        var list = SyntaxFactory.AttributeList(SyntaxFactory.SingletonSeparatedList(attribute))
            .WithAdditionalAnnotations(Formatter.Annotation);
        var leading = member.GetLeadingTrivia();
        var bare = member.WithoutLeadingTrivia();
        return bare.WithAttributeLists(bare.AttributeLists.Insert(0, list)).WithLeadingTrivia(leading)
            .WithAdditionalAnnotations(Formatter.Annotation);
    }

    /// <summary>[NonSerialized] belongs to fields; on a property it is for the field behind it.</summary>
    public static MemberDeclarationSyntax NotSerialized(MemberDeclarationSyntax member)
    {
        var changed = WithAttribute(member, "System.NonSerialized", null);
        if (member is not PropertyDeclarationSyntax)
            return changed;
        var list = changed.AttributeLists[0];
        return changed.ReplaceNode(
            list, list.WithTarget(SyntaxFactory.AttributeTargetSpecifier(SyntaxFactory.Token(SyntaxKind.FieldKeyword))));
    }

    public static ExpressionSyntax Number(uint value) =>
        SyntaxFactory.LiteralExpression(SyntaxKind.NumericLiteralExpression, SyntaxFactory.Literal((int)value));

    public static ExpressionSyntax Text(string value) =>
        SyntaxFactory.LiteralExpression(SyntaxKind.StringLiteralExpression, SyntaxFactory.Literal(value));

    public static bool HoldsState(MemberDeclarationSyntax member) => member switch
    {
        FieldDeclarationSyntax field => !field.Modifiers.Any(SyntaxKind.StaticKeyword) && !field.Modifiers.Any(SyntaxKind.ConstKeyword),
        PropertyDeclarationSyntax property => !property.Modifiers.Any(SyntaxKind.StaticKeyword) && property.AccessorList is { } accessors
            && accessors.Accessors.Any(static a => a is { Body: null, ExpressionBody: null })
            && !property.Modifiers.Any(SyntaxKind.AbstractKeyword),
        _ => false,
    };

    public static bool Has(MemberDeclarationSyntax member, string attribute) =>
        member.AttributeLists.SelectMany(static list => list.Attributes).Any(a => IsNamed(a, attribute));

    public static bool IsNamed(AttributeSyntax attribute, string name)
    {
        var last = attribute.Name is QualifiedNameSyntax qualified ? qualified.Right.Identifier.Text : attribute.Name.ToString();
        return last == name || last == name + "Attribute";
    }
}
