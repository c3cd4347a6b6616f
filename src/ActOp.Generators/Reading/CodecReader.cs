using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.Generators.Reading;

/// <summary>Makes the model of a type with [GenerateSerializer].</summary>
internal static class CodecReader
{
    /// <summary>The model, or null when generated code cannot name the type.</summary>
    public static CodecModel? Read(INamedTypeSymbol type)
    {
        // What a request class holds is written with its request.
        if (TypeText.Accessibility(type) is null || type.IsStatic || type.IsRefLikeType || CustomRequests.IsInvokable(type))
            return null;
        var typeParameters = TypeText.AllParameters(type);
        var parameters = Parameters(type, out var hasParameters).ToArray();
        var members = Members(type, parameters).ToArray();
        var inherited = Inheritance.InheritanceOf(type);
        return new CodecModel(
            "Codec_" + TypeText.Mangle(TypeText.FullName(type)),
            TypeText.List(typeParameters.Select(static p => p.Name)),
            typeParameters.Count,
            TypeText.Constraints(typeParameters),
            TypeText.SourceOf(type),
            TypeText.Open(type),
            Attributes.WireName(type),
            type.TypeKind == TypeKind.Enum,
            type.IsValueType,
            type.IsAbstract,
            Attributes.Has(type, Attributes.Immutable),
            type.IsSealed,
            IsReadOnly(type, parameters.Concat(members), inherited.Base),
            Attributes.Has(type, Attributes.SuppressReferenceTracking),
            Creation(type),
            inherited.Base is null ? "" : TypeText.SourceOf(inherited.Base),
            inherited.Items,
            inherited.Surrogate,
            hasParameters,
            new(parameters),
            new(members),
            new(SerializationHooks.HooksOf(type).ToArray()),
            Attributes.Has(type, Attributes.OmitDefaultMemberValues),
            new(ServiceConstructor(type) is { } constructor
                ? constructor.Parameters.Select(static p => TypeText.SourceOf(p.Type)).ToArray()
                : []));
    }

    /// <summary>The constructor that gets services when an object is read or copied; null if the type has none.</summary>
    public static IMethodSymbol? ServiceConstructor(INamedTypeSymbol type) =>
        type.IsAbstract || type.IsValueType ? null : type.InstanceConstructors.FirstOrDefault(IsServiceConstructor);

    /// <summary>True for a constructor with the attribute that generated code can call.</summary>
    public static bool IsServiceConstructor(IMethodSymbol constructor) =>
        IsVisible(constructor.DeclaredAccessibility)
        && (Attributes.Has(constructor, Attributes.GeneratedActivatorConstructor)
            || Attributes.Has(constructor, Attributes.OrleansConstructor));

    /// <summary>The members that have ids, by id; those of base classes are not among them.</summary>
    public static IEnumerable<(ISymbol Member, uint Id)> WithIds(INamedTypeSymbol type)
    {
        var automatic = Attributes.FindAttribute(type, Attributes.GenerateSerializer)?.NamedArguments.Any(
            static a => a.Key == "GenerateFieldIds" && a.Value.Value is 1) == true;
        foreach (var member in type.GetMembers())
        {
            if (member.IsStatic || member is not (IPropertySymbol or IFieldSymbol))
                continue;
            if (member is IFieldSymbol { AssociatedSymbol: not null })
                continue;
            var id = Attributes.Number(member) ?? (BackingField(type, member) is { } field ? Attributes.Number(field) : null)
                ?? ParameterId(type, member);
            if (id is null && automatic
                && member is IPropertySymbol { DeclaredAccessibility: Accessibility.Public, IsIndexer: false } property
                && (property.SetMethod is not null || BackingField(type, property) is not null))
            {
                id = (ushort)StableHash.HashOf(member.Name);
            }

            if (id is { } number)
                yield return (member, number);
        }
    }

    /// <summary>
    /// The parameters of the primary constructor that have a property of their name, for records and where it was asked for.
    /// </summary>
    public static List<IPropertySymbol> ImplicitParameters(INamedTypeSymbol type)
    {
        var result = new List<IPropertySymbol>();
        if (!IncludesParameters(type))
            return result;
        if (PrimaryConstructor(type) is { } constructor)
        {
            foreach (var parameter in constructor.Parameters)
            {
                if (type.GetMembers(parameter.Name).OfType<IPropertySymbol>().FirstOrDefault() is { } property)
                    result.Add(property);
            }
        }

        return result;
    }

