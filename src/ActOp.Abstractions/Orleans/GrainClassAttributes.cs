using System.Globalization;
using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans;

/// <summary>Names the grain type of the marked class, which otherwise follows from the class's name.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class GrainTypeAttribute : Attribute, IGrainTypeProviderAttribute
{
    private readonly GrainType _type;

    /// <summary>Sets the name.</summary>
    public GrainTypeAttribute(string grainType) => _type = GrainType.Create(grainType);

    /// <inheritdoc/>
    public GrainType GetGrainType(IServiceProvider services, Type type) => _type;
}

/// <summary>Activations of the marked grain never end for being idle.</summary>
[AttributeUsage(AttributeTargets.Class)]
public class KeepAliveAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.IdleDeactivationPeriod] = WellKnownGrainTypeProperties
            .IndefiniteIdleDeactivationPeriodValue;
}

/// <summary>How long activations of the marked grain may be idle before they end.</summary>
[AttributeUsage(AttributeTargets.Class)]
public class CollectionAgeLimitAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <summary>The shortest time that can be set: a minute. Shorter ones become this.</summary>
    public static readonly TimeSpan MinAgeLimit = TimeSpan.FromMinutes(1);

    /// <summary>The time follows from <see cref="Days"/>, <see cref="Hours"/> and <see cref="Minutes"/>.</summary>
    public CollectionAgeLimitAttribute()
    {
    }

    /// <summary>Sets the time.</summary>
    /// <param name="inactivityPeriod">In the notation of <see cref="TimeSpan"/>: <c>hh:mm:ss</c>.</param>
    /// <exception cref="FormatException">The text is no time.</exception>
    public CollectionAgeLimitAttribute(string inactivityPeriod) =>
        Minutes = TimeSpan.Parse(inactivityPeriod, CultureInfo.InvariantCulture).TotalMinutes;

    /// <summary>The time; <see cref="TimeSpan.MaxValue"/> for never.</summary>
    public TimeSpan AgeLimit
    {
        get
        {
            if (AlwaysActive)
                return TimeSpan.MaxValue;
            var limit = TimeSpan.FromDays(Days) + TimeSpan.FromHours(Hours) + TimeSpan.FromMinutes(Minutes);
            return limit < MinAgeLimit ? MinAgeLimit : limit;
        }
    }

    /// <summary>True when activations never end for being idle.</summary>
    public bool AlwaysActive { get; set; }

    /// <summary>Days, added to hours and minutes.</summary>
    public double Days { get; set; }

    /// <summary>Hours, added to days and minutes.</summary>
    public double Hours { get; set; }

    /// <summary>Minutes, added to days and hours.</summary>
    public double Minutes { get; set; }

    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.IdleDeactivationPeriod] =
            AlwaysActive ? WellKnownGrainTypeProperties.IndefiniteIdleDeactivationPeriodValue : AgeLimit.ToString("c");
}
