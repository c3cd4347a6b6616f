using System.Runtime.CompilerServices;
using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace ActOp.Generators.Reading;

/// <summary>
/// Finds the methods whose requests have a base class of the application, and reads what generated code must know of that class.
/// </summary>
internal static class CustomRequests
{
    private const string Reference = "Orleans.Runtime.GrainReference";
    private const string Invokable = "Orleans.Serialization.Invocation.IInvokable";

    private static readonly ConditionalWeakTable<Compilation, List<AttributeData>> OfAssemblies = new();

    /// <summary>Where the mapping of a method comes from, and its base class.</summary>
    public sealed record Found(INamedTypeSymbol Base, string? ProxyMethod, bool IsOrdinary);

    /// <summary>The base class of the reference of an interface; null if no reference is generated.</summary>
    public static INamedTypeSymbol? ProxyBase(INamedTypeSymbol type, Compilation compilation, out bool isExtension)
    {
        isExtension = type.AllInterfaces.Any(static i => i.ToDisplayString() == "Orleans.Runtime.IGrainExtension");
        foreach (var candidate in new[] { type }.Concat(type.AllInterfaces))
        {
            if (Attributes.FindAttribute(candidate, Attributes.GenerateMethodSerializers) is not
                { ConstructorArguments: { Length: > 0 } arguments }
                || arguments[0].Value is not INamedTypeSymbol proxy || !IsReferenceBase(proxy))
            {
                continue;
            }

            isExtension |= arguments.Length > 1 && arguments[1].Value is true;
            return proxy;
        }

        return InterfaceReader.IsAddressable(type) ? compilation.GetTypeByMetadataName(Reference) : null;
    }

    /// <summary>Whether references can derive from the class: it has the two methods that send requests.</summary>
    public static bool IsReferenceBase(INamedTypeSymbol type) =>
        type is { TypeKind: TypeKind.Class, IsSealed: false, IsStatic: false } && TypeText.Accessibility(type) is not null
        && Bases(type).SelectMany(static t => t.GetMembers("InvokeAsync")).OfType<IMethodSymbol>()
            .Count(static m => m.Parameters.Length == 1 && m.DeclaredAccessibility != Microsoft.CodeAnalysis.Accessibility.Private) >= 2;

    public static bool IsReference(INamedTypeSymbol type) => Bases(type).Any(static t => t.ToDisplayString() == Reference);

    /// <summary>True for the class that references have without a wish of the application.</summary>
    public static bool IsOrdinaryReference(INamedTypeSymbol type) => type.ToDisplayString() == Reference;

    public static bool IsInvokable(INamedTypeSymbol type) =>
        type.OriginalDefinition.AllInterfaces.Any(static i => i.ToDisplayString() == Invokable);

    /// <summary>Whether requests filter the calls that they are.</summary>
    public static bool IsOutgoingFilter(INamedTypeSymbol type) =>
        type.AllInterfaces.Any(static i => i.ToDisplayString() == "Orleans.IOutgoingGrainCallFilter");

    /// <summary>
    /// The base class of the requests of a method: that of an exact mapping before that of an open generic one, and each in the order of
    /// attributes of the method, of the return type, of assemblies, and of the class of references. Null if there is none.
    /// </summary>
    public static Found? FindRequestClass(IMethodSymbol method, INamedTypeSymbol proxy, Compilation compilation)
    {
        method = method.OriginalDefinition;
        if (method.ReturnType is not INamedTypeSymbol returned)
            return null;
        var isOrdinary = IsOrdinaryReference(proxy);
        var sources = new List<IEnumerable<AttributeData>>
        {
            method.GetAttributes().Select(static a => a.AttributeClass).OfType<INamedTypeSymbol>()
                .SelectMany(static a => a.GetAttributes()),
            returned.OriginalDefinition.GetAttributes(),
        };
        if (!isOrdinary || InterfaceReader.Return(returned) == ReturnKind.Unsupported)
            sources.Add(OfAssemblies.GetValue(compilation, ReadAssemblies));
        var maps = sources.Select(s => s.Where(a => Is(a, Attributes.InvokableBaseType) && MeansProxy(a, proxy)).ToList()).ToList();
        var defaults = Bases(proxy).SelectMany(static t => t.GetAttributes()).Where(static a => Is(a, Attributes.DefaultInvokableBaseType));
        maps.Add(defaults.ToList());
        foreach (var exact in new[] { true, false })
        {
            foreach (var attribute in maps.SelectMany(static m => m))
            {
                if (Match(attribute, returned, exact, Is(attribute, Attributes.InvokableBaseType) ? 1 : 0) is { } found)
                    return new Found(found, Named(attribute, "ProxyInvokeMethodName") ?? ProxyMethod(proxy, found, returned), false);
            }
        }

        return isOrdinary || !IsReference(proxy) || Ordinary(returned, compilation) is not { } ordinary ? null
            : new Found(ordinary, ProxyMethod(proxy, ordinary, returned), true);
    }

