using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>Bodies of one line. The branches of an if are one: all have braces if one needs them.</summary>
internal static class OneLine
{
    /// <summary>Whether the block is the body of a statement whose head and body would be one line each.</summary>
    public static bool HasNeedlessBraces(BlockSyntax block) => block.Parent switch
    {
        ForEachStatementSyntax or ForEachVariableStatementSyntax or ForStatementSyntax or WhileStatementSyntax or UsingStatementSyntax
            or LockStatementSyntax => IsHeadShort(block.Parent, block) && IsShort(block),
        IfStatementSyntax owner => AreBranchesShort(owner),
        ElseClauseSyntax { Parent: IfStatementSyntax owner } => AreBranchesShort(owner),
        _ => false,
    };

    private static bool AreBranchesShort(IfStatementSyntax owner)
    {
        while (owner.Parent is ElseClauseSyntax { Parent: IfStatementSyntax outer })
            owner = outer;
        for (var branch = owner; ; branch = (IfStatementSyntax)branch.Else.Statement)
        {
            if (!IsHeadShort(branch, branch.Statement) || !IsShort(branch.Statement))
                return false;
            if (branch.Else is null)
                return true;
            if (branch.Else.Statement is not IfStatementSyntax)
                return IsShort(branch.Else.Statement);
        }
    }

    private static bool IsShort(StatementSyntax body)
    {
        if (body is not BlockSyntax block)
            return body is not IfStatementSyntax && LineOf(body.SpanStart, body) == LineOf(body.Span.End, body);
        if (block.Statements.Count != 1 || !IsPlain(block.Statements[0]) || block.DescendantTrivia().Any(IsText))
            return false;
        var only = block.Statements[0];
        return LineOf(only.SpanStart, block) == LineOf(only.Span.End, block);
    }

    /// <summary>A statement that may stand without braces: no declaration, and none with a body.</summary>
    private static bool IsPlain(StatementSyntax statement) => statement is ExpressionStatementSyntax or ReturnStatementSyntax
        or ThrowStatementSyntax or BreakStatementSyntax or ContinueStatementSyntax or YieldStatementSyntax or GotoStatementSyntax;

    private static bool IsText(SyntaxTrivia trivia) =>
        trivia.IsDirective || trivia.IsKind(SyntaxKind.SingleLineCommentTrivia) || trivia.IsKind(SyntaxKind.MultiLineCommentTrivia);

    private static bool IsHeadShort(SyntaxNode owner, StatementSyntax body) =>
        LineOf(owner.SpanStart, owner) == LineOf(body.GetFirstToken().GetPreviousToken().Span.End, owner);

    private static int LineOf(int position, SyntaxNode node) => node.SyntaxTree.GetText().Lines.IndexOf(position);
}
