using ActOp.Harness.Options;

namespace Heartbeat.Bench;

/// <summary>What one cell adds to the common options: its threads and its load.</summary>
public sealed record CellOptions
{
    /// <summary>Who gives the stages their threads.</summary>
    public Allocation Allocation { get; init; } = Allocation.Model;

    /// <summary>Threads of the receive stage whatever the allocation says; 0 leaves it alone.</summary>
    public int ReceiveThreads { get; init; }

    /// <summary>Threads of the work stage; 0 leaves it alone.</summary>
    public int WorkThreads { get; init; }

    /// <summary>Threads of the stage that writes to clients; 0 leaves it alone.</summary>
    public int ClientSendThreads { get; init; }

    /// <summary>Percent of the requests that block their thread.</summary>
    public double BlockingPercent { get; init; }

    /// <summary>Microseconds of processor time that every request uses in its turn.</summary>
    public double ComputeUs { get; init; }

    /// <summary>The segments of the load, see <see cref="Load.Schedule"/>.</summary>
    public string Schedule { get; init; } = "";

    /// <summary>Whether to search for the peak after the segments.</summary>
    public bool FindPeak { get; init; }
}

/// <summary>The options that child processes have besides the common ones.</summary>
public sealed class CellOptionTable : OptionTable<CellOptions>
{
    /// <summary>Creates the options.</summary>
    public CellOptionTable()
    {
        var defaults = new CellOptions();
        Add("--allocation", "Who gives the stages their threads.", defaults.Allocation, o => o.Allocation,
            (o, v) => o with { Allocation = v });
        Add("--receive-threads", "Threads that read; 0 = by the allocation.", defaults.ReceiveThreads, o => o.ReceiveThreads,
            (o, v) => o with { ReceiveThreads = v });
        Add("--work-threads", "Threads that run turns; 0 = by the allocation.", defaults.WorkThreads, o => o.WorkThreads,
            (o, v) => o with { WorkThreads = v });
        Add("--client-send-threads", "Threads that write to clients; 0 = by the allocation.", defaults.ClientSendThreads,
            o => o.ClientSendThreads, (o, v) => o with { ClientSendThreads = v });
        Add("--blocking-percent", "Percent of the requests that block their thread.", defaults.BlockingPercent, o => o.BlockingPercent,
            (o, v) => o with { BlockingPercent = v });
        Add("--compute-us", "Microseconds of every turn.", defaults.ComputeUs, o => o.ComputeUs, (o, v) => o with { ComputeUs = v });
        Add("--schedule", "Segments of the load.", defaults.Schedule, o => o.Schedule, (o, v) => o with { Schedule = v });
        Add("--find-peak", "Search for the peak.", defaults.FindPeak, o => o.FindPeak, (o, v) => o with { FindPeak = v });
    }
}

/// <summary>Who gives the silo's stages their threads.</summary>
public enum Allocation
{
    /// <summary>One thread that reads and two that run turns, fixed.</summary>
    OneReader,

    /// <summary>As many threads per stage as cores, fixed: the paper's baseline.</summary>
    Cores,

    /// <summary>Eight threads per stage, fixed: the baseline on the paper's machine.</summary>
    Eight,

    /// <summary>The .NET thread pool.</summary>
    ThreadPool,

    /// <summary>Queue lengths against thresholds (paper section 5.1).</summary>
    QueueLength,

    /// <summary>The queueing model (paper section 5.3).</summary>
    Model,
}
