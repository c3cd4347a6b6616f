using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>The list of types and members, and what an assembly lacks of it.</summary>
internal static class Contract
{
    /// <summary>What assemblies lack: a line per type that does not exist, or per member of one that does.</summary>
    internal static IEnumerable<string> Lacking(Dictionary<string, List<INamedTypeSymbol>> types) =>
        from listed in Read()
        from line in types.TryGetValue(listed.Key, out var candidates)
            ? listed.LackingIn(candidates).Select(what => listed.Key + " | " + what)
            : [listed.Key]
        select line;

    /// <summary>What assemblies have and the list has not: a line per type, or per member of a listed one.</summary>
    internal static IEnumerable<string> Unlisted(Dictionary<string, List<INamedTypeSymbol>> types)
    {
        var listed = Read().ToLookup(static type => type.Key, StringComparer.Ordinal);
        return from pair in types
               where !pair.Value.All(IsObsolete)
               from line in listed.Contains(pair.Key)
                   ? pair.Value.SelectMany(static type => type.GetMembers()).Where(IsListable)
                       .Where(member => !listed[pair.Key].Any(type => type.Lists(member)))
                       .Select(member => pair.Key + " | " + ContractText.Of(member).Replace("~", "", StringComparison.Ordinal))
                   : [pair.Key]
               select line;
    }

    /// <summary>Not for equality or formatting, no operator, no accessor, no constructor without parameters, not obsolete.</summary>
    private static bool IsListable(ISymbol member) =>
        IsAccessible(member) && !member.IsImplicitlyDeclared && !member.IsOverride && !IsObsolete(member)
        && member.ContainingType.TypeKind != TypeKind.Delegate
        && member is IFieldSymbol or IPropertySymbol or IEventSymbol or IMethodSymbol { MethodKind: MethodKind.Ordinary }
            or IMethodSymbol { MethodKind: MethodKind.Constructor, Parameters.Length: > 0 }
        && member.Name is not ("Equals" or "CompareTo" or "TryFormat" or "ToString" or "PrintMembers" or "<Clone>$" or "Deconstruct");

    private static bool IsObsolete(ISymbol symbol) =>
        symbol.GetAttributes().Any(static attribute => attribute.AttributeClass?.Name == "ObsoleteAttribute");

    private static List<ListedType> Read()
    {
        List<ListedType> types = [];
        foreach (var line in Repository.Text("tests/ActOp.House.Tests/Lists/orleans-api.txt").Split('\n'))
        {
            if (line.Length == 0 || line[0] == '#')
                continue;
            if (line.StartsWith("  ", StringComparison.Ordinal))
                types[^1].Members.Add(line[2..]);
            else
                types.Add(ListedType.Parse(line));
        }

        return types;
    }

    /// <summary>The public types of assemblies by <see cref="ListedType.Key"/>; what they refer to is beside the tests.</summary>
    internal static Dictionary<string, List<INamedTypeSymbol>> TypesIn(IReadOnlyCollection<string> paths)
    {
        var own = paths.Select(static path => MetadataReference.CreateFromFile(path)).ToArray();
        var platform = ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(path => own.All(reference => Path.GetFileName(reference.FilePath) != Path.GetFileName(path)))
            .Select(static path => MetadataReference.CreateFromFile(path));
        var compilation = CSharpCompilation.Create("api", references: [.. own, .. platform]);
        return own.Select(compilation.GetAssemblyOrModuleSymbol).OfType<IAssemblySymbol>().SelectMany(static assembly =>
            Types(assembly.GlobalNamespace))
            .GroupBy(ListedType.KeyOf, StringComparer.Ordinal).ToDictionary(static group => group.Key, static group =>
                group.ToList(), StringComparer.Ordinal);
    }

    private static IEnumerable<INamedTypeSymbol> Types(INamespaceOrTypeSymbol parent)
    {
        foreach (var member in parent.GetMembers())
        {
            if (member is not INamespaceSymbol && !IsAccessible(member))
                continue;
            if (member is INamedTypeSymbol type)
                yield return type;
            if (member is INamespaceOrTypeSymbol inner)
            {
                foreach (var nested in Types(inner))
                    yield return nested;
            }
        }
    }

