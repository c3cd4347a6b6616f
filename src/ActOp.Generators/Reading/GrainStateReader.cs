using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.Generators.Reading;

/// <summary>The state in memory of a grain class, according to its source.</summary>
/// <param name="Member">The first member that holds state, or null.</param>
/// <param name="OtherBase">The nearest base in another assembly, whose state is described by that assembly's manifest, or null.</param>
internal readonly record struct GrainState(ISymbol? Member, INamedTypeSymbol? OtherBase);

/// <summary>
/// Finds out whether a grain class holds state in memory. It does not when every field of it and of its bases is read-only and is an
/// immutable value or was injected through the constructor. All other fields count as state.
/// </summary>
internal static class GrainStateReader
{
    private const int MaxDepth = 4;

    /// <summary>Its state is persistent and transferred, as that of IPersistentState.</summary>
    private const string PersistentGrain = "Orleans.Grain<TGrainState>";

    // Interfaces and classes of services that hold no state of the grain, regardless of the source of the value.
    private static readonly HashSet<string> Services =
    [
        "Microsoft.Extensions.Logging.ILogger", "Microsoft.Extensions.Logging.ILogger<TCategoryName>",
        "Microsoft.Extensions.Logging.ILoggerFactory",
        "Orleans.IGrainFactory", "Orleans.IClusterClient", "Orleans.Runtime.IGrainContext", "Orleans.Runtime.IGrainRuntime",
        "Orleans.Runtime.ILocalSiloDetails",
        "System.IServiceProvider", "System.TimeProvider", "System.Type",
    ];

    private static readonly HashSet<string> OptionProperties = ["Value", "CurrentValue"];

    // Facets whose value is the grain's state and is not transferred. That of IPersistentState is: the runtime checks whether it can be.
    private static readonly HashSet<string> Facets = ["ITransactionalState"];

    /// <summary>True for classes to check: grains and their bases.</summary>
    public static bool IsGrainClass(INamedTypeSymbol type) =>
        type is { TypeKind: TypeKind.Class, IsStatic: false }
            && type.AllInterfaces.Any(static i => i.Name is "IGrain" or "IGrainBase"
                && i.ToDisplayString() is "Orleans.IGrain" or "Orleans.IGrainBase");

    /// <summary>True for classes that can be called as grains.</summary>
    public static bool IsCallable(INamedTypeSymbol type) =>
        !type.IsAbstract && type.AllInterfaces.Any(static i => i.Name == "IGrain" && i.ToDisplayString() == "Orleans.IGrain");

    public static GrainState Read(INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        for (var current = type; current is not null && !IsRoot(current); current = current.BaseType)
        {
            if (!SymbolEqualityComparer.Default.Equals(current.ContainingAssembly, compilation.Assembly))
                return new GrainState(null, current);
            if (Own(current.OriginalDefinition, compilation, cancellation) is { } member)
                return new GrainState(member, null);
        }

        return default;
    }

    private static bool IsRoot(INamedTypeSymbol type) =>
        type.SpecialType == SpecialType.System_Object
            || (type.Name == "Grain" && type.OriginalDefinition.ToDisplayString() is "Orleans.Grain" or PersistentGrain);

    private static ISymbol? Own(INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        foreach (var member in type.GetMembers())
        {
            if (member.IsStatic)
                continue;
            switch (member)
            {
                case IEventSymbol { IsAbstract: false } handler when handler.AddMethod is null or { IsImplicitlyDeclared: true }
                    || IsFieldLike(handler):
                    return handler;
                case IFieldSymbol { IsImplicitlyDeclared: true, AssociatedSymbol: null }:
                    break; // A captured parameter of the primary constructor: below.
                case IFieldSymbol { IsConst: false } field when !IsHarmless(field, type, compilation, cancellation):
                    return field.AssociatedSymbol ?? field;
            }
        }

        return CapturedState(type, compilation, cancellation);
    }

    private static bool IsFieldLike(IEventSymbol handler) =>
        handler.DeclaringSyntaxReferences.Any(static reference => reference.GetSyntax() is VariableDeclaratorSyntax);

    private static bool IsHarmless(IFieldSymbol field, INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        if (!field.IsReadOnly)
            return false;
        if (IsImmutable(field.Type, MaxDepth) || IsService(field.Type))
            return true;
        return MayBeInjected(field.Type) && IsOnlyInjected(field, type, compilation, cancellation);
    }

