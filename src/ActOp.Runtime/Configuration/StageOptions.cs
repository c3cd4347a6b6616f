using ActOp.Staging;
using ActOp.Staging.Measuring;
using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>Threads of the stages of a silo or client (paper section 5).</summary>
public sealed class StageOptions
{
    private const int MaxStageThreads = 512;

    internal static int DefaultThreads => Environment.ProcessorCount;

    /// <summary>
    /// Which threads run turns and sends: threads of the stages (default, as in the paper), or the .NET thread pool (the baseline).
    /// </summary>
    public StageMode Mode { get; set; } = StageMode.OwnThreads;

    /// <summary>
    /// Which controller sets the number of threads of a silo's stages. Default: the model. Clients and <see cref="StageMode.ThreadPool"/>
    /// have no controller.
    /// </summary>
    public StageController Controller { get; set; } = StageController.Model;

    /// <summary>
    /// Whether a sample of each stage's events is measured, for the model and the metrics. Default true: it costs less than a hundredth of
    /// the throughput.
    /// </summary>
    public bool Measure { get; set; } = true;

    /// <summary>
    /// How the cost of a stage's events is measured for the model. Default: the best available source. A silo does not start if the
    /// configured source is not available; <see cref="DemandSourceKind.Trace"/> needs the package ActOp.Staging.Tracing.
    /// </summary>
    public DemandSourceKind DemandSource { get; set; } = DemandSourceKind.Best;

    /// <summary>
    /// Threads that read and decode. A number is fixed. With null (default) the controller decides; it starts with the number of cores.
    /// </summary>
    public int? ReceiveThreads { get; set; }

    /// <summary>
    /// Threads that run turns. A number is fixed. With null (default) the controller decides; it starts with the number of cores.
    /// </summary>
    public int? WorkThreads { get; set; }

    /// <summary>
    /// Threads that write to silos. A number is fixed. With null (default) the controller decides; it starts with the number of cores.
    /// </summary>
    public int? SiloSendThreads { get; set; }

    /// <summary>
    /// Threads that write to clients. A number is fixed. With null (default) the controller decides; it starts with the number of cores.
    /// </summary>
    public int? ClientSendThreads { get; set; }

