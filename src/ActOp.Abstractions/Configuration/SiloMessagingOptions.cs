namespace Orleans.Configuration;

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

    /// <summary>How long a silo that stops waits for its clients to know. Default: 5 s.</summary>
    public TimeSpan ClientGatewayShutdownNotificationTimeout { get; set; } = DEFAULT_CLIENT_GW_NOTIFICATION_TIMEOUT;

    /// <summary>How often clients are registered again. Default: 5 min.</summary>
    public TimeSpan ClientRegistrationRefresh { get; set; } = DEFAULT_CLIENT_REGISTRATION_REFRESH;

    /// <summary>Senders to clients. Default: one per processor.</summary>
    public int GatewaySenderQueues { get; set; } = Environment.ProcessorCount;

    /// <summary>How often the calls that run are looked at. Default: 5 s.</summary>
    public TimeSpan GrainWorkloadAnalysisPeriod { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Calls waiting for one activation above which more are refused; 0 for no limit. Default: 0.</summary>
    public int MaxEnqueuedRequestsHardLimit { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_HARD_LIMIT;

    /// <summary>The same for stateless workers. Default: 0.</summary>
    public int MaxEnqueuedRequestsHardLimit_StatelessWorker { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_STATELESS_WORKER_HARD_LIMIT;

    /// <summary>Calls waiting for one activation above which a warning is logged; 0 for none. Default: 0.</summary>
    public int MaxEnqueuedRequestsSoftLimit { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_SOFT_LIMIT;

    /// <summary>The same for stateless workers. Default: 0.</summary>
    public int MaxEnqueuedRequestsSoftLimit_StatelessWorker { get; set; } = DEFAULT_MAX_ENQUEUED_REQUESTS_STATELESS_WORKER_SOFT_LIMIT;

    /// <summary>How often a call that came to the wrong silo is sent on. Default: 2.</summary>
    public int MaxForwardCount { get; set; } = 2;

    /// <summary>How long a call may run before its activation is given up. Default: 2 h.</summary>
    public TimeSpan MaxRequestProcessingTime { get; set; } = DEFAULT_MAX_REQUEST_PROCESSING_TIME;

    /// <summary>How long a call may run before a warning is logged. Default: 20 s.</summary>
    public TimeSpan RequestProcessingWarningTime { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>How long a call may wait before a warning is logged. Default: 20 s.</summary>
    public TimeSpan RequestQueueDelayWarningTime { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>Senders to silos. Default: one per processor.</summary>
    public int SiloSenderQueues { get; set; } = Environment.ProcessorCount;

    /// <summary>How long calls between parts of the runtime wait. Default: 30 s.</summary>
    public TimeSpan SystemResponseTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>How long a silo that stops waits for what is still to be sent. Default: 10 s.</summary>
    public TimeSpan WaitForMessageToBeQueuedForOutboundTime { get; set; } = DEFAULT_WAIT_FOR_MESSAGE_TO_BE_QUEUED_FOR_OUTBOUND_TIME;
}
