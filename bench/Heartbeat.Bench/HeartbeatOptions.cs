using ActOp.Harness.Options;

namespace Heartbeat.Bench;

/// <summary>
/// The workload and its measurement, the same for every cell of a command (ActOp paper, sections 3 and 6.2), scaled to one machine.
/// </summary>
public sealed record HeartbeatOptions
{
    private const double Hour = 3600;

    /// <summary>What the silo runs.</summary>
    public Application Application { get; init; } = Application.Heartbeat;

    /// <summary>Monitored clients, each with a grain (paper: 8,000 counters).</summary>
    public int Clients { get; init; } = 8000;

    /// <summary>Percent of the requests that read a status instead of updating it.</summary>
    public int ReadPercent { get; init; } = 50;

    /// <summary>How long a blocking call holds its thread, in ms.</summary>
    public double BlockingMs { get; init; } = 5;

    /// <summary>Seconds between decisions by queue length (paper: 30, which no short cell would see).</summary>
    public double QueuePeriod { get; init; } = 2;

    /// <summary>Eta of the model in microseconds per thread; 0 means the runtime's default (paper: 100).</summary>
    public double ThreadPenalty { get; init; }

    /// <summary>Seconds of load before measuring, after a second in which code is compiled: controllers settle.</summary>
    public double Warmup { get; init; } = 3;

    /// <summary>Seconds measured.</summary>
    public double Measure { get; init; } = 3.5;

    /// <summary>Load processes, which share the rate (paper: 8 servers).</summary>
    public int Processes { get; init; } = 1;

    /// <summary>
    /// Most requests in flight; one beyond is refused by the load client and counts as an error, which bounds every cell.
    /// </summary>
    public int MaxOutstanding { get; init; } = 10_000;

    /// <summary>Seed of every random choice of the load.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>The first thing wrong with these options, naming the option; null when they are fine.</summary>
    public string? FindError()
    {
        if (Clients is < 1 or > 1_000_000) return $"--clients must be 1 to 1000000, not {Clients}.";
        if (ReadPercent is < 0 or > 100) return $"--reads must be 0 to 100 percent, not {ReadPercent}.";
        if (!(BlockingMs is > 0 and <= 10_000)) return $"--blocking-ms must be above 0 and at most 10000 ms, not {BlockingMs}.";
        if (!(QueuePeriod is >= 0.1 and <= Hour)) return $"--queue-period must be 0.1 to 3600 seconds, not {QueuePeriod}.";
        if (!(ThreadPenalty is >= 0 and <= 1e6)) return $"--eta must be 0 to 1000000 us, not {ThreadPenalty}.";
        if (!(Warmup is >= 0 and <= Hour)) return $"--warmup must be 0 to 3600 seconds, not {Warmup}.";
        if (!(Measure is > 0 and <= Hour)) return $"--measure must be above 0 and at most 3600 seconds, not {Measure}.";
        if (Processes is < 1 or > 64) return $"--processes must be 1 to 64, not {Processes}.";
        if (MaxOutstanding is < 1 or > 10_000_000) return $"--max-outstanding must be 1 to 10000000, not {MaxOutstanding}.";
        return null;
    }
}

/// <summary>The options that every command has.</summary>
public sealed class HeartbeatOptionTable : OptionTable<HeartbeatOptions>
{
    /// <summary>Creates the options with <paramref name="defaults"/>; descriptions name the paper's value.</summary>
    public HeartbeatOptionTable(HeartbeatOptions defaults)
    {
        Add("--application", "heartbeat = a status per client, updated and read; counter = a grain that counts.", defaults.Application,
            o => o.Application, (o, v) => o with { Application = v });
        Add("--clients", "Monitored clients, each with a grain. Paper: 8000 counters.", defaults.Clients, o => o.Clients,
            (o, v) => o with { Clients = v });
        Add("--reads", "Percent of heartbeat requests that read.", defaults.ReadPercent, o => o.ReadPercent,
            (o, v) => o with { ReadPercent = v });
        Add("--blocking-ms", "How long a blocking call holds its thread, in ms.", defaults.BlockingMs, o => o.BlockingMs,
            (o, v) => o with { BlockingMs = v });
        Add("--queue-period", "Seconds between decisions by queue length. Paper: 30.", defaults.QueuePeriod, o => o.QueuePeriod,
            (o, v) => o with { QueuePeriod = v });
        Add("--eta", "The model's price of a thread in microseconds; 0 = the runtime's default. Paper: 100.", defaults.ThreadPenalty,
            o => o.ThreadPenalty, (o, v) => o with { ThreadPenalty = v });
        Add("--warmup", "Seconds of load before measuring a cell.", defaults.Warmup, o => o.Warmup, (o, v) => o with { Warmup = v });
        Add("--measure", "Seconds measured in a cell.", defaults.Measure, o => o.Measure, (o, v) => o with { Measure = v });
        Add("--processes", "Load processes, which share the rate. Paper: 8 servers.", defaults.Processes, o => o.Processes,
            (o, v) => o with { Processes = v });
        Add("--max-outstanding", "Most requests in flight; one beyond counts as an error.", defaults.MaxOutstanding, o => o.MaxOutstanding,
            (o, v) => o with { MaxOutstanding = v });
        Add("--seed", "Seed of the load's random choices.", defaults.Seed, o => o.Seed, (o, v) => o with { Seed = v });
    }
}

/// <summary>What the silo runs.</summary>
public enum Application
{
    /// <summary>A status for each client, updated and read (paper section 6.2).</summary>
    Heartbeat,

    /// <summary>A grain that counts (paper section 3, Figures 4 and 5).</summary>
    Counter,
}

/// <summary>How much of the baseline's peak is asked for.</summary>
public enum LoadLevel
{
    /// <summary>Half of it.</summary>
    Low,

    /// <summary>Two thirds.</summary>
    Middle,

    /// <summary>Four fifths: what the paper calls the most that production would run.</summary>
    High,
}

/// <summary>The share of the peak that a level means.</summary>
public static class LoadShare
{
    /// <summary>0 to 1.</summary>
    public static double Of(LoadLevel level) => level switch
    {
        LoadLevel.Low => 0.5,
        LoadLevel.Middle => 0.65,
        _ => 0.8,
    };
}
