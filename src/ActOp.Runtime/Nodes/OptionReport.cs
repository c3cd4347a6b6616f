using System.Reflection;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Networking.Shared;

namespace ActOp.Runtime.Nodes;

/// <summary>An option that compiles and changes nothing here.</summary>
/// <param name="Name">Class and property.</param>
/// <param name="Reason">Why it changes nothing.</param>
internal sealed record OptionWithoutEffect(string Name, string Reason);

/// <summary>
/// The options that exist for source compatibility and have no effect. A start that finds one set away from its default logs it, once.
/// docs/migrating-from-orleans.md lists them; a House test compares both lists with the options that the code reads.
/// </summary>
/// <remarks>Holds nothing. Called once for each node, on the thread that starts it.</remarks>
internal static class OptionReport
{
    private static readonly Entry[] All =
    [
        For<MessagingOptions>(nameof(MessagingOptions.CancelUnknownRequestOnStatusUpdate),
            "a silo that no longer knows a request has answered it, and calls that wait for a silo that is gone end at once"),
        For<ClientMessagingOptions>(nameof(ClientMessagingOptions.ClientSenderBuckets),
            "a client sends all calls to a silo over the links of ConnectionOptions.ConnectionsPerEndpoint, in order for each grain"),
        For<SiloMessagingOptions>(nameof(SiloMessagingOptions.ClientDropTimeout),
            "a client is forgotten when its connection ends, and the address in the ids of its observers finds it when it returns"),
        For<SiloMessagingOptions>(nameof(SiloMessagingOptions.ClientRegistrationRefresh),
            "clients are in no directory: the id of an observer contains its client's address"),
        For<SiloMessagingOptions>(nameof(SiloMessagingOptions.AssumeHomogenousSilosForTesting),
            "silos always tell each other which grain classes they host"),
        For<GrainDirectoryOptions>(nameof(GrainDirectoryOptions.LazyDeregistrationDelay),
            "an activation registers before its hooks run, so that no end can arrive before its registration"),
        For<GrainDirectoryOptions>(nameof(GrainDirectoryOptions.PartitionsPerSilo),
            "the directory has 4,096 slots, spread over the silos"),
        For<GrainDirectoryOptions>(nameof(GrainDirectoryOptions.GetPartitionBoundaries),
            "the directory has 4,096 slots, whose owners are found by hashing"),
        For<GrainDirectoryOptions>(nameof(GrainDirectoryOptions.RangeLeaseDuration),
            "the lease of the cluster decides how long the slots of a dead silo are held back (ClusterLeaseOptions.Duration)"),
        For<ConsistentRingOptions>(nameof(ConsistentRingOptions.NumVirtualBucketsConsistentRing),
            "there is no ring of silos: the directory has 4,096 slots"),
        For<ConsistentRingOptions>(nameof(ConsistentRingOptions.UseVirtualBucketsConsistentRing),
            "there is no ring of silos: the directory has 4,096 slots"),
        For<DeploymentLoadPublisherOptions>(nameof(DeploymentLoadPublisherOptions.DeploymentLoadPublisherRefreshTime),
            "silos exchange their loads with the rounds of locality partitioning"),
        For<TypeManagementOptions>(nameof(TypeManagementOptions.TypeMapRefreshInterval),
            "silos ask each other once, when the view lists a silo, what they host"),
        For<ClusterMembershipOptions>(nameof(ClusterMembershipOptions.DeathVoteExpirationTimeout),
            "a silo withdraws its vote when the suspected silo answers again, and votes of silos that are gone do not count"),
        For<StreamStatisticOptions>(nameof(StreamStatisticOptions.StatisticMonitorWriteInterval),
            "metrics of streams are read when they are collected"),
        For<SocketConnectionOptions>(nameof(SocketConnectionOptions.IOQueueCount),
            "sockets are read by the threads of the receive stage (StageOptions.ReceiveThreads)"),
    ];

    /// <summary>The options without effect.</summary>
    internal static IEnumerable<OptionWithoutEffect> Entries => All.Select(static entry => entry.Option);

    /// <summary>Logs the options without effect that the application has set.</summary>
    /// <param name="services">The application's.</param>
    /// <param name="messaging">Those of this node: of a silo or of a client.</param>
    /// <param name="log">Gets one line for each.</param>
    internal static void Write(IServiceProvider services, MessagingOptions messaging, Log log)
    {
        foreach (var entry in All.Where(entry => entry.IsSet(services, messaging)))
            log.OptionWithoutEffect(entry.Option.Name, entry.Option.Reason);
        if (services.GetService<IOptions<GroupsOptions>>()?.Value is { AreUsed: false })
        {
            foreach (var type in services.GetService<IOptions<GrainTypeOptions>>()?.Value.Classes ?? [])
            {
                if (NodeGroups.NameOf(type) is { } name)
                    log.GroupWithoutEffect(type, name);
            }
        }

        if (services.GetService<IOptions<ChannelsOptions>>()?.Value is { Channels.Count: 0 })
        {
            var interfaces = services.GetService<IOptions<GrainTypeOptions>>()?.Value.Interfaces ?? [];
            foreach (var (declaration, channel) in NodeChannels.NamesIn(interfaces))
                log.ChannelWithoutEffect(declaration, channel);
        }

        foreach (var option in services.GetServices<OptionWithoutEffect>())
            log.OptionWithoutEffect(option.Name, option.Reason);
    }

    private static Entry For<TOptions>(string option, string reason)
        where TOptions : class => new(
            new OptionWithoutEffect(typeof(TOptions).Name + "." + option, reason),
            typeof(TOptions).GetProperty(option)!,
            static (services, messaging) => messaging is TOptions own ? own
                : typeof(TOptions).IsAssignableTo(typeof(MessagingOptions)) ? null
                : services.GetService<IOptions<TOptions>>()?.Value);

    private sealed record Entry(
        OptionWithoutEffect Option, PropertyInfo Property, Func<IServiceProvider, MessagingOptions, object?> OptionsIn)
    {
        internal bool IsSet(IServiceProvider services, MessagingOptions messaging) =>
            OptionsIn(services, messaging) is { } options
            && !Equals(Property.GetValue(options), Property.GetValue(Activator.CreateInstance(options.GetType())));
    }
}
