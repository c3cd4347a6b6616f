using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

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
