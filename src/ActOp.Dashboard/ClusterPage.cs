namespace ActOp.Dashboard;

/// <summary>What the page shows: the answer of /api/cluster. Rates are per second; null until there are two snapshots of a silo.</summary>
/// <param name="At">When it was made.</param>
/// <param name="View">The number of the view.</param>
/// <param name="Silos">The active silos.</param>
/// <param name="Classes">Classes of grains, the busiest first.</param>
/// <param name="Edges">Pairs of classes, the heaviest first.</param>
/// <param name="Members">The members of the view, dead ones included.</param>
internal sealed record ClusterPage(DateTimeOffset At, long View, IReadOnlyList<SiloLine> Silos, IReadOnlyList<ClassLine> Classes,
    IReadOnlyList<EdgeLine> Edges, IReadOnlyList<MemberLine> Members);

/// <summary>One silo.</summary>
internal sealed record SiloLine(string Silo, string Name)
{
    /// <summary>Why nothing is known of it now; null if it has answered.</summary>
    public string? Silent { get; init; }

    /// <summary>Percent of the processors of the machine or the container.</summary>
    public double CpuPercent { get; init; }

    public long MemoryBytes { get; init; }

    public long MemoryLimitBytes { get; init; }

    public int Activations { get; init; }

    public int Clients { get; init; }

    public bool IsOverloaded { get; init; }

    public double? MessageRate { get; init; }

    /// <summary>Share of the messages of its grains that go to another silo, 0 to 1.</summary>
    public double? RemoteShare { get; init; }

    public double? MoveRate { get; init; }

    public IReadOnlyList<StageLine> Stages { get; init; } = [];
}

/// <summary>One stage of a silo, by the letters of the model. Times are of one event, in seconds.</summary>
/// <param name="Name">The stage.</param>
/// <param name="Threads">Threads that it may use.</param>
/// <param name="Changes">How often the number of threads was changed.</param>
/// <param name="Lambda">Events per second.</param>
/// <param name="W">In the queue.</param>
/// <param name="X">On a processor.</param>
/// <param name="R">With a thread and without a processor.</param>
/// <param name="Blocked">Share of the busy time in which threads waited for something, 0 to 1.</param>
internal sealed record StageLine(string Name, int Threads, long Changes, double? Lambda, double? W, double? X, double? R, double? Blocked);

/// <summary>One class of grains, over all silos.</summary>
/// <param name="Name">The grain type.</param>
/// <param name="Activations">Its activations.</param>
/// <param name="CallRate">Calls to it.</param>
/// <param name="FailedShare">Share of them without a result, 0 to 1.</param>
/// <param name="Median">Half of the calls get their answer within this time, in seconds.</param>
/// <param name="P99">99 of 100 do.</param>
internal sealed record ClassLine(string Name, int Activations, double? CallRate, double? FailedShare, double? Median, double? P99);

/// <summary>Messages between grains of two classes, over all silos.</summary>
internal sealed record EdgeLine(string One, string Other, double Rate, double RemoteShare);

/// <summary>A member of the view.</summary>
internal sealed record MemberLine(string Silo, string Name, string Status);
