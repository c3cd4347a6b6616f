using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

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
