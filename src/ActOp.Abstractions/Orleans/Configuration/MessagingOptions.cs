using System.Net;
using System.Net.Sockets;
using Orleans.Runtime.Messaging;

namespace Orleans.Configuration;

/// <summary>How calls are sent and how long they may take.</summary>
public abstract class MessagingOptions
{
    /// <summary>Whether a call that took too long is cancelled at the callee. Default: false.</summary>
    public bool CancelRequestOnTimeout { get; set; } = false;

    /// <summary>Whether a call that the callee's silo does not know any more is failed. Default: false.</summary>
    public bool CancelUnknownRequestOnStatusUpdate { get; set; }

    /// <summary>
    /// Whether a request whose caller no longer waits is dropped before it runs. Default: true. If false, it runs, and its result is
    /// discarded.
    /// </summary>
    public bool DropExpiredMessages { get; set; } = true;

    /// <summary>The most bytes of the arguments or the result of one call. Default: 100 MiB.</summary>
    public int MaxMessageBodySize { get; set; } = 100 * 1024 * 1024;

    /// <summary>
    /// Maximum size in bytes of the part of a request before its arguments. Its variable part are the values of the request context. A
    /// request beyond it fails with a LimitExceededException. Default: 10 MiB.
    /// </summary>
    public int MaxMessageHeaderSize { get; set; } = 10 * 1024 * 1024;

    /// <summary>How long a caller waits for an answer. Default: 30 s.</summary>
    public TimeSpan ResponseTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Maximum time that a caller waits if a debugger is attached when the node starts. Default: 30 min.</summary>
    public TimeSpan ResponseTimeoutWithDebugger { get; set; } = TimeSpan.FromMinutes(30);

    /// <summary>Whether a cancelled call waits until the callee has ended. Default: false.</summary>
    public bool WaitForCancellationAcknowledgement { get; set; } = false;
}

/// <summary>How a client sends calls and from where.</summary>
public class ClientMessagingOptions : MessagingOptions
{
    /// <summary>The default of <see cref="ClientSenderBuckets"/>.</summary>
    public const int DEFAULT_CLIENT_SENDER_BUCKETS = 8192;

    /// <summary>The default of <see cref="PreferredFamily"/>.</summary>
    public const AddressFamily DEFAULT_PREFERRED_FAMILY = AddressFamily.InterNetwork;

    /// <summary>How many groups of grains keep to one connection each. Default: 8192.</summary>
    public int ClientSenderBuckets { get; set; } = DEFAULT_CLIENT_SENDER_BUCKETS;

    /// <summary>The address in the client's id; that of a network interface of the machine when null. Nobody connects to it.</summary>
    public IPAddress? LocalAddress { get; set; }

    /// <summary>Start of the name of the network interface whose address is used; any that is up when null.</summary>
    public string? NetworkInterfaceName { get; set; }

    /// <summary>Family of the address that is used, IPv4 or IPv6. Default: IPv4.</summary>
    public AddressFamily PreferredFamily { get; set; } = DEFAULT_PREFERRED_FAMILY;
}

/// <summary>How a silo sends calls and what it accepts.</summary>
public class SiloMessagingOptions : MessagingOptions
{
    /// <summary>The default of <see cref="ClientGatewayShutdownNotificationTimeout"/>.</summary>
    public static readonly TimeSpan DEFAULT_CLIENT_GW_NOTIFICATION_TIMEOUT = TimeSpan.FromSeconds(5);

    /// <summary>The default of <see cref="ClientRegistrationRefresh"/>.</summary>
    public static readonly TimeSpan DEFAULT_CLIENT_REGISTRATION_REFRESH = TimeSpan.FromMinutes(5);

    /// <summary>The default of <see cref="MaxEnqueuedRequestsHardLimit"/>.</summary>
    public const int DEFAULT_MAX_ENQUEUED_REQUESTS_HARD_LIMIT = 0;

    /// <summary>The default of <see cref="MaxEnqueuedRequestsSoftLimit"/>.</summary>
    public const int DEFAULT_MAX_ENQUEUED_REQUESTS_SOFT_LIMIT = 0;

