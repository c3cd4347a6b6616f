using Orleans;
using Orleans.Runtime;

namespace ActOp.Management.Snapshots;

/// <summary>What a viewer asks of each silo. For members of the view only.</summary>
internal interface ISnapshotTarget : ISystemTarget
{
    /// <summary>The state of the silo now. Counts are sums: the difference of two snapshots is what happened between them.</summary>
    Task<SiloSnapshot> GetSnapshot();
}

/// <summary>One silo at one moment, on the wire. Times are in seconds.</summary>
[GenerateSerializer]
internal sealed class SiloSnapshot
{
    [Id(0)]
    public SiloAddress Silo { get; set; } = SiloAddress.Zero;

    /// <summary>By the monotonic clock of the silo.</summary>
    [Id(1)]
    public double At { get; set; }

    /// <summary>Percent of the processors of the machine or the container.</summary>
    [Id(2)]
    public double Cpu { get; set; }

    [Id(3)]
    public long MemoryBytes { get; set; }

    [Id(4)]
    public long MemoryLimitBytes { get; set; }

    [Id(5)]
    public int Activations { get; set; }

    [Id(6)]
    public int Clients { get; set; }

    /// <summary>Messages between grains of this silo.</summary>
    [Id(7)]
    public long LocalMessages { get; set; }

    /// <summary>Messages between a grain of this silo and one of another.</summary>
    [Id(8)]
    public long RemoteMessages { get; set; }

    /// <summary>Activations that have left for another silo.</summary>
    [Id(9)]
    public long Moves { get; set; }

    [Id(10)]
    public bool IsOverloaded { get; set; }

    [Id(11)]
    public List<StageSnapshot> Stages { get; set; } = [];

    [Id(12)]
    public List<ClassSnapshot> Classes { get; set; } = [];

    /// <summary>The heaviest ones; empty if locality is off.</summary>
    [Id(13)]
    public List<EdgeSnapshot> Edges { get; set; } = [];

    /// <summary>By the clock of the silo's machine.</summary>
    [Id(14)]
    public DateTime UtcNow { get; set; }
}

/// <summary>One stage: sums since the start of the silo, and what it holds now.</summary>
[GenerateSerializer]
internal sealed class StageSnapshot
{
    [Id(0)]
    public string Name { get; set; } = "";

    [Id(1)]
    public int Threads { get; set; }

    [Id(2)]
    public long Changes { get; set; }

    [Id(3)]
    public long Executed { get; set; }

    /// <summary>Time of events in the queue.</summary>
    [Id(4)]
    public double Wait { get; set; }

    /// <summary>Processor time of events, x of the model.</summary>
    [Id(5)]
    public double Cpu { get; set; }

    /// <summary>Time of threads with an event and without a processor, r of the model.</summary>
    [Id(6)]
    public double Ready { get; set; }

    /// <summary>Time of threads with an event, z of the model.</summary>
    [Id(7)]
    public double Wall { get; set; }
}

/// <summary>One class of grains: its activations here, and the calls to it from here since the viewer came.</summary>
[GenerateSerializer]
internal sealed class ClassSnapshot
{
    [Id(0)]
    public string GrainType { get; set; } = "";

    [Id(1)]
    public int Activations { get; set; }

    [Id(2)]
    public long Failed { get; set; }

    /// <summary>Calls by the time to their answer: up to <see cref="CallTimes.Bounds"/>, and one more for those above.</summary>
    [Id(3)]
    public long[] Calls { get; set; } = [];
}

/// <summary>The rate of messages between two classes, as far as the table of heavy edges knows it.</summary>
[GenerateSerializer]
internal sealed class EdgeSnapshot
{
    [Id(0)]
    public string One { get; set; } = "";

    [Id(1)]
    public string Other { get; set; } = "";

    /// <summary>Messages per second between grains of this silo.</summary>
    [Id(2)]
    public double Local { get; set; }

    /// <summary>Messages per second between a grain of this silo and one of another. The other silo knows them, too.</summary>
    [Id(3)]
    public double Remote { get; set; }
}
