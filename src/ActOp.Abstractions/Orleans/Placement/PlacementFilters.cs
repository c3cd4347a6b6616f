using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Metadata;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace Orleans.Placement;

/// <summary>Base of the attributes that give a grain a placement filter. A grain may have several.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public abstract class PlacementFilterAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <summary>Sets the filter.</summary>
    protected PlacementFilterAttribute(PlacementFilterStrategy placement)
    {
        ArgumentNullException.ThrowIfNull(placement);
        PlacementFilterStrategy = placement;
    }

    /// <summary>The filter.</summary>
    public PlacementFilterStrategy PlacementFilterStrategy { get; }

    /// <inheritdoc/>
    public virtual void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        PlacementFilterStrategy.PopulateGrainProperties(services, grainClass, grainType, properties);
}

/// <summary>Says how silos are left out before a placement strategy chooses; a director of the same filter decides.</summary>
public abstract class PlacementFilterStrategy
{
    private const string OrderKey = "order";

    /// <summary>Sets the order.</summary>
    protected PlacementFilterStrategy(int order) => Order = order;

    /// <summary>Filters of a grain are applied in ascending order; no two of a grain have the same.</summary>
    public int Order { get; private set; }

    /// <summary>Reads the filter's settings from the properties of the grain type.</summary>
    /// <exception cref="ArgumentException">They do not say the order.</exception>
    public void Initialize(GrainProperties properties)
    {
        var order = GetPlacementFilterGrainProperty(OrderKey, properties);
        if (!int.TryParse(order, NumberStyles.Integer, CultureInfo.InvariantCulture, out var number))
        {
            throw new ArgumentException(
                "The properties do not say the order of the placement filter " + GetType().Name + ".", nameof(properties));
        }

        Order = number;
        AdditionalInitialize(properties);
    }

    /// <summary>Reads settings of a derived filter, with <see cref="GetPlacementFilterGrainProperty"/>.</summary>
    public virtual void AdditionalInitialize(GrainProperties properties)
    {
    }

    /// <summary>Writes the filter's name, order and settings into the properties of the grain type.</summary>
    public void PopulateGrainProperties(
        IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties)
    {
        ArgumentNullException.ThrowIfNull(properties);
        var name = GetType().Name;
        properties[WellKnownGrainTypeProperties.PlacementFilter] =
            properties.TryGetValue(WellKnownGrainTypeProperties.PlacementFilter, out var others) ? others + "," + name : name;
        properties[KeyOf(OrderKey)] = Order.ToString(CultureInfo.InvariantCulture);
        foreach (var (key, value) in GetAdditionalGrainProperties(services, grainClass, grainType, properties))
            properties[KeyOf(key)] = value;
    }

    /// <summary>Settings of a derived filter.</summary>
    protected virtual IEnumerable<KeyValuePair<string, string>> GetAdditionalGrainProperties(
        IServiceProvider services, Type grainClass, GrainType grainType, IReadOnlyDictionary<string, string> existingProperties) => [];

    /// <summary>A setting of this filter; null if the properties do not have it.</summary>
    protected string? GetPlacementFilterGrainProperty(string key, GrainProperties properties)
    {
        ArgumentNullException.ThrowIfNull(properties);
        return properties.Properties.GetValueOrDefault(KeyOf(key));
    }

    private string KeyOf(string key) => WellKnownGrainTypeProperties.PlacementFilter + "." + GetType().Name + "." + key;
}

/// <summary>Leaves out silos for a <see cref="PlacementFilterStrategy"/>.</summary>
public interface IPlacementFilterDirector
{
    /// <summary>The silos that remain.</summary>
    /// <param name="filterStrategy">The grain's filter.</param>
    /// <param name="target">The grain and the call.</param>
    /// <param name="silos">The silos that can run the grain.</param>
    IEnumerable<SiloAddress> Filter(PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos);
}

/// <summary>Adds placement filters of the application.</summary>
/// <remarks>A filter is a keyed service under the name of its class, a director one under the type of its filter.</remarks>
public static class PlacementFilterExtensions
{
    /// <summary>Adds a filter and its director.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="strategyLifetime">How long a filter object lives: transient when it has settings of each grain type.</param>
    public static IServiceCollection AddPlacementFilter<TFilter, TDirector>(
        this IServiceCollection services, ServiceLifetime strategyLifetime)
        where TFilter : PlacementFilterStrategy, new()
        where TDirector : class, IPlacementFilterDirector
    {
        ArgumentNullException.ThrowIfNull(services);
        services.Add(ServiceDescriptor.DescribeKeyed(
            typeof(PlacementFilterStrategy), typeof(TFilter).Name, static (_, _) => new TFilter(), strategyLifetime));
        return services.AddKeyedSingleton<IPlacementFilterDirector, TDirector>(typeof(TFilter));
    }
}