    /// <summary>The default of <see cref="MaxEnqueuedRequestsHardLimit_StatelessWorker"/>.</summary>
    public const int DEFAULT_MAX_ENQUEUED_REQUESTS_STATELESS_WORKER_HARD_LIMIT = 0;

    /// <summary>The default of <see cref="MaxEnqueuedRequestsSoftLimit_StatelessWorker"/>.</summary>
    public const int DEFAULT_MAX_ENQUEUED_REQUESTS_STATELESS_WORKER_SOFT_LIMIT = 0;

    /// <summary>The default of <see cref="MaxRequestProcessingTime"/>.</summary>
    public static readonly TimeSpan DEFAULT_MAX_REQUEST_PROCESSING_TIME = TimeSpan.FromHours(2);

    /// <summary>The default of <see cref="WaitForMessageToBeQueuedForOutboundTime"/>.</summary>
    public static readonly TimeSpan DEFAULT_WAIT_FOR_MESSAGE_TO_BE_QUEUED_FOR_OUTBOUND_TIME = TimeSpan.FromSeconds(10);

    /// <summary>Whether all silos are taken to have the same grains. Default: false.</summary>
    public bool AssumeHomogenousSilosForTesting { get; set; } = false;

    /// <summary>How long a client that is gone is remembered. Default: 1 min.</summary>
    public TimeSpan ClientDropTimeout { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Maximum time that a silo that stops waits until its clients know it. All of them know it after 2 s, so it waits no longer. Default:
    /// 5 s.
    /// </summary>
    public TimeSpan ClientGatewayShutdownNotificationTimeout { get; set; } = DEFAULT_CLIENT_GW_NOTIFICATION_TIMEOUT;

    /// <summary>How often clients are registered again. Default: 5 min.</summary>
    public TimeSpan ClientRegistrationRefresh { get; set; } = DEFAULT_CLIENT_REGISTRATION_REFRESH;

    /// <summary>
    /// Number of threads that send to clients, if it is not 0 and <c>StageOptions.ClientSendThreads</c> is not set. Default: 0, which is
    /// one per processor, adjusted while the silo runs.
    /// </summary>
    public int GatewaySenderQueues { get; set; }

    /// <summary>Time between two searches for requests that run or wait for too long, and for long queues. Default: 5 s.</summary>
    public TimeSpan GrainWorkloadAnalysisPeriod { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Maximum number of requests that wait for one activation, and as many that arrived during its current turn. Further requests fail
    /// with a LimitExceededException. 0: <c>StageOptions.MailboxLimit</c> alone, which also holds if it is lower. Default: 0.
    /// </summary>
    public int MaxEnqueuedRequestsHardLimit { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_HARD_LIMIT;

    /// <summary>As <see cref="MaxEnqueuedRequestsHardLimit"/>, for one activation of a stateless worker. Default: 0.</summary>
    public int MaxEnqueuedRequestsHardLimit_StatelessWorker { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_STATELESS_WORKER_HARD_LIMIT;

    /// <summary>
    /// Number of requests that run or wait in one activation above which each search (<see cref="GrainWorkloadAnalysisPeriod"/>) logs a
    /// warning; 0 for no warning. Above 0, the search visits all activations. Default: 0.
    /// </summary>
    public int MaxEnqueuedRequestsSoftLimit { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_SOFT_LIMIT;

    /// <summary>As <see cref="MaxEnqueuedRequestsSoftLimit"/>, for one activation of a stateless worker. Default: 0.</summary>
    public int MaxEnqueuedRequestsSoftLimit_StatelessWorker { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_STATELESS_WORKER_SOFT_LIMIT;

    /// <summary>How often a call that reached the wrong silo is forwarded. Default: 2.</summary>
    public int MaxForwardCount { get; set; } = 2;

    /// <summary>
    /// Maximum time that a request may run and keep others waiting. Then the activation ends with the reason ActivationUnresponsive, and
    /// the requests that wait go to the next activation of the grain. An activation that blocks its thread cannot end. Default: 2 h.
    /// </summary>
    public TimeSpan MaxRequestProcessingTime { get; set; } = DEFAULT_MAX_REQUEST_PROCESSING_TIME;

    /// <summary>Time that a request runs and keeps others waiting before a warning is logged. Default: 20 s.</summary>
    public TimeSpan RequestProcessingWarningTime { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>Time that a request waits for others to end before a warning is logged. Default: 20 s.</summary>
    public TimeSpan RequestQueueDelayWarningTime { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>As <see cref="GatewaySenderQueues"/>, for silos and <c>StageOptions.SiloSendThreads</c>.</summary>
    public int SiloSenderQueues { get; set; }

    /// <summary>Maximum time that a call between parts of the runtime waits for its answer. Default: 30 s.</summary>
    public TimeSpan SystemResponseTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Maximum time that a silo that stops waits until its connections have sent what is queued. Default: 10 s.</summary>
    public TimeSpan WaitForMessageToBeQueuedForOutboundTime { get; set; } = DEFAULT_WAIT_FOR_MESSAGE_TO_BE_QUEUED_FOR_OUTBOUND_TIME;
}

/// <summary>Connections between silos and from clients.</summary>
public class ConnectionOptions
{
    /// <summary>The default of <see cref="OpenConnectionTimeout"/>.</summary>
    public static readonly TimeSpan DEFAULT_OPENCONNECTION_TIMEOUT = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Maximum time between two attempts to connect to the same endpoint. The first attempts follow each other sooner, from 50 ms on, each
    /// time doubled. Default: 1 s.
    /// </summary>
    public TimeSpan ConnectionRetryDelay { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Number of connections to each node for grain calls, 1 to 64. Default: 1.</summary>
    public int ConnectionsPerEndpoint { get; set; } = 1;

    /// <summary>Maximum time from the start of a connection to the end of its handshake. Default: 5 s.</summary>
    public TimeSpan OpenConnectionTimeout { get; set; } = DEFAULT_OPENCONNECTION_TIMEOUT;

    /// <summary>
    /// The protocol of connections. Only <see cref="NetworkProtocolVersion.Version1"/> exists; another one fails the start.
    /// </summary>
    public NetworkProtocolVersion ProtocolVersion { get; set; } = NetworkProtocolVersion.Version1;
}

/// <summary>When a silo refuses requests of clients, with a <see cref="Runtime.GatewayTooBusyException"/>.</summary>
public class LoadSheddingOptions
{
    /// <summary>Whether requests are refused at all. Default: false.</summary>
    public bool LoadSheddingEnabled { get; set; }

    /// <summary>Processor use of the process above which they are refused, in percent of all its processors. Default: 95.</summary>
    public int CpuThreshold { get; set; } = 95;

    /// <summary>Memory in use above which they are refused, in percent of what the process may use. Default: 90.</summary>
    public int MemoryThreshold { get; set; } = 90;
}

/// <summary>How a client chooses the silos it connects to.</summary>
public class GatewayOptions
{
    /// <summary>The default of <see cref="PreferredGatewayIndex"/>.</summary>
    public const int DEFAULT_PREFERED_GATEWAY_INDEX = -1;

    /// <summary>
    /// Time between two resolutions of the host names in the list of gateways while the client is connected. While it is not, each search
    /// for a gateway resolves them. Default: 1 min.
    /// </summary>
    public TimeSpan GatewayListRefreshPeriod { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Index in the list of the gateway to which the client sends the calls to grains with unknown location while it is connected to it; -1
    /// for all silos. Default: -1.
    /// </summary>
    public int PreferredGatewayIndex { get; set; } = DEFAULT_PREFERED_GATEWAY_INDEX;
}

/// <summary>The silos that a client connects to, as a fixed list.</summary>
public class StaticGatewayListProviderOptions
{
    /// <summary>The gateways: <c>gwy.tcp://host:port/0</c>, where the host is an address or a name.</summary>
    public List<Uri> Gateways { get; set; } = [];
}