    /// <summary>What generated code must know; null if the request class cannot be used.</summary>
    public static CustomModel? Read(IMethodSymbol method, INamedTypeSymbol proxy, bool isExtension, Found found, Compilation compilation)
    {
        method = method.OriginalDefinition;
        var type = found.Base;
        if (TypeText.Accessibility(type) is null || !IsInvokable(type) || type.IsSealed
            || Constructor(type, compilation) is not { } constructor)
        {
            return null;
        }

        var isRequest = Bases(type).Any(static t => t.ToDisplayString() == "Orleans.Runtime.RequestBase");
        var inner = Lookup(type, "InvokeInner", 0);
        return new CustomModel(
            TypeText.SourceOf(type),
            IsReference(proxy),
            isRequest,
            isExtension,
            TypeText.SourceOf(method.ReturnType),
            inner is IMethodSymbol { IsSealed: false } overridden
                && (overridden.IsAbstract || overridden.IsVirtual || overridden.IsOverride)
                ? Visibility(overridden, compilation) + " override "
                : "private ",
            new(constructor.Parameters.Select(static p => TypeText.SourceOf(p.Type)).ToArray()),
            new(Initializers(method, type, compilation).ToArray()),
            Lookup(type, "AddInvokeMethodOptions", 1) is not null,
            new(CustomModel.MemberNames.Select(name => Modifier(
                type, name, isRequest, Attributes.Has(method, Attributes.ResponseTimeout))).ToArray()),
            Attributes.Text(ReturnValueProxy(type) ?? type, Attributes.ReturnValueProxy) ?? "",
            found.ProxyMethod ?? "",
            new(State(type).ToArray()));
    }

    /// <summary>Why no request class can derive from the class that a mapping names, in the words of Orleans; null if one can.</summary>
    public static string? Fault(INamedTypeSymbol type, Compilation compilation)
    {
        var reason = type is not { TypeKind: TypeKind.Class, IsSealed: false, IsStatic: false } ? "must be a non-sealed, non-static class."
            : TypeText.Accessibility(type) is null ? "is not accessible from the generated proxy assembly."
            : Constructor(type.OriginalDefinition, compilation) is null
                ? "must declare an accessible parameterless constructor or an accessible constructor annotated with "
                    + "[GeneratedActivatorConstructor]."
            : null;
        return reason is null ? null : "Invokable base type '" + type.ToDisplayString() + "' " + reason;
    }

    /// <summary>How the reference sends the request; empty if it cannot.</summary>
    public static string Send(IMethodSymbol method, INamedTypeSymbol proxy, Found found)
    {
        if (ReturnValueProxy(found.Base) is { } owner && Attributes.Text(owner, Attributes.ReturnValueProxy) is { } initializer)
            return "return call.@" + initializer + "(this);";
        var kind = InterfaceReader.Return(method.ReturnType);
        var name = found.ProxyMethod ?? (kind == ReturnKind.Void ? VoidMethod(proxy) : "InvokeAsync");
        var result = method.ReturnType is INamedTypeSymbol { TypeArguments.Length: 1 } named
            ? TypeText.SourceOf(named.TypeArguments[0])
            : "";
        return kind switch
        {
            ReturnKind.Void => name is null ? "" : "base." + name + "(call);",
            ReturnKind.Task => "return base." + name + "(call).AsTask();",
            ReturnKind.ValueTask => "return base." + name + "(call);",
            ReturnKind.TaskOf => "return base." + name + "<" + result + ">(call).AsTask();",
            ReturnKind.ValueTaskOf => "return base." + name + "<" + result + ">(call);",
            _ => "",
        };
    }

