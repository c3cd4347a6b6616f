using System.Buffers.Binary;
using System.Net;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Tcp;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Nodes.Tls;
using ActOp.Runtime.Routing;
using ActOp.Staging;
using ActOp.Staging.Measuring;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Messaging;
using Orleans.Runtime;
using Orleans.Statistics;

namespace ActOp.Runtime.Nodes;

/// <summary>
/// Replacements for threads, start time and random ids. Registered in the container of a node that must run deterministically.
/// </summary>
/// <param name="Driver">Runs the stages.</param>
/// <param name="Generation">Positive; the generation of the node's address, which no other node at the same endpoint has had.</param>
/// <param name="NewId">Makes ids that are unique in the cluster.</param>
/// <param name="LifeWatch">Sees the lives of the activations; null if nobody does.</param>
internal sealed record NodeSeams(StageDriver Driver, int Generation, Func<Guid> NewId, LifeWatch? LifeWatch = null);

/// <summary>Whether a debugger is attached when the node starts; in the container only if a test says so.</summary>
internal sealed record DebuggerSeam(bool IsAttached);

/// <summary>The validated inputs of a <see cref="Node"/>.</summary>
internal sealed record NodeSetup
{
    internal required SiloAddress Address { get; init; }

    internal required string Name { get; init; }

    internal required IServiceProvider Services { get; init; }

    internal required TimeProvider Time { get; init; }

    /// <summary>The clock of grains and their timers; null for <see cref="Time"/>.</summary>
    internal TimeProvider? GrainTime { get; init; }

    internal required ILoggerFactory Loggers { get; init; }

    internal required MessagingOptions Messaging { get; init; }

    /// <summary>How long a caller waits: longer while a debugger holds the process.</summary>
    internal required TimeSpan ResponseTimeout { get; init; }

    internal RequestLimits Limits => Messaging is SiloMessagingOptions silo
        ? new(Stages.MailboxLimit, silo.MaxEnqueuedRequestsHardLimit, silo.MaxEnqueuedRequestsHardLimit_StatelessWorker)
        : new(Stages.MailboxLimit, 0, 0);

    internal required GrainCollectionOptions Collection { get; init; }

    internal required SchedulingOptions Scheduling { get; init; }

    internal StatelessWorkerOptions Workers { get; init; } = new();

    internal LoadSheddingOptions Shedding { get; init; } = new();

    /// <summary>Not null on a silo.</summary>
    internal IEnvironmentStatisticsProvider? Statistics { get; init; }

    internal required StageOptions Stages { get; init; }

    /// <summary>The groups of a silo; null for none.</summary>
    internal GroupsOptions? Groups { get; init; }

    /// <summary>Whether a silo separates tenants; null if not.</summary>
    internal TenantSeparation? Tenants { get; init; }

    /// <summary>The named channels.</summary>
    internal required NodeChannels Channels { get; init; }

    internal required MeshOptions Mesh { get; init; }

    internal required ConnectionLimitOptions ConnectionLimits { get; init; }

    internal CallTracingOptions Tracing { get; init; } = new();

    internal required Transport Transport { get; init; }

    internal required PlacementStrategy DefaultPlacement { get; init; }

    internal required LocalityOptions Locality { get; init; }

    internal SerializationLimitOptions Decoding { get; init; } = new();

    internal ClientRightsOptions ClientRights { get; init; } = new();

    internal MembershipOptions Membership { get; init; } = new();

    internal DirectoryLimits Directory { get; init; } = new();

    /// <summary>Makes the membership table of a silo.</summary>
    internal ClusterTableFactory? Table { get; init; }

    /// <summary>Where a silo listens, and for whom.</summary>
    internal (EndPoint EndPoint, NodeKind Accepts)[] Listens { get; init; } = [];

    /// <summary>Where clients reach this silo.</summary>
    internal System.Net.IPEndPoint? Gateway { get; init; }

    /// <summary>The gateways of a client.</summary>
    internal System.Net.EndPoint[] Gateways { get; init; } = [];

    /// <summary>Lists the gateways of a client instead; null if they are configured.</summary>
    internal IGatewayListProvider? GatewayList { get; init; }

    internal GatewayOptions GatewayChoice { get; init; } = new();

    internal int LocationCacheSize { get; init; } = 1_000_000;

    internal bool CachesLocations { get; init; } = true;

    /// <summary>The cache of locations of the application; null for the one of the runtime.</summary>
    internal Orleans.Runtime.GrainDirectory.IGrainDirectoryCache? CustomLocations { get; init; }