    /// <summary>The field behind an auto property; null when there is none.</summary>
    public static IFieldSymbol? BackingField(INamedTypeSymbol type, ISymbol property) =>
        type.GetMembers().OfType<IFieldSymbol>().FirstOrDefault(
            field => SymbolEqualityComparer.Default.Equals(field.AssociatedSymbol, property));

    public static bool IsNotSerialized(ISymbol member) => Attributes.Has(member, "System.NonSerializedAttribute");

    /// <summary>The constructor whose parameters stand behind the type's name; null when there is none, or no source.</summary>
    public static IMethodSymbol? PrimaryConstructor(INamedTypeSymbol type) =>
        type.InstanceConstructors.FirstOrDefault(
            static c => c.DeclaringSyntaxReferences.FirstOrDefault()?.GetSyntax() is TypeDeclarationSyntax { ParameterList: not null });

    private static bool IncludesParameters(INamedTypeSymbol type) => IncludesParametersByAttribute(type) ?? type.IsRecord;

    private static bool? IncludesParametersByAttribute(INamedTypeSymbol type)
    {
        foreach (var argument in Attributes.FindAttribute(type, Attributes.GenerateSerializer)?.NamedArguments ?? [])
        {
            if (argument.Key == "IncludePrimaryConstructorParameters" && argument.Value.Value is bool included)
                return included;
        }

        return null;
    }

    /// <summary>A parameter of a record whose author says that its parameters are not sent.</summary>
    public static bool IsExcludedParameter(INamedTypeSymbol type, ISymbol member) =>
        type.IsRecord && IncludesParametersByAttribute(type) == false
        && PrimaryConstructor(type)?.Parameters.Any(p => p.Name == member.Name) == true;

    private static uint? ParameterId(INamedTypeSymbol type, ISymbol member) =>
        type.IsRecord && PrimaryConstructor(type)?.Parameters.FirstOrDefault(p => p.Name == member.Name) is { } parameter
            ? Attributes.Number(parameter) : null;

    private static IEnumerable<MemberModel> Parameters(INamedTypeSymbol type, out bool any)
    {
        var all = ImplicitParameters(type);
        any = all.Count > 0;
        var explicitIds = new HashSet<ISymbol>(WithIds(type).Select(static m => m.Member), SymbolEqualityComparer.Default);
        var models = new List<MemberModel>();
        for (var i = 0; i < all.Count; i++)
        {
            if (!explicitIds.Contains(all[i]) && Member(type, all[i], (uint)i) is { } model)
                models.Add(model);
        }

        return models;
    }

    private static IEnumerable<MemberModel> Members(INamedTypeSymbol type, MemberModel[] parameters) =>
        WithIds(type).Where(m => !parameters.Any(p => p.Name == m.Member.Name)).Select(m => Member(type, m.Member,
            m.Id)).OfType<MemberModel>()
            .GroupBy(static m => m.Id).Select(static g => g.First()).OrderBy(static m => m.Id);

    /// <summary>
    /// How generated code reads and sets the member; null when it is not sent, or when there is no storage to read and set.
    /// </summary>
    public static MemberModel? Member(INamedTypeSymbol type, ISymbol member, uint id)
    {
        if (IsNotSerialized(member))
            return null;
        if (member is IFieldSymbol field)
        {
            var direct = IsVisible(field.DeclaredAccessibility) && !IsForbidden(field);
            return field.IsConst
                ? null : new MemberModel(id, field.Name, Value(field, field.Type), direct, direct && !field.IsReadOnly, field.Name);
        }

        var property = (IPropertySymbol)member;
        var backing = BackingField(type, property);
        var inMetadata = property.DeclaringSyntaxReferences.Length == 0;
        if (property.IsIndexer || property.GetMethod is null || (property.SetMethod is null && backing is null))
            return null;
        var nameable = IsVisible(property.DeclaredAccessibility) && !IsForbidden(property);
        var readable = nameable && IsVisible(property.GetMethod.DeclaredAccessibility);
        var settable = nameable && property.SetMethod is { IsInitOnly: false } set && IsVisible(set.DeclaredAccessibility);
        if (backing is null && !inMetadata && !(readable && settable))
            return null;
        return new MemberModel(
            id, property.Name, Value(property, property.Type), readable, settable, "<" + property.Name + ">k__BackingField");
    }

