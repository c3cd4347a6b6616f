using Orleans.BroadcastChannel;
using Orleans.Metadata;
using Orleans.Runtime;
using Orleans.Streams;

namespace Orleans;

/// <summary>Subscribes the grains of the class to the streams with their keys, in the namespaces that the predicate selects.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public class ImplicitStreamSubscriptionAttribute : Attribute, IGrainBindingsProviderAttribute
{
    /// <summary>All namespaces.</summary>
    public ImplicitStreamSubscriptionAttribute()
        : this(new EveryNamespacePredicate())
    {
    }

    /// <summary>One namespace.</summary>
    /// <param name="streamNamespace">The namespace.</param>
    /// <param name="streamIdMapper">The name of the mapper from streams to keys of grains; null for the default one.</param>
    public ImplicitStreamSubscriptionAttribute(string streamNamespace, string? streamIdMapper = null)
        : this(new NamespacePredicate(streamNamespace?.Trim() ?? ""), streamIdMapper)
    {
    }

    /// <summary>The namespaces that a predicate selects.</summary>
    /// <param name="predicateType">Implements <see cref="IStreamNamespacePredicate"/>; has a constructor without parameters.</param>
    /// <param name="streamIdMapper">The name of the mapper from streams to keys of grains; null for the default one.</param>
    public ImplicitStreamSubscriptionAttribute(Type predicateType, string? streamIdMapper = null)
        : this((IStreamNamespacePredicate)Activator.CreateInstance(predicateType)!, streamIdMapper)
    {
    }

    /// <summary>The namespaces that a predicate selects.</summary>
    /// <param name="predicate">The predicate.</param>
    /// <param name="streamIdMapper">The name of the mapper from streams to keys of grains; null for the default one.</param>
    public ImplicitStreamSubscriptionAttribute(IStreamNamespacePredicate predicate, string? streamIdMapper = null)
    {
        Predicate = predicate;
        StreamIdMapper = streamIdMapper;
    }

    /// <summary>Selects the namespaces.</summary>
    public IStreamNamespacePredicate Predicate { get; }

    /// <summary>The name of the mapper from streams to keys of grains; null for the default one.</summary>
    public string? StreamIdMapper { get; init; }

    /// <inheritdoc/>
    public IEnumerable<Dictionary<string, string?>> GetBindings(IServiceProvider services, Type grainClass, GrainType grainType)
    {
        var binding = new Dictionary<string, string?>
        {
            [WellKnownGrainTypeProperties.BindingTypeKey] = WellKnownGrainTypeProperties.StreamBindingTypeValue,
            [WellKnownGrainTypeProperties.StreamBindingPatternKey] = Predicate.PredicatePattern,
            [WellKnownGrainTypeProperties.StreamIdMapperKey] = StreamIdMapper,
        };
        if (ImplicitKeys.IncludesNamespace(grainClass))
            binding[WellKnownGrainTypeProperties.StreamBindingIncludeNamespaceKey] = "true";
        return [binding];
    }
}

/// <summary>Subscribes the grains of the class to the streams with their keys, in the namespaces that match.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class RegexImplicitStreamSubscriptionAttribute : ImplicitStreamSubscriptionAttribute
{
    /// <summary>The namespaces that match a regular expression.</summary>
    public RegexImplicitStreamSubscriptionAttribute(string pattern)
        : base(new RegexStreamNamespacePredicate(pattern))
    {
    }
}

/// <summary>
/// Subscribes the grains of the class to the broadcast channels with their keys, in the namespaces that the predicate selects.
/// </summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public class ImplicitChannelSubscriptionAttribute : Attribute, IGrainBindingsProviderAttribute
{
    /// <summary>All namespaces.</summary>
    public ImplicitChannelSubscriptionAttribute()
        : this(new EveryChannelPredicate())
    {
    }

    /// <summary>One namespace.</summary>
    /// <param name="streamNamespace">The namespace.</param>
    /// <param name="channelIdMapper">The name of the mapper from channels to keys of grains; null for the default one.</param>
    public ImplicitChannelSubscriptionAttribute(string streamNamespace, string? channelIdMapper = null)
        : this(new ChannelNamespacePredicate(streamNamespace?.Trim() ?? ""), channelIdMapper)
    {
    }

    /// <summary>The namespaces that a predicate selects.</summary>
    /// <param name="predicateType">Implements <see cref="IChannelNamespacePredicate"/>; has a constructor without parameters.</param>
    /// <param name="channelIdMapper">The name of the mapper from channels to keys of grains; null for the default one.</param>
    public ImplicitChannelSubscriptionAttribute(Type predicateType, string? channelIdMapper = null)
        : this((IChannelNamespacePredicate)Activator.CreateInstance(predicateType)!, channelIdMapper)
    {
    }

    /// <summary>The namespaces that a predicate selects.</summary>
    /// <param name="predicate">The predicate.</param>
    /// <param name="channelIdMapper">The name of the mapper from channels to keys of grains; null for the default one.</param>
    public ImplicitChannelSubscriptionAttribute(IChannelNamespacePredicate predicate, string? channelIdMapper = null)
    {
        Predicate = predicate;
        ChannelIdMapper = channelIdMapper;
    }

    /// <summary>Selects the namespaces.</summary>
    public IChannelNamespacePredicate Predicate { get; }

    /// <summary>The name of the mapper from channels to keys of grains; null for the default one.</summary>
    public string? ChannelIdMapper { get; }

    /// <inheritdoc/>
    public IEnumerable<Dictionary<string, string?>> GetBindings(IServiceProvider services, Type grainClass, GrainType grainType)
    {
        var binding = new Dictionary<string, string?>
        {
            [WellKnownGrainTypeProperties.BindingTypeKey] = WellKnownGrainTypeProperties.BroadcastChannelBindingTypeValue,
            [WellKnownGrainTypeProperties.BroadcastChannelBindingPatternKey] = Predicate.PredicatePattern,
            [WellKnownGrainTypeProperties.ChannelIdMapperKey] = ChannelIdMapper,
        };
        if (ImplicitKeys.IncludesNamespace(grainClass))
            binding[WellKnownGrainTypeProperties.StreamBindingIncludeNamespaceKey] = "true";
        return [binding];
    }
}

/// <summary>Subscribes the grains of the class to the broadcast channels with their keys, in the namespaces that match.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class RegexImplicitChannelSubscriptionAttribute : ImplicitChannelSubscriptionAttribute
{
    /// <summary>The namespaces that match a regular expression.</summary>
    public RegexImplicitChannelSubscriptionAttribute(string pattern)
        : base(new RegexChannelNamespacePredicate(pattern))
    {
    }
}
