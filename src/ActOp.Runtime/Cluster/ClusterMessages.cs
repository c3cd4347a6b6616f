using ActOp.Runtime.Activations;
using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

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

/// <summary>"Are you there?", over the control channel.</summary>
/// <param name="Id">Number that the answer repeats.</param>
/// <param name="From">Who asks.</param>
/// <param name="Version">The asker's table version: the receiver reads the table when its own is older.</param>
[Orleans.GenerateSerializer]
internal readonly record struct Probe(long Id, SiloAddress From, long Version);

/// <summary>The answer to a <see cref="Probe"/>.</summary>
/// <param name="Id">The probe's number.</param>
/// <param name="From">Who answers.</param>
/// <param name="Version">The answerer's table version.</param>
/// <param name="Age">How long ago, in milliseconds, the answerer knows the table to have been at this version or an older one.</param>
[Orleans.GenerateSerializer]
internal readonly record struct ProbeAnswer(long Id, SiloAddress From, long Version, long Age);

/// <summary>"Please probe that silo for me."</summary>
/// <param name="Id">Number that the answer repeats.</param>
/// <param name="From">Who asks.</param>
/// <param name="Target">The silo in doubt.</param>
[Orleans.GenerateSerializer]
internal readonly record struct IndirectProbe(long Id, SiloAddress From, SiloAddress Target);

/// <summary>The answer to an <see cref="IndirectProbe"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="From">Who probed.</param>
/// <param name="Target">The silo in doubt.</param>
/// <param name="Reached">Whether it answered.</param>
/// <param name="Refused">Whether its host refused the connection.</param>
/// <param name="Health">The prober's own health score: the word of a sick silo does not count.</param>
[Orleans.GenerateSerializer]
internal readonly record struct IndirectAnswer(long Id, SiloAddress From, SiloAddress Target, bool Reached, bool Refused, int Health);