    internal static bool IsAccessible(ISymbol symbol) =>
        symbol.DeclaredAccessibility is Accessibility.Public or Accessibility.Protected or Accessibility.ProtectedOrInternal;
}

/// <summary>A type of the list with the text of its members.</summary>
internal sealed class ListedType
{
    private readonly MemberDeclarationSyntax _head;
    private readonly string[] _targets;
    private readonly bool _multiple;
    private readonly Func<string, string> _names;
    private string[]? _forms;

    private ListedType(string key, MemberDeclarationSyntax head, string usage)
    {
        Key = key;
        _head = head;
        _targets = [.. usage.Replace("; multiple", "", StringComparison.Ordinal).Split('|').Select(static target =>
            target.Trim()).Where(static target => target.Length > 0)];
        _multiple = usage.EndsWith("; multiple", StringComparison.Ordinal);
        _names = ContractText.Numbered((head as TypeDeclarationSyntax)?.TypeParameterList, "!", static name => name);
    }

    /// <summary>Namespace, name and number of type parameters.</summary>
    internal string Key { get; }

    internal List<string> Members { get; } = [];

    internal static string KeyOf(INamedTypeSymbol type) =>
        (type.ContainingType is { } outer ? KeyOf(outer) + "." : type.ContainingNamespace.ToDisplayString() + ".")
        + type.Name + (type.Arity > 0 ? "`" + type.Arity : "");

    internal static ListedType Parse(string line)
    {
        var colon = line.IndexOf(": ", StringComparison.Ordinal);
        var (space, rest) = (line[..colon], line[(colon + 2)..]);
        var comment = rest.IndexOf(" // on ", StringComparison.Ordinal);
        var usage = comment < 0 ? "" : rest[(comment + 7)..];
        rest = comment < 0 ? rest : rest[..comment];
        var nested = System.Text.RegularExpressions.Regex.Match(rest, @"\b(?:class|struct|interface|enum) ((?:\w+(?:<[\w, ]+>)?\.)+)");
        var outer = nested.Success ? nested.Groups[1].Value : "";
        if (outer.Length > 0)
            rest = rest.Replace(outer, "", StringComparison.Ordinal);
        var text = rest.StartsWith("delegate ", StringComparison.Ordinal) ? rest + ";" : rest + " { }";
        var head = SyntaxFactory.ParseMemberDeclaration(text) ?? throw new FormatException(line);
        var (name, parameters) = head switch
        {
            TypeDeclarationSyntax type => (type.Identifier.Text, type.TypeParameterList),
            EnumDeclarationSyntax @enum => (@enum.Identifier.Text, null),
            DelegateDeclarationSyntax @delegate => (@delegate.Identifier.Text, @delegate.TypeParameterList),
            _ => throw new FormatException(line),
        };
        var within = System.Text.RegularExpressions.Regex.Replace(outer, @"<([\w, ]+)>", static match => "`"
            + match.Groups[1].Value.Split(',').Length);
        return new ListedType(space + "." + within + name + (parameters is { } list ? "`" + list.Parameters.Count : ""), head, usage);
    }

    /// <summary>Whether a member of such a type has a line.</summary>
    internal bool Lists(ISymbol member)
    {
        if (_head is EnumDeclarationSyntax)
            return Members.Any(listed => IsValue(listed, member));
        _forms ??= [.. Members.Select(text => ContractText.Of(Parse(Key, text), _names))];
        var form = ContractText.Of(member);
        return _forms.Any(listed => ContractText.Matches(listed, form));
    }

    /// <summary>
    /// What the first of the types that lacks least lacks. Extension methods of one class may be in classes of that name in several
    /// packages, as those of Orleans are.
    /// </summary>
    internal IEnumerable<string> LackingIn(List<INamedTypeSymbol> candidates)
    {
        var lacking = candidates.Select(candidate => LackingIn(candidate).ToList()).ToList();
        return candidates.All(static candidate => candidate.IsStatic)
            ? lacking.Aggregate(static (one, other) => [.. one.Intersect(other)])
            : lacking.MinBy(static list => list.Count)!;
    }

