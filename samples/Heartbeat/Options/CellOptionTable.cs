using Harness.Options;

namespace Heartbeat.Options;

/// <summary>The options that child processes have besides the common ones.</summary>
public sealed class CellOptionTable : OptionTable<CellOptions>
{
    /// <summary>Creates the options.</summary>
    public CellOptionTable()
    {
        var defaults = new CellOptions();
        Add("--allocation", "Who gives the stages their threads.", defaults.Allocation, o => o.Allocation, (o, v) => o with { Allocation = v });
        Add("--receive-threads", "Threads that read; 0 = by the allocation.", defaults.ReceiveThreads, o => o.ReceiveThreads, (o, v) => o with { ReceiveThreads = v });
        Add("--work-threads", "Threads that run turns; 0 = by the allocation.", defaults.WorkThreads, o => o.WorkThreads, (o, v) => o with { WorkThreads = v });
        Add("--client-send-threads", "Threads that write to clients; 0 = by the allocation.", defaults.ClientSendThreads, o => o.ClientSendThreads, (o, v) => o with { ClientSendThreads = v });
        Add("--blocking-percent", "Percent of the requests that block their thread.", defaults.BlockingPercent, o => o.BlockingPercent, (o, v) => o with { BlockingPercent = v });
        Add("--compute-us", "Microseconds of every turn.", defaults.ComputeUs, o => o.ComputeUs, (o, v) => o with { ComputeUs = v });
        Add("--schedule", "Segments of the load.", defaults.Schedule, o => o.Schedule, (o, v) => o with { Schedule = v });
        Add("--find-peak", "Search for the peak.", defaults.FindPeak, o => o.FindPeak, (o, v) => o with { FindPeak = v });
    }
}