    /// <summary>The constructors of the class of references that a generated reference repeats.</summary>
    public static IEnumerable<string[]> Constructors(INamedTypeSymbol proxy, Compilation compilation) =>
        proxy.InstanceConstructors.Where(c => compilation.IsSymbolAccessibleWithin(c, compilation.Assembly)
                || c.DeclaredAccessibility is Microsoft.CodeAnalysis.Accessibility.Protected
                    or Microsoft.CodeAnalysis.Accessibility.ProtectedOrInternal)
            .Select(static c => c.Parameters.Select(static p => TypeText.SourceOf(p.Type)).ToArray());

    /// <summary>The class itself and its bases.</summary>
    public static IEnumerable<INamedTypeSymbol> Bases(INamedTypeSymbol type)
    {
        for (var current = type; current is not null; current = current.BaseType)
            yield return current;
    }

    /// <summary>The member of that name and number of parameters that a class inherits.</summary>
    public static ISymbol? Lookup(INamedTypeSymbol type, string name, int parameters) =>
        Bases(type).SelectMany(t => t.GetMembers(name)).FirstOrDefault(m => !m.IsStatic
            && (m is IMethodSymbol method ? method.Parameters.Length == parameters : parameters < 0));

    /// <summary>The class of a request with [ReturnValueProxy]: it or one of its bases.</summary>
    public static INamedTypeSymbol? ReturnValueProxy(INamedTypeSymbol type) =>
        Bases(type).FirstOrDefault(static t => Attributes.Has(t, Attributes.ReturnValueProxy));

    private static bool Is(AttributeData attribute, string name) => attribute.AttributeClass?.ToDisplayString() == name;

    private static string? VoidMethod(INamedTypeSymbol proxy) =>
        new[] { "Invoke", "InvokeVoid" }.FirstOrDefault(name => Lookup(proxy, name, 1) is not null);

    private static string? ProxyMethod(INamedTypeSymbol proxy, INamedTypeSymbol request, INamedTypeSymbol returned)
    {
        foreach (var type in Bases(request))
        {
            if (Attributes.Text(type, Attributes.InvokeMethodName) is { } name)
                return name;
        }

        foreach (var attribute in Bases(proxy).SelectMany(static t => t.GetAttributes()))
        {
            if (Is(attribute, Attributes.DefaultInvokeMethodName) && attribute.ConstructorArguments is { Length: 2 } arguments
                && arguments[0].Value is INamedTypeSymbol type
                && SymbolEqualityComparer.Default.Equals(type.OriginalDefinition, returned.OriginalDefinition))
            {
                return arguments[1].Value as string;
            }
        }

        return null;
    }

    private static List<AttributeData> ReadAssemblies(Compilation compilation) =>
    [
        .. compilation.Assembly.GetAttributes().Where(static a => Is(a, Attributes.InvokableBaseType)),
        .. compilation.SourceModule.ReferencedAssemblySymbols.SelectMany(static a => a.GetAttributes())
            .Where(static a => Is(a, Attributes.InvokableBaseType)),
    ];

    private static bool MeansProxy(AttributeData attribute, INamedTypeSymbol proxy) =>
        attribute.ConstructorArguments is { Length: 3 } arguments && arguments[0].Value is INamedTypeSymbol meant
        && Bases(proxy).Any(t => SymbolEqualityComparer.Default.Equals(t, meant));