    /// <summary>Whether values of the type are always immutable.</summary>
    private static bool IsImmutable(ITypeSymbol type, int depth)
    {
        if (Primitives.IsImmutable(type) || IsReference(type))
            return true;
        if (depth == 0 || type is not INamedTypeSymbol named || named.TypeKind is not (TypeKind.Struct or TypeKind.Class))
            return false;
        if (named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T || named.IsTupleType)
            return named.TypeArguments.All(argument => IsImmutable(argument, depth - 1));
        if (named.ContainingNamespace.ToDisplayString() is "System.Collections.Immutable" or "System.Collections.Frozen")
        {
            return named.TypeArguments.All(argument => IsImmutable(argument, depth - 1))
                && !named.Name.EndsWith("Builder", StringComparison.Ordinal);
        }
        // Private fields of other assemblies are unknown.
        if (named.Locations.All(static location => !location.IsInSource)
            || (named.TypeKind == TypeKind.Class && !(named.IsSealed && named.BaseType?.SpecialType == SpecialType.System_Object)))
        {
            return false;
        }

        return named.GetMembers().All(member => member.IsStatic || member switch
        {
            IFieldSymbol field => (field.IsReadOnly || named.TypeKind == TypeKind.Struct) && IsImmutable(field.Type, depth - 1),
            IEventSymbol => false,
            _ => true,
        });
    }

    /// <summary>A reference to a grain or observer holds only its id.</summary>
    private static bool IsReference(ITypeSymbol type) =>
        type.TypeKind == TypeKind.Interface
            && (type.ToDisplayString() == "Orleans.Runtime.IAddressable"
                || type.AllInterfaces.Any(static i => i.Name == "IAddressable" && i.ToDisplayString() == "Orleans.Runtime.IAddressable"));

    private static bool IsService(ITypeSymbol type) => Services.Contains(type.OriginalDefinition.ToDisplayString());

    /// <summary>A constructor parameter is a service, unless it is a mutable collection, or a facet that is the state itself.</summary>
    private static bool MayBeInjected(ITypeSymbol type)
    {
        if (!type.IsReferenceType || type.TypeKind is TypeKind.Array or TypeKind.TypeParameter or TypeKind.Dynamic
            || Facets.Contains(type.Name))
        {
            return false;
        }

        if (type.SpecialType == SpecialType.System_Object)
            return false;
        return IsReadOnlyView(type)
            || !(type.SpecialType == SpecialType.System_Collections_IEnumerable
                || type.AllInterfaces.Any(static i => i.SpecialType == SpecialType.System_Collections_IEnumerable));
    }

    private static bool IsReadOnlyView(ITypeSymbol type) =>
        type.TypeKind == TypeKind.Interface
            && (type.OriginalDefinition.SpecialType == SpecialType.System_Collections_Generic_IEnumerable_T
                || type.Name.StartsWith("IReadOnly", StringComparison.Ordinal));

    private static bool IsOnlyInjected(IFieldSymbol field, INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        foreach (var reference in (field.AssociatedSymbol ?? field).DeclaringSyntaxReferences)
        {
            var value = reference.GetSyntax(cancellation) switch
            {
                VariableDeclaratorSyntax { Initializer: { } initializer } => initializer.Value,
                PropertyDeclarationSyntax { Initializer: { } initializer } => initializer.Value,
                // A property that a positional record makes has its parameter's value.
                _ => null,
            };
            if (value is not null && !IsInjected(value, compilation.GetSemanticModel(value.SyntaxTree), cancellation))
                return false;
        }

        foreach (var reference in type.DeclaringSyntaxReferences)
        {
            var syntax = reference.GetSyntax(cancellation);
            var model = compilation.GetSemanticModel(syntax.SyntaxTree);
            foreach (var node in syntax.DescendantNodes())
            {
                switch (node)
                {
                    case AssignmentExpressionSyntax assignment when !AssignsInjected(assignment.Left, assignment.Right, assignment, field,
                        model, cancellation):
                    case ArgumentSyntax { RefKindKeyword.RawKind: not 0 } argument when Names(
                        argument.Expression, field, model, cancellation):
                        return false;
                }
            }
        }

        return true;
    }

    // True too when the assignment is none to the field.
    private static bool AssignsInjected(
        ExpressionSyntax left, ExpressionSyntax right, AssignmentExpressionSyntax assignment, IFieldSymbol field, SemanticModel model,
        CancellationToken cancellation)
    {
        if (left is TupleExpressionSyntax targets)
        {
            if (right is TupleExpressionSyntax values && values.Arguments.Count == targets.Arguments.Count)
            {
                for (var i = 0; i < targets.Arguments.Count; i++)
                {
                    if (!AssignsInjected(targets.Arguments[i].Expression, values.Arguments[i].Expression, assignment, field, model,
                        cancellation))
                    {
                        return false;
                    }
                }

                return true;
            }

            return !targets.Arguments.Any(target => Names(target.Expression, field, model, cancellation));
        }

        return !Names(left, field, model, cancellation)
            || (assignment.IsKind(SyntaxKind.SimpleAssignmentExpression) && IsInjected(right, model, cancellation));
    }

    private static bool Names(ExpressionSyntax expression, IFieldSymbol field, SemanticModel model, CancellationToken cancellation)
    {
        var name = (field.AssociatedSymbol ?? field).Name;
        var identifier = expression switch
        {
            IdentifierNameSyntax simple => simple,
            MemberAccessExpressionSyntax { Name: IdentifierNameSyntax member } => member,
            _ => null,
        };
        return identifier?.Identifier.ValueText == name && model.GetSymbolInfo(expression, cancellation).Symbol is { } symbol
            && (SymbolEqualityComparer.Default.Equals(symbol, field)
                || SymbolEqualityComparer.Default.Equals(symbol, field.AssociatedSymbol));
    }

