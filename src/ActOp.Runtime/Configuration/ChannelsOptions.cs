using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;
using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>
/// Named channels: connections of their own for the calls of interfaces and methods with <see cref="ActOp.Channels.ChannelAttribute"/>.
/// Without a channel there are none, and the attribute has no effect. Silos and clients should have the same channels: a node sends over
/// its ordinary connections what the node that has dialled does not have a channel for.
/// </summary>
public sealed class ChannelsOptions
{
    private const int MostChannels = 16;
    private const int MostLinks = 64;
    private const int LongestName = 64;

    /// <summary>The channels by name.</summary>
    public IDictionary<string, ChannelOptions> Channels { get; } = new Dictionary<string, ChannelOptions>(StringComparer.Ordinal);

    /// <summary>Adds a channel, or changes one that was added.</summary>
    /// <param name="name">Its name, the same on all silos and clients.</param>
    /// <param name="configure">Changes its options, or null.</param>
    /// <returns>These options.</returns>
    public ChannelsOptions Add(string name, Action<ChannelOptions>? configure = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        if (!Channels.TryGetValue(name, out var channel))
            Channels.Add(name, channel = new ChannelOptions());
        configure?.Invoke(channel);
        return this;
    }

    /// <exception cref="OrleansConfigurationException">An option has a wrong value.</exception>
    internal void Validate(int ordinaryLinks, int maxMessageBodySize)
    {
        Check(Channels.Count <= MostChannels, "There must be " + MostChannels + " channels at most, but there are " + Channels.Count);
        foreach (var (name, channel) in Channels)
        {
            Check(System.Text.Encoding.UTF8.GetByteCount(name) <= LongestName,
                "The name of the channel " + name + " must have " + LongestName + " bytes at most");
            Check(channel.Links >= 1, "ChannelOptions.Links of the channel " + name + " must be 1 or more, but is " + channel.Links);
            Check(channel.MaxMessageSize is null || (channel.MaxMessageSize >= 64 && channel.MaxMessageSize <= maxMessageBodySize),
                "ChannelOptions.MaxMessageSize of the channel " + name + " must be 64 to MaxMessageBodySize, which is "
                + maxMessageBodySize + ", but is " + channel.MaxMessageSize);
        }

        var links = ordinaryLinks + Channels.Values.Sum(static channel => (long)channel.Links);
        Check(links <= MostLinks, "ConnectionOptions.ConnectionsPerEndpoint and ChannelOptions.Links of all channels must be " + MostLinks
            + " together at most, but are " + links);
    }

    /// <exception cref="OrleansConfigurationException">It is not so.</exception>
    internal static void Check(bool isSo, string text)
    {
        if (!isSo)
            throw new OrleansConfigurationException(text + ".");
    }
}

/// <summary>One named channel.</summary>
public sealed class ChannelOptions
{
    /// <summary>
    /// Connections to each node for the channel. Calls of one grain use one of them, in order. Default 1; with
    /// <c>ConnectionOptions.ConnectionsPerEndpoint</c> 64 for all channels.
    /// </summary>
    public int Links { get; set; } = 1;

    /// <summary>
    /// The longest request or answer that this node sends over the channel, in bytes; a longer one fails with a
    /// <see cref="LimitExceededException"/>. Null (default): <c>MessagingOptions.MaxMessageBodySize</c>, which is also the most.
    /// </summary>
    public int? MaxMessageSize { get; set; }
}

/// <summary>Adds channels to a silo or client.</summary>
public static class ChannelsBuilderExtensions
{
    /// <summary>Adds connections of their own for calls with <see cref="ActOp.Channels.ChannelAttribute"/> (docs/channels.md).</summary>
    public static ISiloBuilder AddChannels(this ISiloBuilder builder, Action<ChannelsOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configure);
        builder.Services.Configure(configure);
        return builder;
    }

    /// <inheritdoc cref="AddChannels(ISiloBuilder, Action{ChannelsOptions})"/>
    public static IClientBuilder AddChannels(this IClientBuilder builder, Action<ChannelsOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configure);
        builder.Services.Configure(configure);
        return builder;
    }
}
