using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>The answer to an offer on the wire.</summary>
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