    /// <summary>A parameter of the constructor, or the value of options that are one.</summary>
    private static bool IsInjected(ExpressionSyntax value, SemanticModel model, CancellationToken cancellation) => value switch
    {
        ParenthesizedExpressionSyntax inner => IsInjected(inner.Expression, model, cancellation),
        CastExpressionSyntax cast => IsInjected(cast.Expression, model, cancellation),
        PostfixUnaryExpressionSyntax { RawKind: (int)SyntaxKind.SuppressNullableWarningExpression } sure =>
            IsInjected(sure.Operand, model, cancellation),
        BinaryExpressionSyntax { RawKind: (int)SyntaxKind.CoalesceExpression, Right: ThrowExpressionSyntax } checkedValue =>
            IsInjected(checkedValue.Left, model, cancellation),
        LiteralExpressionSyntax => true,
        IdentifierNameSyntax =>
            model.GetSymbolInfo(value,
                cancellation).Symbol is IParameterSymbol
            {
                ContainingSymbol: IMethodSymbol { MethodKind: MethodKind.Constructor },
                RefKind: RefKind.None
            },
        MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax options } member =>
            OptionProperties.Contains(member.Name.Identifier.ValueText)
            && model.GetTypeInfo(options, cancellation).Type is { ContainingNamespace: { } space }
            && space.ToDisplayString() == "Microsoft.Extensions.Options"
            && IsInjected(options, model, cancellation),
        _ => false,
    };

    /// <summary>
    /// A parameter of the primary constructor that members use is a mutable field; the source shows whether it is assigned.
    /// </summary>
    private static ISymbol? CapturedState(INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        if (type.IsRecord)
            return null; // Its parameters are properties.
        var primary = type.InstanceConstructors.FirstOrDefault(
            constructor =>
                constructor.DeclaringSyntaxReferences.Any(reference => reference.GetSyntax(cancellation) is TypeDeclarationSyntax));
        if (primary is null)
            return null;
        foreach (var parameter in primary.Parameters)
        {
            if (IsImmutable(parameter.Type, MaxDepth) || IsService(parameter.Type) || MayBeInjected(parameter.Type))
            {
                if (!IsWritten(parameter, type, compilation, cancellation))
                    continue;
            }

            if (IsCaptured(parameter, type, compilation, cancellation))
                return parameter;
        }

        return null;
    }

    private static bool IsWritten(
        IParameterSymbol parameter, INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation) =>
        Uses(parameter, type, compilation, cancellation).Any(static use => use.Parent switch
        {
            AssignmentExpressionSyntax assignment => assignment.Left == use,
            PrefixUnaryExpressionSyntax prefix =>
                prefix.RawKind is (int)SyntaxKind.PreIncrementExpression or (int)SyntaxKind.PreDecrementExpression or (int)SyntaxKind
                    .AddressOfExpression,
            PostfixUnaryExpressionSyntax postfix =>
                postfix.RawKind is (int)SyntaxKind.PostIncrementExpression or (int)SyntaxKind.PostDecrementExpression,
            ArgumentSyntax { RefKindKeyword.RawKind: not 0 } or RefExpressionSyntax => true,
            // One of several targets: (parameter, other) = ...
            ArgumentSyntax { Parent: TupleExpressionSyntax tuple } => IsTarget(tuple),
            _ => false,
        });

    private static bool IsTarget(TupleExpressionSyntax tuple) => tuple.Parent switch
    {
        AssignmentExpressionSyntax assignment => assignment.Left == tuple,
        ArgumentSyntax { Parent: TupleExpressionSyntax outer } => IsTarget(outer),
        ForEachVariableStatementSyntax => true,
        _ => false,
    };

    // A use in an initializer or in the arguments of the base creates no field.
    private static bool IsCaptured(
        IParameterSymbol parameter, INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation) =>
        Uses(parameter, type, compilation,
            cancellation).Any(static use => !use.Ancestors().TakeWhile(static node => node is not TypeDeclarationSyntax)
            .Any(static node => node is PrimaryConstructorBaseTypeSyntax
                || node is EqualsValueClauseSyntax
                {
                    Parent: VariableDeclaratorSyntax { Parent.Parent: FieldDeclarationSyntax } or PropertyDeclarationSyntax,
                }));

    private static IEnumerable<IdentifierNameSyntax> Uses(
        IParameterSymbol parameter, INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        foreach (var reference in type.DeclaringSyntaxReferences)
        {
            var syntax = reference.GetSyntax(cancellation);
            SemanticModel? model = null;
            foreach (var node in syntax.DescendantNodes())
            {
                if (node is not IdentifierNameSyntax identifier || identifier.Identifier.ValueText != parameter.Name)
                    continue;
                model ??= compilation.GetSemanticModel(syntax.SyntaxTree);
                if (SymbolEqualityComparer.Default.Equals(model.GetSymbolInfo(identifier, cancellation).Symbol, parameter))
                    yield return identifier;
            }
        }
    }
}
