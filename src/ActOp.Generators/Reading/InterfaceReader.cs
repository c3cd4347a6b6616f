using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>Makes the model of a grain interface.</summary>
internal sealed class InterfaceReader(Compilation compilation)
{
    /// <summary>True for interfaces that calls are generated for.</summary>
    public static bool IsGrainInterface(INamedTypeSymbol type) =>
        type.TypeKind == TypeKind.Interface && !IsMarker(type) && (IsAddressable(type) || IsMarked(type));

    /// <summary>True for interfaces of grains, observers and extensions.</summary>
    public static bool IsAddressable(INamedTypeSymbol type) =>
        type.AllInterfaces.Any(static i => i.Name == "IAddressable" && i.ToDisplayString() == "Orleans.Runtime.IAddressable");

    /// <summary>True for interfaces for which an attribute asks.</summary>
    private static bool IsMarked(INamedTypeSymbol type) =>
        new[] { type }.Concat(type.AllInterfaces).Any(static i => Attributes.Has(i, Attributes.GenerateMethodSerializers));

    /// <summary>Methods that a reference must implement, inherited ones included.</summary>
    public static IEnumerable<IMethodSymbol> Methods(INamedTypeSymbol type) =>
        new[] { type }.Concat(type.AllInterfaces).SelectMany(static i => i.GetMembers()).OfType<IMethodSymbol>().Where(IsCallable);

    /// <summary>The interface's name on the wire: by attribute or alias, else its full name.</summary>
    public static string WireName(INamedTypeSymbol type) =>
        Attributes.Text(type, Attributes.GrainInterfaceType) ?? Attributes.Text(type, Attributes.Alias) ?? TypeText.FullName(type);

    /// <summary>
    /// The method's id on the wire: FNV-1a of <c>interface.method`arity(parameter types)</c>, of <c>interface.alias</c> when
    /// the method has an alias, or of <c>interface.#id</c> when it has an id. Before it stands <c>extension/</c> for a method that an
    /// extension inherits.
    /// </summary>
    private static ulong MethodId(IMethodSymbol method, INamedTypeSymbol? extension)
    {
        method = method.OriginalDefinition;
        var prefix = (extension is null ? "" : WireName(extension.OriginalDefinition) + "/") + WireName(method.ContainingType) + ".";
        if (Attributes.Text(method, Attributes.Alias) is { } alias)
            return StableHash.HashOf(prefix + alias);
        if (Attributes.Number(method) is { } id)
            return StableHash.HashOf(prefix + "#" + id);
        var arity = method.Arity == 0 ? "" : "`" + method.Arity;
        return StableHash.HashOf(
            prefix + method.Name + arity + "(" + string.Join(",", method.Parameters.Select(static p => TypeText.Stable(p.Type))) + ")");
    }

    /// <summary>How the method answers.</summary>
    public static ReturnKind Return(ITypeSymbol type)
    {
        if (type.SpecialType == SpecialType.System_Void)
            return ReturnKind.Void;
        if (type is INamedTypeSymbol { MetadataName: "IAsyncEnumerable`1" } items
            && items.ContainingNamespace?.ToDisplayString() == "System.Collections.Generic")
        {
            return ReturnKind.AsyncEnumerable;
        }

        if (type is not INamedTypeSymbol named || named.ContainingNamespace?.ToDisplayString() != "System.Threading.Tasks")
            return ReturnKind.Unsupported;
        return named.MetadataName switch
        {
            "Task" => ReturnKind.Task,
            "Task`1" => ReturnKind.TaskOf,
            "ValueTask" => ReturnKind.ValueTask,
            "ValueTask`1" => ReturnKind.ValueTaskOf,
            _ => ReturnKind.Unsupported,
        };
    }

    /// <summary>True when code can be generated for the method; the analyzer says why not.</summary>
    public static bool IsSupported(IMethodSymbol method) =>
        method.Parameters.All(
            static p => p.RefKind == RefKind.None && !p.Type.IsRefLikeType && p.Type.TypeKind != TypeKind.Pointer)
        && method.Parameters.Count(static p => IsToken(p.Type)) <= 1;

    /// <summary>True for CancellationToken.</summary>
    public static bool IsToken(ITypeSymbol type) =>
        type.Name == "CancellationToken" && type.ToDisplayString() == "System.Threading.CancellationToken";