    internal TimeSpan LocationLifetime { get; init; } = Timeout.InfiniteTimeSpan;

    internal int Seed { get; init; }

    /// <summary>Runs the stages in place of threads; null for threads.</summary>
    internal StageDriver? Driver { get; init; }

    /// <summary>Creates the ids of activations and observers, which must be unique in the cluster.</summary>
    internal Func<Guid> NewId { get; init; } = new IdSequence(Guid.NewGuid()).Next;

    /// <inheritdoc cref="NodeSeams.LifeWatch"/>
    internal LifeWatch? LifeWatch { get; init; }
}

/// <summary>
/// Consecutive ids after a random one of 122 bits, so that ids of different nodes do not collide. A random number for each id would cost a
/// system call. Any thread.
/// </summary>
internal sealed class IdSequence(Guid first)
{
    private readonly UInt128 _first = MemoryMarshal.Read<UInt128>(first.ToByteArray());
    private long _made;

    internal Guid Next()
    {
        var next = _first + (ulong)Interlocked.Increment(ref _made);
        return new Guid(MemoryMarshal.AsBytes(new ReadOnlySpan<UInt128>(in next)));
    }
}

/// <summary>Reads and checks the application's options; an invalid option fails at start, with the name of the option.</summary>
internal static class SetupReader
{
    private static readonly MeshOptions MeshDefaults = new();

    /// <summary>
    /// What a frame below it holds is read in some 5 ms at most: so long other links may wait for it. A longer one takes 0.1 ms more than
    /// without a poller of its own, the time of two moves.
    /// </summary>
    private const int LargeFrameBytes = 64 << 10;
    private static int s_generation;

    internal static NodeSetup Silo(IServiceProvider services)
    {
        Validate(services);
        Option<StageOptions>(services).ValidateSource(services.GetService<IStageTracing>());
        var table = ApplicationTable.FactoryOf(services)
            ?? services.GetService<ClusterTableFactory>()
            ?? throw new OrleansConfigurationException(
                "No clustering is configured. Call UseLocalhostClustering or UseDevelopmentClustering on the silo builder.");
        var endpoints = Option<EndpointOptions>(services);
        var address = SiloAddress.New(endpoints.AdvertisedIPAddress, endpoints.SiloPort, services.GetService<NodeSeams>()?.Generation
            ?? NextGeneration());
        var gateway = endpoints.GatewayPort > 0 ? new IPEndPoint(endpoints.AdvertisedIPAddress, endpoints.GatewayPort) : null;
        var listens = ListensOf(endpoints, address, gateway);
        var name = Option<SiloOptions>(services).SiloName;
        var lease = Option<ClusterLeaseOptions>(services);
        lease.Validate();
        var configured = Option<ClusterMembershipOptions>(services);
        OptionRules.Check(configured);
        var membership = MembershipOptions.From(configured, lease.Duration);
        var workers = Option<StatelessWorkerOptions>(services);
        OptionRules.Check(workers);
        var shedding = Option<LoadSheddingOptions>(services);
        OptionRules.Check(shedding);
        OptionRules.Check(Option<ResourceOptimizedPlacementOptions>(services));
        var groups = Option<GroupsOptions>(services);
        if (groups.AreUsed)
            groups.Validate(Option<StageOptions>(services), Environment.ProcessorCount);
        var setup = Common(services, address, Option<SiloMessagingOptions>(services));
        // The failure detection decides about silos: links are not given up before it has.
        if (TimeSpan.FromMilliseconds(membership.DetectionBound) is var bound && bound > setup.Mesh.KeepAliveTimeout)
            setup.Mesh.KeepAliveTimeout = bound;
        return OverTls(setup with
        {
            Workers = workers,
            Shedding = shedding,
            Statistics = CheckedStatistics.FromServices(services),
            Name = string.IsNullOrEmpty(name) ? "Silo_" + address : name,
            Gateway = gateway,
            Listens = listens,
            Table = table,
            Membership = membership,
            Directory = new DirectoryLimits { SilentLease = membership.LeaseDuration },
            Groups = groups.AreUsed ? groups : null,
            Tenants = services.GetService<TenantSeparation>(),
        });
    }

