using ActOp.Runtime.Activations;
using Orleans;
using Orleans.Concurrency;

namespace ActOp.Runtime.Cluster;

/// <summary>What silos and clients ask each other about the cluster, over the control channel.</summary>
internal interface IClusterTarget : ISystemTarget
{
    [OneWay]
    ValueTask Probe(Probe probe);

    [OneWay]
    ValueTask Answer(ProbeAnswer answer);

    [OneWay]
    ValueTask ProbeForMe(IndirectProbe probe);

    [OneWay]
    ValueTask AnswerForYou(IndirectAnswer answer);

    [OneWay]
    ValueTask Gossip(TableSnapshot table);

    /// <summary>The seed silo's table (embedded membership).</summary>
    ValueTask<TableReply> UseTable(TableRequest request);

    /// <summary>The table as this silo knows it: what a client needs.</summary>
    ValueTask<TableSnapshot> GetTable();

    /// <summary>The grain classes this silo hosts.</summary>
    ValueTask<GrainTypeEntry[]> GetGrainTypes();

    /// <summary>How many activations this silo has.</summary>
    ValueTask<int> GetActivationCount();
}