    private IEnumerable<string> LackingIn(INamedTypeSymbol type)
    {
        if (_head is DelegateDeclarationSyntax @delegate)
        {
            return ContractText.Matches(ContractText.Of(@delegate, _names), ContractText.Of(type.DelegateInvokeMethod!)) ? []
                : ["another signature"];
        }

        if (_head is EnumDeclarationSyntax)
            return Members.Where(member => !type.GetMembers().Any(value => IsValue(member, value)));
        return LackingInHead(type).Concat(LackingInUsage(type)).Concat(LackingMembers(type));
    }

    private static bool IsValue(string listed, ISymbol value) => value is IFieldSymbol { HasConstantValue: true }
        && (listed == value.Name || ContractText.Of(value) == listed.Replace(" ", "", StringComparison.Ordinal).TrimEnd('U'));

    private IEnumerable<string> LackingInHead(INamedTypeSymbol type)
    {
        var head = (TypeDeclarationSyntax)_head;
        var kind = head switch
        {
            InterfaceDeclarationSyntax => TypeKind.Interface,
            StructDeclarationSyntax => TypeKind.Struct,
            RecordDeclarationSyntax { ClassOrStructKeyword.Text: "struct" } => TypeKind.Struct,
            _ => TypeKind.Class,
        };
        if (type.TypeKind != kind)
            yield return "kind: " + kind;
        if (kind == TypeKind.Class && head.Modifiers.Any(SyntaxKind.StaticKeyword) != type.IsStatic)
            yield return "static";
        if (type.IsSealed && kind == TypeKind.Class && !head.Modifiers.Any(SyntaxKind.SealedKeyword)
            && !head.Modifiers.Any(SyntaxKind.StaticKeyword))
        {
            yield return "not sealed";
        }

        if (type.IsAbstract && kind == TypeKind.Class && !head.Modifiers.Any(SyntaxKind.AbstractKeyword)
            && !head.Modifiers.Any(SyntaxKind.StaticKeyword))
        {
            yield return "not abstract";
        }

        string[] parents = [.. Parents(type).Select(ContractText.Type)];
        foreach (var parent in head.BaseList?.Types.Select(parent => ContractText.Type(parent.Type, _names)) ?? [])
        {
            if (!parents.Any(own => ContractText.Matches(parent, own)))
                yield return ": " + parent;
        }
    }

    private IEnumerable<string> LackingInUsage(INamedTypeSymbol type)
    {
        if (_targets.Length == 0)
            yield break;
        var usage = Parents(type).Prepend(type).SelectMany(static parent => parent.GetAttributes())
            .FirstOrDefault(static attribute => attribute.AttributeClass?.Name == "AttributeUsageAttribute");
        var targets = (AttributeTargets)(usage?.ConstructorArguments[0].Value ?? (int)AttributeTargets.All);
        foreach (var target in _targets.Where(target => !targets.HasFlag(Enum.Parse<AttributeTargets>(target))))
            yield return "on " + target;
        if (_multiple && usage?.NamedArguments.Any(static argument => argument is { Key: "AllowMultiple", Value.Value: true }) != true)
            yield return "multiple";
    }

    private IEnumerable<string> LackingMembers(INamedTypeSymbol type)
    {
        List<ISymbol> own = [.. Parents(type).Prepend(type).SelectMany(static parent => parent.GetMembers()).Where(Contract.IsAccessible)];
        HashSet<ISymbol> found = new(SymbolEqualityComparer.Default);
        foreach (var member in Members)
        {
            if (Find(member, own, type) is { } match)
                found.Add(match);
            else
                yield return member;
        }

        if (type.TypeKind == TypeKind.Interface)
        {
            foreach (var extra in type.GetMembers().Where(member => member.IsAbstract && !found.Contains(member)
                && member is not IMethodSymbol { AssociatedSymbol: not null }))
            {
                yield return "an implementer must add " + ContractText.Of(extra).Replace("~", "", StringComparison.Ordinal);
            }
        }
    }