    private static ArgumentModel Value(ISymbol member, ITypeSymbol type) =>
        new(TypeText.SourceOf(type), Primitives.Inline(type), Primitives.IsImmutable(type) || Attributes.Has(member, Attributes.Immutable));

    /// <summary>The use of a member with [Obsolete(..., error: true)] does not compile, also not in generated code.</summary>
    private static bool IsForbidden(ISymbol member) =>
        Attributes.FindAttribute(member, "System.ObsoleteAttribute") is { ConstructorArguments: { Length: 2 } arguments }
            && arguments[1].Value is true;

    private static bool IsVisible(Accessibility accessibility) =>
        accessibility is Accessibility.Public or Accessibility.Internal or Accessibility.ProtectedOrInternal;

    private static string Creation(INamedTypeSymbol type)
    {
        if (Attributes.Has(type, Attributes.UseActivator) && !type.IsAbstract)
            return "activator";
        if (ServiceConstructor(type) is not null)
            return "services";
        if (type.IsAbstract || type.InstanceConstructors.FirstOrDefault(static c => c.Parameters.Length == 0) is not { } constructor)
            return "uninitialized";
        var required = type.GetMembers().Any(static m => m is IPropertySymbol { IsRequired: true } or IFieldSymbol { IsRequired: true })
            || (type.BaseType is { SpecialType: SpecialType.None } parent && HasRequired(parent));
        return IsVisible(constructor.DeclaredAccessibility) && !required ? "new" : "accessor";
    }

    private static bool HasRequired(INamedTypeSymbol type) =>
        type.GetMembers().Any(static m => m is IPropertySymbol { IsRequired: true } or IFieldSymbol { IsRequired: true })
            || (type.BaseType is { SpecialType: SpecialType.None } parent && HasRequired(parent));

    /// <summary>True when no instance field of the class can change, so that immutable members make immutable objects.</summary>
    private static bool IsReadOnly(INamedTypeSymbol type, IEnumerable<MemberModel> members, INamedTypeSymbol? baseType)
    {
        if (type.IsValueType)
            return true;
        if (baseType is null && type.BaseType?.SpecialType != SpecialType.System_Object)
            return false;
        var names = new HashSet<string>(members.Select(static m => m.Name));
        return type.DeclaringSyntaxReferences.Length > 0
            && type.GetMembers().OfType<IFieldSymbol>().Where(static f => !f.IsStatic && !f.IsConst)
            .All(f => f.IsReadOnly && (names.Contains(f.AssociatedSymbol?.Name ?? f.Name) || Primitives.IsImmutable(f.Type)));
    }
}

/// <summary>Reads the hooks that a type names with [SerializationCallbacks].</summary>
internal static class SerializationHooks
{
    public const string Serializing = "OnSerializing";
    public const string Serialized = "OnSerialized";
    public const string Deserializing = "OnDeserializing";
    public const string Deserialized = "OnDeserialized";
    public const string Copying = "OnCopying";
    public const string Copied = "OnCopied";

    public static IEnumerable<HookModel> HooksOf(INamedTypeSymbol type)
    {
        foreach (var hook in Types(type))
        {
            var methods = Methods(hook).Select(static m =>
                (m.Parameters[m.Parameters.Length - 1].RefKind == RefKind.Ref ? "ref " : "") + m.Name).ToArray();
            if (methods.Length > 0 && IsHook(hook))
                yield return new HookModel(TypeText.SourceOf(hook), new(methods), !HasPlainConstructor(hook));
        }
    }