    private static INamedTypeSymbol? Match(AttributeData attribute, INamedTypeSymbol returned, bool exact, int at)
    {
        if (attribute.ConstructorArguments.Length < at + 2 || attribute.ConstructorArguments[at].Value is not INamedTypeSymbol mapped
            || attribute.ConstructorArguments[at + 1].Value is not INamedTypeSymbol request)
        {
            return null;
        }

        if (exact)
            return !mapped.IsUnboundGenericType && SymbolEqualityComparer.Default.Equals(mapped, returned) ? request : null;
        if (!mapped.IsUnboundGenericType || !returned.IsGenericType
            || !SymbolEqualityComparer.Default.Equals(mapped.OriginalDefinition, returned.OriginalDefinition))
        {
            return null;
        }

        if (!request.IsUnboundGenericType)
            return request.TypeParameters.Length == 0 ? request : null;
        return request.TypeParameters.Length == returned.TypeArguments.Length
            ? request.OriginalDefinition.Construct([.. returned.TypeArguments])
            : null;
    }

    private static string? Named(AttributeData attribute, string name) =>
        attribute.NamedArguments.FirstOrDefault(a => a.Key == name).Value.Value as string;

    /// <summary>The request class of a return type if the application says nothing.</summary>
    private static INamedTypeSymbol? Ordinary(INamedTypeSymbol returned, Compilation compilation)
    {
        INamedTypeSymbol? RuntimeType(string name) => compilation.GetTypeByMetadataName("Orleans.Runtime." + name);
        return InterfaceReader.Return(returned) switch
        {
            ReturnKind.Void => RuntimeType("VoidRequest"),
            ReturnKind.Task => RuntimeType("TaskRequest"),
            ReturnKind.ValueTask => RuntimeType("Request"),
            ReturnKind.TaskOf => RuntimeType("TaskRequest`1")?.Construct([.. returned.TypeArguments]),
            ReturnKind.ValueTaskOf => RuntimeType("Request`1")?.Construct([.. returned.TypeArguments]),
            _ => null,
        };
    }

    private static IMethodSymbol? Constructor(INamedTypeSymbol type, Compilation compilation)
    {
        var all = type.InstanceConstructors.Where(c => c.DeclaredAccessibility is not Microsoft.CodeAnalysis.Accessibility.Private
                and not Microsoft.CodeAnalysis.Accessibility.Internal
            || compilation.IsSymbolAccessibleWithin(c, compilation.Assembly)).ToList();
        return all.FirstOrDefault(static c => Attributes.Has(c, Attributes.GeneratedActivatorConstructor)
                || Attributes.Has(c, Attributes.OrleansConstructor))
            ?? all.FirstOrDefault(static c => c.Parameters.Length == 0);
    }

    private static string Visibility(ISymbol member, Compilation compilation) => member.DeclaredAccessibility switch
    {
        Microsoft.CodeAnalysis.Accessibility.Public => "public",
        Microsoft.CodeAnalysis.Accessibility.Internal => "internal",
        Microsoft.CodeAnalysis.Accessibility.ProtectedAndInternal => "private protected",
        Microsoft.CodeAnalysis.Accessibility.ProtectedOrInternal
            when SymbolEqualityComparer.Default.Equals(member.ContainingAssembly, compilation.Assembly) => "protected internal",
        _ => "protected",
    };

    /// <summary>The modifiers with which generated code declares a member of IInvokable; empty if the class has it already.</summary>
    private static string Modifier(INamedTypeSymbol type, string name, bool isRequest, bool hasTimeout)
    {
        var parameters = name switch
        {
            "GetArgument" or "SetTarget" => 1,
            "SetArgument" => 2,
            "IsCancellable" => -1,
            _ => 0,
        };
        var found = Lookup(type, name, parameters);
        if (found is null)
            return "public ";
        var isOurs = found.ContainingType.ContainingAssembly?.Name == "ActOp.Abstractions";
        if (isRequest && isOurs && !CustomModel.IsOfArguments(name) && !found.IsAbstract)
            return "";
        var mayOverride = !found.IsSealed && (found.IsAbstract || found.IsVirtual || found.IsOverride);
        // What the application has written itself stays, except what depends on the method.
        var isKept = name is "Dispose" or "Invoke"
            || (!isOurs && (name == "TryCancel" || (name == "GetDefaultResponseTimeout" && !hasTimeout)));
        return !mayOverride || (isKept && !found.IsAbstract) ? "" : "public override ";
    }

