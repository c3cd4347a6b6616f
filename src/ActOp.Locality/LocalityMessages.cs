using ActOp.Partitioning;
using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Locality;

/// <summary>The exchange protocol between two silos, and the load reports. All messages are one-way.</summary>
internal interface ILocalityTarget : ISystemTarget
{
    [OneWay]
    ValueTask Offer(OfferMessage offer);

    [OneWay]
    ValueTask Reply(ReplyMessage reply);

    [OneWay]
    ValueTask Report(ReportMessage report);

    /// <summary>What another silo knows of the numbers of activations of all silos.</summary>
    [OneWay]
    ValueTask Loads(LoadsMessage loads);
}

/// <summary>The id of an exchange on the wire.</summary>
[GenerateSerializer]
internal readonly record struct ExchangeName(ulong Origin, long Epoch, long Sequence)
{
    internal static ExchangeName NameOf(ExchangeId id) => new(id.Origin, id.Epoch, id.Sequence);

    internal ExchangeId ToId() => new(Origin, Epoch, Sequence);
}

/// <summary>An offer of an exchange on the wire.</summary>
[GenerateSerializer]
internal sealed class OfferMessage
{
    [Id(0)]
    public SiloAddress From { get; set; } = null!;

    [Id(1)]
    public ExchangeName Id { get; set; }

    [Id(2)]
    public double Load { get; set; }

    [Id(3)]
    public double Lower { get; set; }

    [Id(4)]
    public double Upper { get; set; }

    [Id(5)]
    public CandidatesMessage Candidates { get; set; } = new();

    [Id(6)]
    public ExchangeName Answered { get; set; }
}

/// <summary>The reply to an offer on the wire.</summary>
[GenerateSerializer]
internal sealed class ReplyMessage
{
    [Id(0)]
    public ExchangeName Id { get; set; }

    [Id(1)]
    public int Refusal { get; set; }

    [Id(2)]
    public GrainId[]? Accepted { get; set; }

    [Id(3)]
    public CandidatesMessage? Given { get; set; }

    [Id(4)]
    public double Gain { get; set; }

    [Id(5)]
    public double LoadChange { get; set; }

    [Id(6)]
    public ExchangeName Withdrawn { get; set; }

    [Id(7)]
    public SiloAddress From { get; set; } = null!;
}

/// <summary>How one migration of an exchange ended, on the wire.</summary>
[GenerateSerializer]
internal readonly record struct ReportMessage(ExchangeName Id, GrainId Grain, bool Moved);

/// <summary>Candidates of an exchange on the wire: the arrays of a candidate set, its silos named by address.</summary>
[GenerateSerializer]
internal sealed class CandidatesMessage
{
    [Id(0)]
    public SiloAddress[] Silos { get; set; } = [];

    [Id(1)]
    public GrainId[] Vertices { get; set; } = [];

    [Id(2)]
    public double[] Sizes { get; set; } = [];

    [Id(3)]
    public long[] Epochs { get; set; } = [];

    [Id(4)]
    public int[] Starts { get; set; } = [0];

    [Id(5)]
    public GrainId[] EdgeOthers { get; set; } = [];

    /// <summary>Places in <see cref="Silos"/>; -1 for unknown.</summary>
    [Id(6)]
    public int[] EdgeSilos { get; set; } = [];

    [Id(7)]
    public long[] EdgeEpochs { get; set; } = [];

    [Id(8)]
    public double[] EdgeWeights { get; set; } = [];

    [Id(9)]
    public double[] EdgeErrors { get; set; } = [];
}
