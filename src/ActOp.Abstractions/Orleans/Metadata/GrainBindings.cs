using System.Collections.Immutable;
using System.Globalization;
using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>An attribute of grain classes that binds the grains to something, such as streams.</summary>
public interface IGrainBindingsProviderAttribute
{
    /// <summary>The bindings of the marked class: values by key.</summary>
    IEnumerable<Dictionary<string, string?>> GetBindings(IServiceProvider services, Type grainClass, GrainType grainType);
}

/// <summary>The bindings of a grain type.</summary>
public class GrainBindings
{
    /// <summary>Creates the list.</summary>
    public GrainBindings(GrainType grainType, ImmutableArray<ImmutableDictionary<string, string>> bindings)
    {
        GrainType = grainType;
        Bindings = bindings;
    }

    /// <summary>The grain type.</summary>
    public GrainType GrainType { get; }

    /// <summary>Its bindings: values by key.</summary>
    public ImmutableArray<ImmutableDictionary<string, string>> Bindings { get; }

    /// <summary>The bindings among the properties of a grain type.</summary>
    internal static GrainBindings FromProperties(GrainType grainType, IEnumerable<KeyValuePair<string, string>> properties)
    {
        var found = new SortedDictionary<string, ImmutableDictionary<string, string>.Builder>(StringComparer.Ordinal);
        foreach (var (key, value) in properties)
        {
            var parts = key.Split('.', 3);
            if (parts.Length != 3 || parts[0] != WellKnownGrainTypeProperties.BindingPrefix)
                continue;
            if (!found.TryGetValue(parts[1], out var binding))
                found[parts[1]] = binding = ImmutableDictionary.CreateBuilder<string, string>(StringComparer.Ordinal);
            binding[parts[2]] = value;
        }

        return new GrainBindings(grainType, [.. found.Values.Select(static binding => binding.ToImmutable())]);
    }
}

/// <summary>Puts what <see cref="IGrainBindingsProviderAttribute"/> returns into the properties of grain types.</summary>
public sealed class AttributeGrainBindingsProvider : IGrainPropertiesProvider
{
    private readonly IServiceProvider _services;

    /// <summary>Creates the provider.</summary>
    public AttributeGrainBindingsProvider(IServiceProvider serviceProvider) => _services = serviceProvider;

    /// <inheritdoc/>
    public void Populate(Type grainClass, GrainType grainType, Dictionary<string, string> properties)
    {
        ArgumentNullException.ThrowIfNull(grainClass);
        ArgumentNullException.ThrowIfNull(properties);
        var number = 0;
        foreach (var attribute in grainClass.GetCustomAttributes(inherit: true).OfType<IGrainBindingsProviderAttribute>())
        {
            foreach (var binding in attribute.GetBindings(_services, grainClass, grainType))
            {
                number++;
                foreach (var (key, value) in binding)
                {
                    if (value is not null)
                    {
                        properties[string.Create(CultureInfo.InvariantCulture,
                            $"{WellKnownGrainTypeProperties.BindingPrefix}.{number}.{key}")] = value;
                    }
                }
            }
        }
    }
}