    /// <summary>Two listeners with two roles: silos at one, clients at the other.</summary>
    private static (EndPoint EndPoint, NodeKind Accepts)[] ListensOf(EndpointOptions options, SiloAddress address, IPEndPoint? gateway)
    {
        var silos = options.SiloListeningEndpoint ?? address.Endpoint;
        if (gateway is null)
            return [(silos, NodeKind.Silo)];
        if (gateway.Port == options.SiloPort)
        {
            throw new OrleansConfigurationException("EndpointOptions.GatewayPort and EndpointOptions.SiloPort are both "
                + options.SiloPort + ". Silos and clients need a port each; a GatewayPort of 0 means no clients.");
        }

        var clients = options.GatewayListeningEndpoint ?? gateway;
        if (clients.Port == silos.Port && clients.Port != 0)
        {
            throw new OrleansConfigurationException("EndpointOptions.GatewayListeningEndpoint and EndpointOptions.SiloListeningEndpoint"
                + " have the same port, " + silos.Port + ". Silos and clients need a port each.");
        }

        return [(silos, NodeKind.Silo), (clients, NodeKind.Client)];
    }

    internal static NodeSetup Client(IServiceProvider services)
    {
        Validate(services);
        var address = services.GetService<NodeSeams>() is { } seams
            ? SiloAddress.New(IPAddress.Loopback, 0, -seams.Generation)
            : NextClient(ClientAddress.FromOptions(Messaging(services)));
        var gateways = Option<StaticGatewayListProviderOptions>(services).Gateways;
        var list = gateways.Count == 0 ? services.GetService<IGatewayListProvider>() : null;
        if (gateways.Count == 0 && list is null)
        {
            throw new OrleansConfigurationException(
                "No gateway is configured. Call UseLocalhostClustering or UseStaticClustering on the client builder.");
        }

        var choice = Option<GatewayOptions>(services);
        OptionRules.Check(choice, list is null ? gateways.Count : int.MaxValue);
        return OverTls(Common(services, address, Messaging(services)) with
        {
            Name = "Client_" + address,
            Gateways = [.. gateways.Select(Nodes.Gateways.Parse)],
            GatewayList = list,
            GatewayChoice = choice,
        });
    }

    private static NodeSetup OverTls(NodeSetup setup)
        => Middleware.NodeMiddleware.Applied(setup.Services.GetService<NodeTls>()?.Applied(setup) ?? setup);

    private static NodeSetup Common(IServiceProvider services, SiloAddress address, MessagingOptions messaging)
    {
        var stages = Option<StageOptions>(services);
        stages.Validate();
        var locality = Option<LocalityOptions>(services);
        locality.Validate();
        var decoding = Option<SerializationLimitOptions>(services);
        OptionRules.Check(decoding);
        var cluster = Option<ClusterOptions>(services);
        OptionRules.Check(messaging);
        var collection = Option<GrainCollectionOptions>(services);
        OptionRules.Check(collection);
        var scheduling = Option<SchedulingOptions>(services);
        OptionRules.Check(scheduling);
        var connections = Option<ConnectionOptions>(services);
        OptionRules.Check(connections);
        var channels = Option<ChannelsOptions>(services);
        channels.Validate(connections.ConnectionsPerEndpoint, messaging.MaxMessageBodySize);
        var directory = Option<GrainDirectoryOptions>(services);
        OptionRules.Check(directory);
        var common = services.GetRequiredService<TimeProvider>();
        var time = services.GetKeyedService<TimeProvider>(TimeProviderNames.SystemTimers) ?? common;
        var named = new NodeChannels(channels, messaging.MaxMessageBodySize);
        var setup = new NodeSetup
        {
            Channels = named,
            Address = address,
            Name = "",
            Services = services,
            Time = time,
            GrainTime = services.GetKeyedService<TimeProvider>(TimeProviderNames.Grains) ?? common,
            Loggers = GuardedLoggers.GuardedOf(services),
            Messaging = messaging,
            ResponseTimeout = (services.GetService<DebuggerSeam>()?.IsAttached ?? System.Diagnostics.Debugger.IsAttached)
                ? messaging.ResponseTimeoutWithDebugger
                : messaging.ResponseTimeout,
            Collection = collection,
            Scheduling = scheduling,
            Stages = WithSenders(stages, messaging),
            Locality = locality,
            Decoding = decoding,
            ClientRights = Option<ClientRightsOptions>(services),
            Mesh = new MeshOptions
            {
                ClusterId = cluster.ClusterId,
                ServiceId = cluster.ServiceId,
                HandshakeTimeout = connections.OpenConnectionTimeout,
                ReconnectMin = Least(connections.ConnectionRetryDelay, MeshDefaults.ReconnectMin),
                SearchMax = Least(connections.ConnectionRetryDelay, MeshDefaults.SearchMax),
                ReconnectMax = connections.ConnectionRetryDelay,
                LinksPerPeer = connections.ConnectionsPerEndpoint,
                NamedLinks = named.Links,
                MaxFrameBytes = messaging.MaxMessageBodySize,
                LargeFrameBytes = LargeFrameBytes,
                Spin = stages.ReceiveSpin,
                Seed = address.GetHashCode(),
            },
            ConnectionLimits = Option<ConnectionLimitOptions>(services),
            Tracing = Option<CallTracingOptions>(services),
            Transport = services.GetService<Transport>() ?? new TcpTransport(NodeSockets.Options(services), time),
            DefaultPlacement = services.GetService<PlacementStrategy>() ?? new ResourceOptimizedPlacement(),
            LocationCacheSize = directory.CacheSize,
            CachesLocations = address.IsClient || directory.CachingStrategy != GrainDirectoryOptions.CachingStrategyType.None,
            LocationLifetime = directory.MaximumCacheTTL,
            CustomLocations = address.IsClient ? null : CustomCache.FromServices(services, directory),
            Seed = address.GetHashCode(),
        };
        setup.Tracing.Validate();
        Option<ClusterSecurityOptions>(services).Apply(setup.Mesh, address.IsClient, services.GetService<TenantSeparation>() is not null);
        setup.ConnectionLimits.Apply(setup.Mesh);
        if (services.GetService<NodeSeams>() is not { } seams)
            return setup;
        setup.Mesh.Random = bytes => Fill(bytes, seams.NewId);
        return setup with { Driver = seams.Driver, NewId = seams.NewId, LifeWatch = seams.LifeWatch };
    }

