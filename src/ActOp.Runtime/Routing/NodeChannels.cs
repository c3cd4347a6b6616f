using System.Collections.Frozen;
using System.Reflection;
using System.Runtime.CompilerServices;
using ActOp.Channels;
using ActOp.Configuration;
using ActOp.Mesh;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>The named channels of a node: their numbers, from 1 on in the order of their names, and their limits.</summary>
/// <remarks>Immutable; any thread. Number 0 is what has no channel.</remarks>
internal sealed class NodeChannels
{
    /// <summary>What each interface names: every node of the process asks.</summary>
    private static readonly ConditionalWeakTable<Type, (string Declaration, string Channel)[]> Names = [];

    private readonly FrozenDictionary<string, int> _numbers;
    private readonly (string Name, ChannelOptions Options)[] _channels;
    private readonly int _maxFrameBytes;

    internal NodeChannels(ChannelsOptions options, int maxFrameBytes)
    {
        _maxFrameBytes = maxFrameBytes;
        _channels = [.. options.Channels.OrderBy(static pair => pair.Key, StringComparer.Ordinal)
            .Select(static pair => (pair.Key, pair.Value))];
        _numbers = _channels.Select(static (channel, index) => KeyValuePair.Create(channel.Name, index + 1))
            .ToFrozenDictionary(StringComparer.Ordinal);
    }

    internal int Count => _channels.Length;

    /// <summary>What the mesh has to dial.</summary>
    internal IReadOnlyList<NamedLinks> Links =>
        [.. _channels.Select(static channel => new NamedLinks(channel.Name, channel.Options.Links))];

    /// <summary>The number of a channel; 0 if this node has none of this name, or for none.</summary>
    internal int NumberOf(string? name) => name is not null && _numbers.TryGetValue(name, out var number) ? number : 0;

    /// <summary>The longest frame that the node sends over a channel.</summary>
    internal int MaxFrameBytesOf(int channel) =>
        channel == 0 ? _maxFrameBytes : _channels[channel - 1].Options.MaxMessageSize ?? _maxFrameBytes;

    /// <summary>Where the limit of a channel comes from, for texts.</summary>
    internal string LimitOf(int channel) => channel == 0 || _channels[channel - 1].Options.MaxMessageSize is null
        ? "MaxMessageBodySize" : "MaxMessageSize of the channel " + _channels[channel - 1].Name;

    /// <summary>What the interfaces of the application name, with the declaration of each name.</summary>
    internal static IEnumerable<(string Declaration, string Channel)> NamesIn(IEnumerable<Type> interfaces) =>
        interfaces.SelectMany(static type => Names.GetValue(type, static type => [.. NamesIn(type)]));

    private static IEnumerable<(string Declaration, string Channel)> NamesIn(Type type)
    {
        if (type.GetCustomAttribute<ChannelAttribute>(inherit: false) is { } all)
            yield return ("The interface " + type, all.Name);
        foreach (var method in type.GetMethods())
        {
            if (method.GetCustomAttribute<ChannelAttribute>(inherit: false) is { } own)
                yield return ("The method " + type + "." + method.Name, own.Name);
        }
    }

    /// <summary>Checks the attributes of the interfaces of this process.</summary>
    /// <exception cref="OrleansConfigurationException">An interface or method names a channel that does not exist.</exception>
    internal static void CheckInterfaces(ChannelsOptions options, IEnumerable<Type> interfaces)
    {
        if (options.Channels.Count == 0)
            return;
        foreach (var (declaration, channel) in NamesIn(interfaces))
        {
            ChannelsOptions.Check(options.Channels.ContainsKey(channel), declaration + " has [Channel(\"" + channel
                + "\")], and this node has no such channel: add it by AddChannels on all silos and clients, or remove the attribute");
        }
    }
}
