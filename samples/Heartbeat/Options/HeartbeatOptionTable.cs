using Harness.Options;

namespace Heartbeat.Options;

/// <summary>The options that every command has.</summary>
public sealed class HeartbeatOptionTable : OptionTable<HeartbeatOptions>
{
    /// <summary>Creates the options with <paramref name="defaults"/>; descriptions name the paper's value.</summary>
    public HeartbeatOptionTable(HeartbeatOptions defaults)
    {
        Add("--application", "heartbeat = a status per client, updated and read; counter = a grain that counts.", defaults.Application, o => o.Application, (o, v) => o with { Application = v });
        Add("--clients", "Monitored clients, each with a grain. Paper: 8000 counters.", defaults.Clients, o => o.Clients, (o, v) => o with { Clients = v });
        Add("--reads", "Percent of heartbeat requests that read.", defaults.ReadPercent, o => o.ReadPercent, (o, v) => o with { ReadPercent = v });
        Add("--blocking-ms", "How long a blocking call holds its thread, in ms.", defaults.BlockingMs, o => o.BlockingMs, (o, v) => o with { BlockingMs = v });
        Add("--queue-period", "Seconds between decisions by queue length. Paper: 30.", defaults.QueuePeriod, o => o.QueuePeriod, (o, v) => o with { QueuePeriod = v });
        Add("--eta", "The model's price of a thread in microseconds; 0 = the runtime's default. Paper: 100.", defaults.ThreadPenalty, o => o.ThreadPenalty, (o, v) => o with { ThreadPenalty = v });
        Add("--warmup", "Seconds of load before measuring a cell.", defaults.Warmup, o => o.Warmup, (o, v) => o with { Warmup = v });
        Add("--measure", "Seconds measured in a cell.", defaults.Measure, o => o.Measure, (o, v) => o with { Measure = v });
        Add("--processes", "Load processes, which share the rate. Paper: 8 servers.", defaults.Processes, o => o.Processes, (o, v) => o with { Processes = v });
        Add("--max-outstanding", "Most requests in flight; one beyond counts as an error.", defaults.MaxOutstanding, o => o.MaxOutstanding, (o, v) => o with { MaxOutstanding = v });
        Add("--seed", "Seed of the load's random choices.", defaults.Seed, o => o.Seed, (o, v) => o with { Seed = v });
    }
}
