using System.Collections.Immutable;
using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>What the cluster knows of a grain type: values by key.</summary>
public sealed class GrainProperties
{
    /// <summary>Creates the properties.</summary>
    public GrainProperties(ImmutableDictionary<string, string> values) => Properties = values;

    /// <summary>The values by key, see <see cref="WellKnownGrainTypeProperties"/>.</summary>
    public ImmutableDictionary<string, string> Properties { get; }

    /// <summary>All keys and values for people, in the order of the keys.</summary>
    public string ToDetailedString() =>
        Properties is null
            ? "" : "[" + string.Join(", ", Properties.OrderBy(pair => pair.Key, StringComparer.Ordinal)
                .Select(pair => "{'" + pair.Key + "': '" + pair.Value + "'}")) + "]";
}

/// <summary>A service that adds to the properties of every grain type.</summary>
public interface IGrainPropertiesProvider
{
    /// <summary>Adds to <paramref name="properties"/>.</summary>
    /// <param name="grainClass">The grain's class.</param>
    /// <param name="grainType">The grain's type.</param>
    /// <param name="properties">The properties so far.</param>
    void Populate(Type grainClass, GrainType grainType, Dictionary<string, string> properties);
}

/// <summary>An attribute of grain classes that adds to the properties of the grain's type.</summary>
public interface IGrainPropertiesProviderAttribute
{
    /// <summary>Adds to <paramref name="properties"/>.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="grainClass">The marked class.</param>
    /// <param name="grainType">The grain's type.</param>
    /// <param name="properties">The properties so far.</param>
    void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties);
}

/// <summary>A service that adds to the properties of every grain interface.</summary>
public interface IGrainInterfacePropertiesProvider
{
    /// <summary>Adds to <paramref name="properties"/>.</summary>
    /// <param name="interfaceType">The grain interface.</param>
    /// <param name="grainInterfaceType">The interface's name.</param>
    /// <param name="properties">The properties so far.</param>
    void Populate(Type interfaceType, GrainInterfaceType grainInterfaceType, Dictionary<string, string> properties);
}

/// <summary>An attribute of grain interfaces that adds to the properties of the interface.</summary>
public interface IGrainInterfacePropertiesProviderAttribute
{
    /// <summary>Adds to <paramref name="properties"/>.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="interfaceType">The marked interface.</param>
    /// <param name="properties">The properties so far.</param>
    void Populate(IServiceProvider services, Type interfaceType, Dictionary<string, string> properties);
}

/// <summary>An attribute of grain classes that names the grain's type.</summary>
public interface IGrainTypeProviderAttribute
{
    /// <summary>The grain type of the marked class.</summary>
    GrainType GetGrainType(IServiceProvider services, Type type);
}

/// <summary>Names the grain type that the marked interface means when several classes implement it.</summary>
[AttributeUsage(AttributeTargets.Interface)]
public sealed class DefaultGrainTypeAttribute : Attribute, IGrainInterfacePropertiesProviderAttribute
{
    /// <summary>Names the grain type.</summary>
    public DefaultGrainTypeAttribute(string grainType) => GrainType = GrainType.Create(grainType);

    internal GrainType GrainType { get; }

    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type interfaceType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainInterfaceProperties.DefaultGrainType] = GrainType.ToString();
}

/// <summary>Keys of the properties of grain types, and values with a meaning of their own.</summary>
public static class WellKnownGrainTypeProperties
{
    /// <summary>Start of the keys of bindings; a number, a dot and the key in the binding follow.</summary>
    public const string BindingPrefix = "binding";

    /// <summary>In a binding: its kind.</summary>
    public const string BindingTypeKey = "type";

    /// <summary>In a binding to channels: the pattern of the namespaces.</summary>
    public const string BroadcastChannelBindingPatternKey = "channel-pattern";

    /// <summary>The kind of a binding to broadcast channels.</summary>
    public const string BroadcastChannelBindingTypeValue = "broadcast-channel";

    /// <summary>In a binding to channels: the name of the mapper.</summary>
    public const string ChannelIdMapperKey = "channelid-mapper";

    /// <summary>The class's full name.</summary>
    public const string FullTypeName = "full-type-name";

    /// <summary>The name of the grain directory that the application has registered.</summary>
    public const string GrainDirectory = "directory-policy";

    /// <summary>
    /// How long an activation may be idle before it ends: a time, or <see cref="IndefiniteIdleDeactivationPeriodValue"/>.
    /// </summary>
    public const string IdleDeactivationPeriod = "idle-duration";

    /// <summary>What may not move the grain: a number of <see cref="Orleans.Placement.ImmovableKind"/>.</summary>
    public const string Immovable = "immovable";

    /// <summary>Start of the keys of implemented interfaces; a number follows.</summary>
    public const string ImplementedInterfacePrefix = "interface.";

    /// <summary>Activations never end for being idle.</summary>
    public const string IndefiniteIdleDeactivationPeriodValue = "indefinite";

    /// <summary>The kind of key of grains of old versions; not used.</summary>
    public const string LegacyGrainKeyType = "legacy-grain-key-type";

    /// <summary>The method that says which calls may run beside others.</summary>
    public const string MayInterleavePredicate = "may-interleave-predicate";

    /// <summary>The names of the placement filters, separated by commas.</summary>
    public const string PlacementFilter = "placement-filter";

    /// <summary>The placement strategy's name.</summary>
    public const string PlacementStrategy = "placement-strategy";

    /// <summary>Whether calls run beside each other: <c>true</c>.</summary>
    public const string Reentrant = "reentrant";

    /// <summary>In a binding to streams: whether the namespace is the extension of the grain's key: <c>true</c>.</summary>
    public const string StreamBindingIncludeNamespaceKey = "include-namespace";

    /// <summary>In a binding to streams: the pattern of the namespaces.</summary>
    public const string StreamBindingPatternKey = "pattern";

    /// <summary>The kind of a binding to streams.</summary>
    public const string StreamBindingTypeValue = "stream";

    /// <summary>In a binding to streams: the name of the mapper.</summary>
    public const string StreamIdMapperKey = "streamid-mapper";

    /// <summary>The class's name.</summary>
    public const string TypeName = "type-name";

    /// <summary>Whether the order of calls does not count: <c>true</c>. It never counts.</summary>
    public const string Unordered = "unordered";
}

/// <summary>Keys of the properties of grain interfaces.</summary>
public static class WellKnownGrainInterfaceProperties
{
    /// <summary>The grain type that the interface means when several classes implement it.</summary>
    public const string DefaultGrainType = "primary-grain-type";

    /// <summary>The interface's name.</summary>
    public const string TypeName = "type-name";

    /// <summary>The interface's version, a number.</summary>
    public const string Version = "version";
}
