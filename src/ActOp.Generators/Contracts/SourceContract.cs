using ActOp.Generators.Reading;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Contracts;

/// <summary>A grain interface or grain class of the source, as OrleansContracts.txt would declare it.</summary>
internal sealed class SourceContract
{
    private const string Version = "Orleans.CodeGeneration.VersionAttribute";

    private readonly bool _isNamed;
    private readonly string _typeName;

    private SourceContract(INamedTypeSymbol type, bool isInterface, string? named, string identity)
    {
        Type = type;
        IsInterface = isInterface;
        Name = type.ToDisplayString();
        Identity = named ?? identity;
        _isNamed = named is not null;
        _typeName = TypeText.FullName(type);
        Number = Attributes.FindAttribute(type, Version) is { ConstructorArguments: { Length: > 0 } arguments }
            && arguments[0].Value is ushort number ? number : (ushort)0;
        Methods = isInterface
            ? [.. type.GetMembers().OfType<IMethodSymbol>().Where(static m => m is { MethodKind: MethodKind.Ordinary, IsStatic: false })]
            : [];
    }

    public INamedTypeSymbol Type { get; }

    public bool IsInterface { get; }

    /// <summary>The name of the type in C#.</summary>
    public string Name { get; }

    /// <summary>The name on the wire: the type of the grain interface or of the grain.</summary>
    public string Identity { get; }

    /// <summary>What [Version] says, else 0.</summary>
    public ushort Number { get; }

    public IReadOnlyList<IMethodSymbol> Methods { get; }

    /// <summary>As of <see cref="ContractEntry.Key"/>.</summary>
    public string Key => ContractEntry.KeyOf(IsInterface, Identity);

    /// <summary>The contract that the type is, or null.</summary>
    public static SourceContract? Read(INamedTypeSymbol type)
    {
        var isInterface = InterfaceReader.IsGrainInterface(type) && InterfaceReader.IsAddressable(type);
        var isClass = type is { TypeKind: TypeKind.Class, IsAbstract: false, IsStatic: false } && type.AllInterfaces.Any(IsGrain);
        // A file-local type has a name that depends on the path of its file: nobody else can call it.
        if ((!isInterface && !isClass) || type.IsFileLocal || IsGenerated(type))
            return null;
        return isInterface
            ? new SourceContract(type, true,
                Attributes.Text(type, Attributes.GrainInterfaceType) ?? Attributes.Text(type, Attributes.Alias), TypeText.FullName(type))
            : new SourceContract(type, false, Attributes.Text(type, Attributes.GrainType), GrainClassReader.GrainType(type));
    }

    /// <summary>All contracts of the project's own source.</summary>
    public static List<SourceContract> Read(Compilation compilation, CancellationToken cancel)
    {
        var contracts = new List<SourceContract>();
        var open = new Stack<INamespaceOrTypeSymbol>([compilation.Assembly.GlobalNamespace]);
        while (open.Count > 0)
        {
            cancel.ThrowIfCancellationRequested();
            foreach (var member in open.Pop().GetMembers().OfType<INamespaceOrTypeSymbol>())
            {
                open.Push(member);
                if (member is INamedTypeSymbol type && Read(type) is { } contract)
                    contracts.Add(contract);
            }
        }

        return contracts;
    }

    /// <summary>
    /// True if the entry, active or retired, has the wire name of this contract. An old entry without wire names has the type's name. The
    /// analyzer of Orleans 10.4.2 does not see an interface's [Alias], and writes the name that the interface would have without it.
    /// </summary>
    public bool IsDeclaredBy(ContractEntry entry) => entry.IsInterface == IsInterface && (entry.Identity is null
        ? entry.Name == Name
        : entry.Identity == Identity
            || (IsInterface && entry.Identity == _typeName && entry.Name == Name && !Attributes.Has(Type, Attributes.GrainInterfaceType)));

    /// <summary>True if the entry has the name of this class and another grain type: the class lost the grains that it was.</summary>
    public bool IsRenamed(ContractEntry entry) => !entry.IsRetired && !IsInterface && !entry.IsInterface && entry.Name == Name
        && entry.Identity is not null && entry.Identity != Identity;

    public ContractEntry ToEntry()
    {
        var entry = new ContractEntry(IsInterface, Identity, Name) { Version = Number, Comment = _isNamed ? Name : null };
        ContractFile.Add(entry, Methods.Select(Member));
        return entry;
    }

    public static ContractMember Member(IMethodSymbol method) => new(
        WireIdentity.IdentityOf(method),
        method.Name + (method.Arity == 0 ? "" : "`" + method.Arity) + "("
            + string.Join(", ", method.Parameters.Select(static p => Text(p.Type))) + ") -> " + Text(method.ReturnType));

    /// <summary>
    /// The type as the file names it: by its alias, without the names of tuples' parts, and with a question mark for reference types that
    /// may be null only where they have neither alias nor type arguments.
    /// </summary>
    private static string Text(ITypeSymbol type)
    {
        switch (type)
        {
            case IArrayTypeSymbol array:
                return Text(array.ElementType) + "[" + new string(',', array.Rank - 1) + "]";
            case ITypeParameterSymbol:
                return type.Name;
            case INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } nullable:
                return Text(nullable.TypeArguments[0]) + "?";
            case INamedTypeSymbol { IsTupleType: true } tuple:
                return "(" + string.Join(", ", tuple.TupleElements.Select(static e => Text(e.Type))) + ")";
            case INamedTypeSymbol named:
                var arguments = named.TypeArguments.Length == 0
                    ? "" : "<" + string.Join(", ", named.TypeArguments.Select(Text)) + ">";
                if (Attributes.Text(named.OriginalDefinition, Attributes.Alias) is { } alias)
                    return alias + arguments;
                if (named.Name is "Task" or "ValueTask" && named.ContainingNamespace.ToDisplayString() == "System.Threading.Tasks")
                    return named.Name + arguments;
                // Also of a type within a generic type Orleans keeps what stands before the first type parameter.
                return arguments.Length == 0
                    ? type.ToDisplayString() : named.OriginalDefinition.ToDisplayString().Split('<')[0] + arguments;
            default:
                return type.ToDisplayString();
        }
    }

    private static bool IsGrain(INamedTypeSymbol type) =>
        type.Name is "IGrain" or "ISystemTarget" && type.ToDisplayString() is "Orleans.IGrain" or "Orleans.ISystemTarget";

    /// <summary>True if no person wrote any part of the type: it is made anew from what its generator reads.</summary>
    private static bool IsGenerated(INamedTypeSymbol type)
    {
        for (var current = type; current is not null; current = current.ContainingType)
        {
            if (Attributes.Has(current, "System.CodeDom.Compiler.GeneratedCodeAttribute")
                || Attributes.Has(current, "System.Runtime.CompilerServices.CompilerGeneratedAttribute"))
            {
                return true;
            }
        }

        return type.DeclaringSyntaxReferences.All(static part => IsGenerated(part.SyntaxTree));
    }

    private static bool IsGenerated(SyntaxTree tree)
    {
        var path = tree.FilePath;
        return new[] { ".g.cs", ".g.i.cs", ".generated.cs", ".designer.cs" }
                .Any(end => path.EndsWith(end, StringComparison.OrdinalIgnoreCase))
            || tree.GetRoot().GetLeadingTrivia().ToString().Contains("<auto-generated");
    }
}
