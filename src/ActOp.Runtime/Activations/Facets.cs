using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The facets in the constructor of one grain class: parameters with an attribute that is an <see cref="IFacetMetadata"/>. Their arguments
/// are made by the <see cref="IAttributeToFactoryMapper{TMetadata}"/> of the attribute. Read once per class; immutable; any thread.
/// </summary>
/// <remarks>
/// Holds the factories that the mappers have returned. A mapper that is missing or throws fails the activation with its exception, and the
/// next activation asks again. A factory that throws fails its activation; nothing was constructed then.
/// </remarks>
internal sealed class Facets
{
    private readonly Factory<IGrainContext, object>?[] _factories;

    private Facets(Type[] argumentTypes, Factory<IGrainContext, object>?[] factories)
    {
        ArgumentTypes = argumentTypes;
        _factories = factories;
    }

    /// <summary>The types of the arguments that do not come from the container, in the order of the parameters.</summary>
    internal Type[] ArgumentTypes { get; }

    /// <summary>Null if no constructor of the class has facets.</summary>
    internal static Facets? FindFacets(Type type, IServiceProvider services)
    {
        if (Choose(type.GetConstructors()) is not { } constructor)
            return null;
        var types = new List<Type>();
        var factories = new List<Factory<IGrainContext, object>?>();
        foreach (var parameter in constructor.GetParameters())
        {
            if (MetadataOf(parameter) is { } metadata)
                factories.Add(FactoryOf(type, parameter, metadata, services));
            else if (parameter.ParameterType == typeof(IGrainContext))
                factories.Add(null);
            else
                continue;
            types.Add(parameter.ParameterType);
        }

        return new Facets([.. types], [.. factories]);
    }

    internal static bool IsFacet(ParameterInfo parameter) => MetadataOf(parameter) is not null;

    internal object[] MakeArguments(IGrainContext context)
    {
        var arguments = new object[_factories.Length];
        for (var i = 0; i < arguments.Length; i++)
            arguments[i] = _factories[i] is { } factory ? factory(context) : context;
        return arguments;
    }

    /// <summary>The marked constructor, or the one with the most facets; null if none has any.</summary>
    private static ConstructorInfo? Choose(ConstructorInfo[] constructors) => constructors
        .Select(static constructor => (Constructor: constructor, Count: constructor.GetParameters().Count(IsFacet),
            IsMarked: constructor.IsDefined(typeof(ActivatorUtilitiesConstructorAttribute))))
        .Where(static one => one.Count > 0)
        .OrderByDescending(static one => one.IsMarked).ThenByDescending(static one => one.Count)
        .FirstOrDefault().Constructor;

    private static Attribute? MetadataOf(ParameterInfo parameter) =>
        parameter.GetCustomAttributes().FirstOrDefault(static attribute => attribute is IFacetMetadata);

    private static Factory<IGrainContext, object> FactoryOf(
        Type type, ParameterInfo parameter, Attribute metadata, IServiceProvider services)
    {
        // The mapper of a base of the attribute serves the derived one, too.
        for (var kind = metadata.GetType(); kind is not null && typeof(IFacetMetadata).IsAssignableFrom(kind); kind = kind.BaseType)
        {
            var contract = typeof(IAttributeToFactoryMapper<>).MakeGenericType(kind);
            if (services.GetService(contract) is not { } mapper)
                continue;
            var method = contract.GetMethod(nameof(IAttributeToFactoryMapper<>.GetFactory))!;
            return (Factory<IGrainContext, object>)method.Invoke(
                mapper, BindingFlags.DoNotWrapExceptions, null, [parameter, metadata], null)!;
        }

        throw new OrleansException("No mapper is registered for the attribute " + metadata.GetType() + " of the parameter " + parameter.Name
            + " in the constructor of " + type + ". Register an IAttributeToFactoryMapper<" + metadata.GetType().Name + ">.");
    }
}
