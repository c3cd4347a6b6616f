namespace Heartbeat.Options;

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