    private ISymbol? Find(string text, List<ISymbol> own, INamedTypeSymbol type)
    {
        var member = Parse(Key, text);
        var form = ContractText.Of(member, _names);
        // An implementation of a member of a base interface has no accessibility of its own.
        if (member is MethodDeclarationSyntax { ExplicitInterfaceSpecifier: not null })
        {
            return type.GetMembers().OfType<IMethodSymbol>().FirstOrDefault(candidate => candidate.ExplicitInterfaceImplementations.Any(
                implemented => ContractText.Matches(form, ContractText.Of(implemented))));
        }

        return own.FirstOrDefault(candidate =>
            ContractText.Matches(form, ContractText.Of(candidate))
            && (form[0] != '.' || SymbolEqualityComparer.Default.Equals(candidate.ContainingType, type))
            && Allows(candidate, member));
    }

    private static MemberDeclarationSyntax Parse(string key, string text) =>
        SyntaxFactory.ParseMemberDeclaration(text.EndsWith('}') ? text : text + ";") ?? throw new FormatException(key + ": " + text);

    private static bool Allows(ISymbol own, MemberDeclarationSyntax listed)
    {
        if (own.DeclaredAccessibility != Accessibility.Public && !listed.Modifiers.Any(SyntaxKind.ProtectedKeyword))
            return false;
        if (own.ContainingType.TypeKind == TypeKind.Interface)
            return !own.IsAbstract || !listed.GetLeadingTrivia().ToString().Contains("default impl", StringComparison.Ordinal);
        if ((listed.Modifiers.Any(SyntaxKind.VirtualKeyword) || listed.Modifiers.Any(SyntaxKind.AbstractKeyword))
            && !(own.IsVirtual || own.IsAbstract || (own.IsOverride && !own.IsSealed)))
        {
            return false;
        }

        return (listed, own) switch
        {
            (PropertyDeclarationSyntax property, IPropertySymbol symbol) => Accessors(property, symbol),
            (FieldDeclarationSyntax field, IFieldSymbol symbol) => !field.Modifiers.Any(SyntaxKind.ConstKeyword)
                || IsConstant(field, symbol),
            _ => true,
        };
    }

    private static bool IsConstant(FieldDeclarationSyntax listed, IFieldSymbol own)
    {
        var value = listed.Declaration.Variables[0].Initializer?.Value.ToString();
        if (!own.HasConstantValue || value is null)
            return own.HasConstantValue;
        var text = Convert.ToString(own.ConstantValue, System.Globalization.CultureInfo.InvariantCulture);
        return own.ConstantValue switch
        {
            string => value == "\"" + text + "\"",
            double number => value.TrimEnd('D') == text || double.Parse(value.TrimEnd('D'),
                System.Globalization.CultureInfo.InvariantCulture) == number,
            bool => string.Equals(value, text, StringComparison.OrdinalIgnoreCase),
            int.MinValue => value is "int.MinValue",
            int.MaxValue => value is "int.MaxValue",
            _ => value == text,
        };
    }

    private static bool Accessors(PropertyDeclarationSyntax listed, IPropertySymbol own)
    {
        foreach (var accessor in listed.AccessorList!.Accessors)
        {
            var method = accessor.IsKind(SyntaxKind.GetAccessorDeclaration) ? own.GetMethod : own.SetMethod;
            if (method is null || (method.IsInitOnly && !accessor.IsKind(SyntaxKind.InitAccessorDeclaration))
                || (method.DeclaredAccessibility != Accessibility.Public && !accessor.Modifiers.Any(SyntaxKind.ProtectedKeyword)
                    && !listed.Modifiers.Any(SyntaxKind.ProtectedKeyword)))
            {
                return false;
            }
        }

        return true;
    }

    private static IEnumerable<INamedTypeSymbol> Parents(INamedTypeSymbol type)
    {
        for (var parent = type.BaseType; parent is not null; parent = parent.BaseType)
            yield return parent;
        foreach (var parent in type.AllInterfaces)
            yield return parent;
    }
}