    /// <summary>Calls that the constructor makes, as the attributes of the method say.</summary>
    private static IEnumerable<string> Initializers(IMethodSymbol method, INamedTypeSymbol request, Compilation compilation)
    {
        foreach (var attribute in method.GetAttributes())
        {
            if (attribute.AttributeClass is not { } type || type.ContainingAssembly?.Name == "ActOp.Abstractions")
                continue;
            foreach (var initializer in type.GetAttributes().Where(static a => Is(a, Attributes.InvokableCustomInitializer)))
            {
                if (initializer.ConstructorArguments is not { Length: > 0 } arguments || arguments[0].Value is not string name)
                    continue;
                if (Argument(attribute, initializer) is { } argument)
                    yield return "base.@" + name + "(" + argument.ToCSharpString() + ");";
                else
                    yield return "base.@" + name + "();";
            }
        }
    }

    private static TypedConstant? Argument(AttributeData onMethod, AttributeData initializer)
    {
        if (initializer.ConstructorArguments.Length > 1)
            return initializer.ConstructorArguments[1];
        if (initializer.NamedArguments.Where(static a => a.Key == "AttributeArgumentIndex").Select(static a => a.Value.Value)
            .FirstOrDefault() is int index)
        {
            return index >= 0 && index < onMethod.ConstructorArguments.Length ? onMethod.ConstructorArguments[index] : null;
        }

        if (initializer.NamedArguments.Where(static a => a.Key == "AttributeArgumentName").Select(static a => a.Value.Value)
            .FirstOrDefault() is int named)
        {
            return named >= 0 && named < onMethod.NamedArguments.Length ? onMethod.NamedArguments[named].Value : null;
        }

        return onMethod.ConstructorArguments.Length > 0 ? onMethod.ConstructorArguments[0] : null;
    }

    /// <summary>The members with ids of the application's base classes; those of a base come first.</summary>
    private static IEnumerable<CustomStateModel> State(INamedTypeSymbol type)
    {
        foreach (var owner in Bases(type).Reverse())
        {
            if (owner.ContainingAssembly?.Name == "ActOp.Abstractions" || owner.SpecialType == SpecialType.System_Object)
                continue;
            foreach (var (member, id) in CodecReader.WithIds(owner.OriginalDefinition).OrderBy(static m => m.Id))
            {
                // In terms of the constructed class, so that its type arguments stand in the type of the member.
                var constructed = owner.GetMembers(member.Name).First(m => m.Kind == member.Kind);
                if (CodecReader.Member(owner, constructed, id) is { } model)
                    yield return new CustomStateModel(TypeText.SourceOf(owner), Reach(constructed, model));
            }
        }
    }

    /// <summary>The request derives from the owner, so it also reaches protected members.</summary>
    private static MemberModel Reach(ISymbol member, MemberModel model) => member switch
    {
        IFieldSymbol field when IsProtected(field) => model with { IsDirect = true, IsSettable = !field.IsReadOnly },
        IPropertySymbol property when IsReached(property) => model with
        {
            IsDirect = property.GetMethod is { } get && IsReached(get),
            IsSettable = property.SetMethod is { IsInitOnly: false } set && IsReached(set),
        },
        _ => model,
    };

    private static bool IsReached(ISymbol member) =>
        member.DeclaredAccessibility == Microsoft.CodeAnalysis.Accessibility.Public || IsProtected(member);

    private static bool IsProtected(ISymbol member) => member.DeclaredAccessibility
        is Microsoft.CodeAnalysis.Accessibility.Protected or Microsoft.CodeAnalysis.Accessibility.ProtectedOrInternal;
}