    /// <summary>Bytes of a deterministic run: never the same again, but not secret.</summary>
    private static void Fill(Span<byte> bytes, Func<Guid> newId)
    {
        for (Span<byte> id = stackalloc byte[16]; !bytes.IsEmpty; bytes = bytes[Math.Min(16, bytes.Length)..])
        {
            newId().TryWriteBytes(id);
            id[..Math.Min(16, bytes.Length)].CopyTo(bytes);
        }
    }

    private static TimeSpan Least(TimeSpan one, TimeSpan other) => one < other ? one : other;

    /// <summary>The numbers of threads that send, if only Orleans' options give them.</summary>
    private static StageOptions WithSenders(StageOptions stages, MessagingOptions messaging)
    {
        if (messaging is not SiloMessagingOptions silo)
            return stages;
        return stages.With(
            stages.SiloSendThreads ?? (silo.SiloSenderQueues == 0 ? null : silo.SiloSenderQueues),
            stages.ClientSendThreads ?? (silo.GatewaySenderQueues == 0 ? null : silo.GatewaySenderQueues));
    }

    private static ClientMessagingOptions Messaging(IServiceProvider services)
    {
        var messaging = Option<ClientMessagingOptions>(services);
        OptionRules.Check(messaging);
        return messaging;
    }

    /// <summary>
    /// All that an address can hold beside the host is random: 16 and 31 bits. Nobody can be there first with the name of a client to come.
    /// </summary>
    private static SiloAddress NextClient(IPAddress address)
    {
        Span<byte> random = stackalloc byte[8];
        RandomNumberGenerator.Fill(random);
        var port = BinaryPrimitives.ReadUInt16LittleEndian(random);
        return SiloAddress.New(address, port, BinaryPrimitives.ReadInt32LittleEndian(random[4..]) | int.MinValue);
    }

    /// <summary>Larger than all generations before, so that a silo that restarts within one second is a different silo.</summary>
    private static int NextGeneration()
    {
        while (true)
        {
            var last = Volatile.Read(ref s_generation);
            var next = Math.Max(last + 1, SiloAddress.AllocateNewGeneration());
            if (Interlocked.CompareExchange(ref s_generation, next, last) == last)
                return next;
        }
    }

    private static void Validate(IServiceProvider services)
    {
        foreach (var validator in services.GetServices<IConfigurationValidator>())
            validator.ValidateConfiguration();
    }

    private static TOptions Option<TOptions>(IServiceProvider services)
        where TOptions : class
    {
        try
        {
            return services.GetRequiredService<IOptions<TOptions>>().Value;
        }
        catch (OptionsValidationException exception)
        {
            throw new OrleansConfigurationException(exception.Message, exception);
        }
    }
}

/// <summary>
/// A system target of every silo whose class is above the path of a call. Registered as a service; made when the silo opens, before it
/// listens.
/// </summary>
/// <param name="Name">Its name, the same on all silos.</param>
/// <param name="Make">Makes it from the parts of the node.</param>
internal sealed record NodeTarget(string Name, Func<Node, object> Make);