    /// <summary>The model, or null when the interface cannot be generated for.</summary>
    public InterfaceModel? Read(INamedTypeSymbol type)
    {
        if (!IsGrainInterface(type) || TypeText.Accessibility(type) is not { } accessibility)
            return null;
        var methods = Methods(type).ToList();
        if (!methods.All(IsSupported) || HasProperties(type)
            || CustomRequests.ProxyBase(type, compilation, out var isExtension) is not { } proxy
            || !methods.All(m => HasAnswer(m, proxy, compilation)))
        {
            return null;
        }

        var mine = methods.Where(m => SymbolEqualityComparer.Default.Equals(m.ContainingType, type))
            .Select(m => ReadCall(m, null, proxy, isExtension));
        var foreign = methods.Where(m => !SymbolEqualityComparer.Default.Equals(m.ContainingType, type)
            && MustGenerate(m, type)).Select(m => ReadCall(m, Extension(m, type), proxy, isExtension));
        var parameters = TypeText.AllParameters(type);
        var fullName = TypeText.FullName(type);
        var mangled = TypeText.Mangle(fullName);
        return new InterfaceModel(
            mangled,
            "Ref_" + mangled,
            accessibility,
            TypeText.List(parameters.Select(TypeText.NameOf)),
            parameters.Count,
            TypeText.Constraints(parameters),
            TypeText.SourceOf(type),
            TypeText.Open(type),
            WireName(type),
            new(mine.ToArray()),
            new(foreign.Distinct().ToArray()),
            new(methods.Select(m => ReadMethod(m, Extension(m, type), proxy)).ToArray()),
            ReadProxy(proxy));
    }

    /// <summary>True if the method returns what calls can answer, or something that has a request class of the application.</summary>
    public static bool HasAnswer(IMethodSymbol method, INamedTypeSymbol proxy, Compilation compilation) =>
        CustomRequests.FindRequestClass(method, proxy, compilation) is { } found
            ? CustomRequests.Read(method, proxy, false, found, compilation) is not null
                && CustomRequests.Send(method, proxy, found).Length > 0
            : CustomRequests.IsOrdinaryReference(proxy) && Return(method.ReturnType) != ReturnKind.Unsupported;

    private ProxyModel ReadProxy(INamedTypeSymbol proxy)
    {
        var isReference = CustomRequests.IsReference(proxy);
        return new ProxyModel(
            TypeText.SourceOf(proxy),
            isReference,
            isReference ? new([]) : new(CustomRequests.Constructors(proxy, compilation).Select(static p =>
                string.Join("|", p)).ToArray()));
    }

    /// <summary>True when the type has instance properties or events, which references cannot have.</summary>
    public static bool HasProperties(INamedTypeSymbol type) =>
        new[] { type }.Concat(type.AllInterfaces).SelectMany(static i => i.GetMembers())
            .Any(static m => m is IPropertySymbol or IEventSymbol && !m.IsStatic);

    /// <summary>Before the name of the call class: the request class of a method that has one of the application.</summary>
    public const string RequestPrefix = "Request_";

    private static bool IsMarker(INamedTypeSymbol type) => type.ToDisplayString() is
        "Orleans.IGrain" or "Orleans.IGrainWithGuidKey" or "Orleans.IGrainWithIntegerKey" or "Orleans.IGrainWithStringKey"
        or "Orleans.IGrainWithGuidCompoundKey" or "Orleans.IGrainWithIntegerCompoundKey" or "Orleans.IGrainObserver"
        or "Orleans.ISystemTarget" or "Orleans.Runtime.IGrainExtension";

    private static bool IsCallable(IMethodSymbol method) =>
        method is
        {
            MethodKind: MethodKind.Ordinary, IsStatic: false,
            DeclaredAccessibility: Accessibility.Public or Accessibility.Internal or Accessibility.ProtectedOrInternal,
        } && (method.IsAbstract || method.IsVirtual);

    /// <summary>
    /// Methods of a base are generated with the base, unless it is no grain interface or its assembly has not been generated for.
    /// </summary>
    private bool MustGenerate(IMethodSymbol method, INamedTypeSymbol user)
    {
        var extension = Extension(method, user);
        var owner = (extension ?? method.ContainingType).OriginalDefinition;
        if (SymbolEqualityComparer.Default.Equals(owner, user.OriginalDefinition))
            return true;
        if (SymbolEqualityComparer.Default.Equals(owner.ContainingAssembly, user.ContainingAssembly))
            return !IsGrainInterface(owner);
        return compilation.GetTypeByMetadataName("ActOpGenerated." + ClassName(method, extension) + Suffix(method, owner)) is not { }
            generated || !compilation.IsSymbolAccessibleWithin(generated, compilation.Assembly);
    }

    /// <summary>
    /// The extension through which the method is called: it inherits it from an interface that is no extension, so that the method itself
    /// does not say whose it is. Null for all other methods.
    /// </summary>
    private static INamedTypeSymbol? Extension(IMethodSymbol method, INamedTypeSymbol user) => IsGrainInterface(method.ContainingType)
        ? null
        : user.AllInterfaces.Reverse().Append(user).FirstOrDefault(one => IsExtension(one)
            && one.AllInterfaces.Contains(method.ContainingType, SymbolEqualityComparer.Default));

    private static bool IsExtension(INamedTypeSymbol type) =>
        type.AllInterfaces.Any(static i => i.ToDisplayString() == "Orleans.Runtime.IGrainExtension");

    private static string Suffix(IMethodSymbol method, INamedTypeSymbol owner)
    {
        var arity = TypeText.AllParameters(owner).Count + method.Arity;
        return arity == 0 ? "" : "`" + arity;
    }

