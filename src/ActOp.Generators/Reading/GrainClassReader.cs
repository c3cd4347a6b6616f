using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>Finds grain classes, exceptions and enums, which only need their names registered.</summary>
internal static class GrainClassReader
{
    /// <summary>What the class or enum is registered as.</summary>
    public static ClassModel Read(INamedTypeSymbol type) => type.TypeKind == TypeKind.Enum
        ? new ClassModel(null, TypeText.Accessibility(type) is null ? null
            : new NamedTypeModel(TypeText.Open(type), Attributes.WireName(type)))
        : new ClassModel(Grain(type), Exception(type));

    /// <summary>The class with its grain type, or null when it is no grain.</summary>
    public static NamedTypeModel? Grain(INamedTypeSymbol type)
    {
        if (TypeText.Accessibility(type) is null)
            return null;
        return IsGrain(type) ? new NamedTypeModel(TypeText.Open(type), GrainType(type)) : null;
    }

    /// <summary>True for a class that implements a grain interface; it need not derive from Grain or implement IGrainBase.</summary>
    public static bool IsGrain(INamedTypeSymbol type) =>
        type is { TypeKind: TypeKind.Class, IsAbstract: false, IsStatic: false }
            && type.AllInterfaces.Any(static i => i.Name == "IGrain" && i.ToDisplayString() == "Orleans.IGrain") && !IsReference(type);

    /// <summary>The exception or provider with its name, or null when it is none that peers may name.</summary>
    public static NamedTypeModel? Exception(INamedTypeSymbol type)
    {
        if (type.IsAbstract || type.IsGenericType || type.ContainingType is { IsGenericType: true } || TypeText.Accessibility(type) is null)
            return null;
        // Applications name providers in calls: IManagementGrain.SendControlCommandToProvider.
        if (type.AllInterfaces.Any(static i => i.Name == "IControllable" && i.ToDisplayString() == "Orleans.Providers.IControllable"))
            return new NamedTypeModel(TypeText.Open(type), Attributes.WireName(type));
        for (var current = type.BaseType; current is not null; current = current.BaseType)
        {
            if (current.Name == "Exception" && current.ToDisplayString() == "System.Exception")
                return new NamedTypeModel(TypeText.Open(type), Attributes.WireName(type));
        }

        return null;
    }

    /// <summary>By attribute, else the class name in lower case without a trailing "grain", with its arity.</summary>
    public static string GrainType(INamedTypeSymbol type)
    {
        if (Attributes.Text(type, Attributes.GrainType) is { } name)
            return name;
        name = type.Name.ToLowerInvariant();
        if (name.Length > 5 && name.EndsWith("grain", StringComparison.Ordinal))
            name = name.Substring(0, name.Length - 5);
        var arity = TypeText.AllParameters(type).Count;
        return arity == 0 ? name : name + "`" + arity;
    }

    /// <summary>References implement grain interfaces too.</summary>
    private static bool IsReference(INamedTypeSymbol type)
    {
        for (var current = type.BaseType; current is not null; current = current.BaseType)
        {
            if (current.Name == "GrainReference" && current.ToDisplayString() == "Orleans.Runtime.GrainReference")
                return true;
        }

        return false;
    }
}
