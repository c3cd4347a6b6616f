using ActOp.Partitioning;
using Orleans.Concurrency;
using Orleans.Services;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The messages of locality between two silos that both run it. All but questions are one-way: the protocol repeats what is lost.
/// </summary>
[Alias("ActOp.Orleans.Locality")]
internal interface ILocalityService : IGrainService
{
    [OneWay]
    [Alias("Offer")]
    Task Offer(OfferMessage offer);

    [OneWay]
    [Alias("Reply")]
    Task Reply(ReplyMessage reply);

    [OneWay]
    [Alias("Report")]
    Task Report(ReportMessage report);

    /// <summary>The numbers of activations of all silos, as far as the sender knows.</summary>
    [OneWay]
    [Alias("Loads")]
    Task Loads(LoadsMessage loads);

    /// <summary>Where grains went that were on the sender.</summary>
    [OneWay]
    [Alias("Moved")]
    Task Moved(MovedMessage moved);

    /// <summary>Calls that grains of the receiver got from grains of the sender.</summary>
    [OneWay]
    [Alias("Calls")]
    Task Calls(CallsMessage calls);

    /// <summary>Which of these grains are here, and where those went that were here.</summary>
    [Alias("Locate")]
    Task<LocationsMessage> Locate(GrainId[] grains);
}

/// <summary>Moves the activation that receives it. A request like any other: it waits until the grain is free.</summary>
[Alias("ActOp.Orleans.Move")]
internal interface IMoveExtension : global::Orleans.Runtime.IGrainExtension
{
    /// <summary>Begins the move, if the activation is still the one that is meant and a plan still wants it.</summary>
    /// <param name="target">Where it goes.</param>
    /// <param name="activation">The activation that is meant.</param>
    [Alias("Move")]
    Task<MoveOutcome> Move(SiloAddress target, ActivationId activation);
}

/// <summary>How a move began.</summary>
[GenerateSerializer]
internal enum MoveOutcome
{
    /// <summary>The activation is leaving.</summary>
    Leaving,

    /// <summary>Another request of it was running, or the plan no longer waits for it.</summary>
    Busy,

    /// <summary>It is another activation of the grain.</summary>
    Gone,

    /// <summary>Orleans did not begin the move: the placement of its class does not take the hint, or there is no such silo.</summary>
    Refused,
}

/// <summary>The id of an exchange on the wire.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.ExchangeName")]
internal readonly record struct ExchangeName(
    [property: Id(0)] ulong Origin, [property: Id(1)] long Epoch, [property: Id(2)] long Sequence)
{
    internal static ExchangeName NameOf(ExchangeId id) => new(id.Origin, id.Epoch, id.Sequence);

    internal ExchangeId ToId() => new(Origin, Epoch, Sequence);
}

/// <summary>An offer of an exchange on the wire.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.OfferMessage")]
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
[Immutable]
[Alias("ActOp.Orleans.ReplyMessage")]
internal sealed class ReplyMessage
{
    [Id(0)]
    public SiloAddress From { get; set; } = null!;

    [Id(1)]
    public ExchangeName Id { get; set; }

    [Id(2)]
    public int Refusal { get; set; }

    [Id(3)]
    public GrainId[]? Accepted { get; set; }

    [Id(4)]
    public CandidatesMessage? Given { get; set; }

    [Id(5)]
    public double Gain { get; set; }

    [Id(6)]
    public double LoadChange { get; set; }

    [Id(7)]
    public ExchangeName Withdrawn { get; set; }
}

/// <summary>How one move of an exchange ended, on the wire.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.ReportMessage")]
internal readonly record struct ReportMessage(
    [property: Id(0)] ExchangeName Id, [property: Id(1)] GrainId Grain, [property: Id(2)] bool Moved);

/// <summary>Where grains went that were on the sender, on the wire.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.MovedMessage")]
internal sealed class MovedMessage
{
    [Id(0)]
    public SiloAddress From { get; set; } = null!;

    [Id(1)]
    public GrainId[] Grains { get; set; } = [];

    /// <summary>Where they are: indexes in <see cref="Silos"/>.</summary>
    [Id(2)]
    public int[] Locations { get; set; } = [];

    [Id(3)]
    public long[] Epochs { get; set; } = [];

    [Id(4)]
    public SiloAddress[] Silos { get; set; } = [];
}

/// <summary>Calls that grains of the sender made to grains of the receiver, on the wire. One entry for each edge.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.CallsMessage")]
internal sealed class CallsMessage
{
    [Id(0)]
    public SiloAddress From { get; set; } = null!;

    [Id(1)]
    public GrainId[] Called { get; set; } = [];

    [Id(2)]
    public GrainId[] Callers { get; set; } = [];

    /// <summary>Those of the callers.</summary>
    [Id(3)]
    public long[] Epochs { get; set; } = [];

    /// <summary>Requests and answers since the last time.</summary>
    [Id(4)]
    public long[] Messages { get; set; } = [];
}

/// <summary>The loads of all silos as known to one silo, on the wire.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.LoadsMessage")]
internal sealed class LoadsMessage
{
    [Id(0)]
    public SiloAddress[] Silos { get; set; } = [];

    [Id(1)]
    public int[] Loads { get; set; } = [];

    /// <summary>Report number of each silo; the greater is the newer.</summary>
    [Id(2)]
    public long[] Numbers { get; set; } = [];
}

/// <summary>The answer to the question where grains are: one entry for each grain that the silo knows of.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.PlacesMessage")]
internal sealed class LocationsMessage
{
    /// <summary>The index of the grain in the question.</summary>
    [Id(0)]
    public int[] Indices { get; set; } = [];

    /// <summary>Where it is: indexes in <see cref="Silos"/>.</summary>
    [Id(1)]
    public int[] Locations { get; set; } = [];

    [Id(2)]
    public long[] Epochs { get; set; } = [];

    [Id(3)]
    public SiloAddress[] Silos { get; set; } = [];
}

/// <summary>Candidates of an exchange on the wire: the arrays of a candidate set, its silos named by address.</summary>
[GenerateSerializer]
[Immutable]
[Alias("ActOp.Orleans.CandidatesMessage")]
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

    /// <summary>Indexes in <see cref="Silos"/>; -1 for unknown.</summary>
    [Id(6)]
    public int[] EdgeSilos { get; set; } = [];

    [Id(7)]
    public long[] EdgeEpochs { get; set; } = [];

    [Id(8)]
    public double[] EdgeWeights { get; set; } = [];

    [Id(9)]
    public double[] EdgeErrors { get; set; } = [];
}