    /// <summary>
    /// Time between decisions of the model. Default 1 s: hundreds of events even at a low rate, and the model reacts to a load step within
    /// seconds.
    /// </summary>
    public TimeSpan ModelPeriod { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// What a thread costs in latency, eta of the paper, per thread. Default 25 us: about half of what waking a thread costs both sides.
    /// With 10 us the Heartbeat sample's silo took a second pair of threads that competed with its load client and did worse than one.
    /// <c>calibrate</c> of that sample finds the value for a machine; the paper's had 100 us.
    /// </summary>
    public TimeSpan ThreadPenalty { get; set; } = TimeSpan.FromMicroseconds(25);

    /// <summary>
    /// Processors that all threads of a silo's stages could use at most, as a multiple of those there are. Default 1.5; the paper has 1,
    /// but a thread that waits for work uses none.
    /// </summary>
    public double ProcessorHeadroom { get; set; } = 1.5;

    /// <summary>
    /// The model changes the threads only if its objective improves by at least this share. Default 0.1: smaller changes cannot be
    /// distinguished from noise.
    /// </summary>
    public double Hysteresis { get; set; } = 0.1;

    /// <summary>
    /// Weight of the last period in the smoothed demand of the model, above 0 to 1. Default 0.3: three periods carry two thirds.
    /// </summary>
    public double Smoothing { get; set; } = 0.3;

    /// <summary>
    /// The fewest threads that a controller gives a stage. Default 1; the stage that runs turns has two, so that a long turn does not delay
    /// all others, unless <see cref="MaxThreads"/> is 1.
    /// </summary>
    public int MinThreads { get; set; } = 1;

    /// <summary>
    /// The most threads that a controller gives a stage. Default 64: grains that block for so long should be made asynchronous.
    /// </summary>
    public int MaxThreads { get; set; } = 64;

    /// <summary>Time between decisions by queue length. Default 30 s, as in the paper.</summary>
    public TimeSpan QueuePeriod { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>A stage with a longer queue gets one more thread. Default 100, as in the paper.</summary>
    public int QueueHigh { get; set; } = 100;

    /// <summary>A stage with a shorter queue loses one thread. Default 10, as in the paper.</summary>
    public int QueueLow { get; set; } = 10;

    /// <summary>
    /// Requests that may wait in one mailbox for running requests, and as many that arrived during the current turn. Further requests are
    /// refused with a LimitExceededException. Requests that may interleave do not wait. Default 100,000: beyond any burst that could still
    /// be answered in time.
    /// </summary>
    public int MailboxLimit { get; set; } = 100_000;

    /// <summary>
    /// For how long a reading thread polls before it sleeps. It polls only if its last waits were short and no other thread needs the
    /// processor. <see cref="TimeSpan.Zero"/>: never. Default 50 us, about the cost of a sleep and a wake-up.
    /// </summary>
    public TimeSpan ReceiveSpin { get; set; } = TimeSpan.FromMicroseconds(50);

    /// <summary>The same options with other numbers of threads that send.</summary>
    internal StageOptions With(int? siloSendThreads, int? clientSendThreads)
    {
        var copy = (StageOptions)MemberwiseClone();
        (copy.SiloSendThreads, copy.ClientSendThreads) = (siloSendThreads, clientSendThreads);
        return copy;
    }

    internal void Validate()
    {
        foreach (var (name, value) in new[] { (nameof(ReceiveThreads), ReceiveThreads), (nameof(WorkThreads), WorkThreads),
            (nameof(SiloSendThreads), SiloSendThreads), (nameof(ClientSendThreads), ClientSendThreads) })
        {
            Check(value is null or (>= 1 and <= MaxStageThreads), name, "1 to " + MaxStageThreads, value);
        }

        Check(Measure || Controller != StageController.Model, nameof(Measure), "true for the Model controller", Measure);
        Check(MinThreads is >= 1 and <= MaxStageThreads, nameof(MinThreads), "1 to " + MaxStageThreads, MinThreads);
        Check(MaxThreads >= MinThreads
            && MaxThreads <= MaxStageThreads, nameof(MaxThreads), "MinThreads to " + MaxStageThreads, MaxThreads);
        Check(ModelPeriod >= TimeSpan.FromMilliseconds(100), nameof(ModelPeriod), "at least 100 ms", ModelPeriod);
        Check(QueuePeriod >= TimeSpan.FromMilliseconds(100), nameof(QueuePeriod), "at least 100 ms", QueuePeriod);
        Check(ThreadPenalty > TimeSpan.Zero, nameof(ThreadPenalty), "positive", ThreadPenalty);
        Check(ProcessorHeadroom is >= 1 and <= 16, nameof(ProcessorHeadroom), "1 to 16", ProcessorHeadroom);
        Check(Hysteresis is >= 0 and < 1, nameof(Hysteresis), "0 to below 1", Hysteresis);
        Check(Smoothing is > 0 and <= 1, nameof(Smoothing), "above 0 to 1", Smoothing);
        Check(QueueLow >= 0, nameof(QueueLow), "0 or more", QueueLow);
        Check(QueueHigh >= QueueLow, nameof(QueueHigh), "QueueLow or more", QueueHigh);
        Check(ReceiveSpin >= TimeSpan.Zero && ReceiveSpin <= TimeSpan.FromMilliseconds(10), nameof(ReceiveSpin), "0 to 10 ms", ReceiveSpin);
        Check(MailboxLimit >= 1, nameof(MailboxLimit), "positive", MailboxLimit);
    }

    /// <summary>Fails if the configured source of measurements is not available.</summary>
    internal void ValidateSource(IStageTracing? tracing)
    {
        if (DemandSources.Obstacle(DemandSource, tracing) is { } obstacle)
            throw Unavailable(DemandSource, obstacle);
    }

    internal static OrleansConfigurationException Unavailable(DemandSourceKind kind, string reason) =>
        new("StageOptions.DemandSource is " + kind + ", but " + reason + ".");

    private static void Check(bool isRight, string name, string rule, object? value)
    {
        if (!isRight)
            throw new OrleansConfigurationException("StageOptions." + name + " must be " + rule + ", but is " + value + ".");
    }
}

/// <summary>The controller of the number of threads of each stage.</summary>
public enum StageController
{
    /// <summary>The queueing model of the paper (section 5.3), from what the stages measure.</summary>
    Model,

    /// <summary>Queue lengths against two thresholds: the baseline of the paper (section 5.1).</summary>
    QueueLength,

    /// <summary>No controller: a stage keeps the number of threads of the options, by default the number of cores.</summary>
    Fixed,
}