    /// <summary>The classes that the attributes name.</summary>
    public static IEnumerable<INamedTypeSymbol> Types(INamedTypeSymbol type) =>
        type.GetAttributes().Where(static a => a.AttributeClass?.ToDisplayString() == Attributes.SerializationCallbacks)
            .Select(static a => a.ConstructorArguments.FirstOrDefault().Value).OfType<INamedTypeSymbol>();

    /// <summary>Generated code makes one object of the class.</summary>
    public static bool IsCreatable(INamedTypeSymbol hook) =>
        hook is { IsAbstract: false, IsStatic: false } && TypeText.Accessibility(hook) is not null && HasPlainConstructor(hook);

    /// <summary>As <see cref="IsCreatable"/>, or one object for each service provider, whose constructor gets services.</summary>
    public static bool IsHook(INamedTypeSymbol hook) => IsCreatable(hook)
        || (hook is { IsAbstract: false, IsStatic: false, IsValueType: false } && TypeText.Accessibility(hook) is not null
            && hook.InstanceConstructors.Any(static c => c.DeclaredAccessibility == Accessibility.Public));

    private static bool HasPlainConstructor(INamedTypeSymbol hook) =>
        hook.IsValueType || hook.InstanceConstructors.Any(static c => c.Parameters.Length == 0 && IsVisible(c));

    public static IEnumerable<IMethodSymbol> Methods(INamedTypeSymbol hook)
    {
        foreach (var (name, parameters) in new[] { (Serializing, 1), (Serialized, 1), (Deserializing, 1), (Deserialized, 1), (Copying, 2),
            (Copied, 2) })
        {
            for (var current = hook; current is not null; current = current.BaseType)
            {
                if (current.GetMembers(name).OfType<IMethodSymbol>()
                    .FirstOrDefault(m => m.Parameters.Length == parameters && !m.IsStatic && IsVisible(m)) is { } method)
                {
                    yield return method;
                    break;
                }
            }
        }
    }

    private static bool IsVisible(IMethodSymbol method) =>
        method.DeclaredAccessibility is Accessibility.Public or Accessibility.Internal or Accessibility.ProtectedOrInternal;
}

/// <summary>Reads what a class with [RegisterActivator] makes.</summary>
internal static class ActivatorReader
{
    /// <summary>The registrations; none when generated code cannot make the class.</summary>
    public static IEnumerable<string> Registrations(INamedTypeSymbol type)
    {
        if (TypeText.AllParameters(type).Count > 0 || !SerializationHooks.IsCreatable(type))
            yield break;
        foreach (var i in type.AllInterfaces.Where(IsActivator))
            yield return "AddActivator<" + TypeText.SourceOf(i.TypeArguments[0]) + ">(static () => new " + TypeText.SourceOf(type) + "());";
    }

    private static bool IsActivator(INamedTypeSymbol type) =>
        type.MetadataName == "IActivator`1" && type.ContainingNamespace.ToDisplayString() == "Orleans.Serialization.Activators";
}

/// <summary>Reads a class with [RegisterSerializer] or [RegisterCopier].</summary>
internal static class ApplicationCodecReader
{
    /// <summary>The call on the type manifest; null when generated code cannot name the class.</summary>
    public static string? Registration(INamedTypeSymbol type) =>
        TypeText.Accessibility(type) is null || type.IsAbstract
            ? null : "AddApplicationCodec(static () => typeof(" + TypeText.Open(type) + "));";
}

/// <summary>Reads the conversions of a class with [RegisterConverter].</summary>
internal static class ConverterReader
{
    public static IEnumerable<ConverterModel> Read(INamedTypeSymbol type)
    {
        if (TypeText.Accessibility(type) is null || TypeText.AllParameters(type).Count > 0)
            yield break;
        foreach (var i in type.AllInterfaces)
        {
            if (i.MetadataName == "IConverter`2" && i.ContainingNamespace.ToDisplayString() == "Orleans"
                && i.TypeArguments[0] is INamedTypeSymbol value)
            {
                yield return new ConverterModel(TypeText.SourceOf(type), TypeText.SourceOf(value), TypeText.SourceOf(i.TypeArguments[1]),
                    TypeText.AllParameters(value).Count == 0 ? TypeText.FullName(value) : TypeText.Stable(value));
            }
        }
    }
}