    private static string ClassName(IMethodSymbol method, INamedTypeSymbol? extension) =>
        "Call_" + (extension is null ? "" : TypeText.Mangle(TypeText.FullName(extension.OriginalDefinition)) + "_")
            + TypeText.Mangle(TypeText.FullName(method.ContainingType.OriginalDefinition)) + "_" + method.Name + "_"
            + MethodId(method, extension).ToString("x16");

    private static ITypeSymbol? Result(IMethodSymbol method) =>
        method.ReturnType is INamedTypeSymbol { TypeArguments.Length: 1 } named ? named.TypeArguments[0] : null;

    private CallModel ReadCall(IMethodSymbol constructed, INamedTypeSymbol? extension, INamedTypeSymbol proxy, bool isExtension)
    {
        // A method that an extension inherits is read as the extension sees it: its class has the type parameters of the extension.
        var method = extension is null ? constructed.OriginalDefinition : constructed;
        var type = method.ContainingType;
        var typeParameters = TypeText.AllParameters(extension ?? type);
        var parameters = typeParameters.Concat(method.TypeParameters).ToList();
        var custom = CustomRequests.FindRequestClass(method, proxy, compilation);
        return new CallModel(
            ClassName(method, extension),
            method.DeclaredAccessibility == Accessibility.Public && (extension is null || TypeText.Accessibility(extension) == "public")
                ? TypeText.Accessibility(type) ?? "internal" : "internal",
            TypeText.List(parameters.Select(TypeText.NameOf)),
            parameters.Count,
            TypeText.Constraints(parameters),
            TypeText.SourceOf(type),
            TypeText.Open(type),
            type.ToDisplayString(),
            method.Name,
            new(parameters.Select(TypeText.NameOf).ToArray()),
            new(method.TypeParameters.Select(TypeText.NameOf).ToArray()),
            MethodId(method, extension),
            Options(method) | (custom is not null && CustomRequests.IsOutgoingFilter(custom.Base) ? 0x400 : 0),
            Timeout(method),
            Attributes.Text(method, Attributes.Channel) ?? Attributes.Text(method.ContainingType, Attributes.Channel) ?? "",
            Return(method.ReturnType),
            Result(method) is { } result ? TypeText.SourceOf(result) : "",
            extension is not null ? TypeText.SourceOf(extension) : IsExtension(type) ? TypeText.SourceOf(type) : "",
            new(method.Parameters.Select(ReadArgument).ToArray()),
            custom is null ? null : CustomRequests.Read(method, proxy, isExtension, custom, compilation));
    }

    private static ArgumentModel ReadArgument(IParameterSymbol parameter) =>
        new(TypeText.SourceOf(parameter.Type), Primitives.Inline(parameter.Type), Primitives.IsImmutable(parameter.Type)
            || Attributes.Has(parameter, Attributes.Immutable));

    private ReferenceMethodModel ReadMethod(IMethodSymbol method, INamedTypeSymbol? extension, INamedTypeSymbol proxy)
    {
        var custom = CustomRequests.FindRequestClass(method, proxy, compilation);
        var arguments = TypeText.AllArguments(extension ?? method.ContainingType).Concat(method.TypeParameters).Select(TypeText.SourceOf);
        return new ReferenceMethodModel(
            TypeText.SourceOf(method.ContainingType),
            method.Name,
            TypeText.List(method.TypeParameters.Select(TypeText.NameOf)),
            TypeText.SourceOf(method.ReturnType),
            Return(method.ReturnType),
            Result(method) is { } result ? TypeText.SourceOf(result) : "",
            Attributes.Has(method, Attributes.OneWay),
            "global::ActOpGenerated." + (custom is null ? "" : RequestPrefix) + ClassName(method, extension) + TypeText.List(arguments),
            new(method.Parameters.Select(static p => TypeText.SourceOf(p.Type)).ToArray()),
            custom is null ? "" : CustomRequests.Send(method, proxy, custom),
            custom is not null && !CustomRequests.IsReference(proxy) && CustomRequests.Lookup(proxy, "GetInvokable", 0) is not null);
    }

    private static int Options(IMethodSymbol method)
    {
        var options = method.ReturnsVoid || Attributes.Has(method, Attributes.OneWay) ? 1 : 0;
        if (Attributes.Has(method, Attributes.ReadOnly))
            options |= 2;
        if (Attributes.Has(method, Attributes.AlwaysInterleave))
            options |= 4;
        if (Attributes.Has(method.ContainingType, Attributes.Unordered))
            options |= 8;
        if (Attributes.FindAttribute(method.GetReturnTypeAttributes(), Attributes.Immutable) is not null
            || (Result(method) is { } result && Primitives.IsImmutable(result)))
        {
            options |= 0x100;
        }

        if (Return(method.ReturnType) != ReturnKind.AsyncEnumerable && method.Parameters.Any(static p => IsToken(p.Type)))
            options |= 0x200;
        return options;
    }

    private static long Timeout(IMethodSymbol method) =>
        Attributes.Text(method, Attributes.ResponseTimeout) is { } text
            && TimeSpan.TryParse(text, System.Globalization.CultureInfo.InvariantCulture, out var timeout) ? timeout.Ticks : 0;
}
