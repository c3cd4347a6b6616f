using ActOp.Calls;
using ActOp.Mesh;
using ActOp.Runtime.Activations;
using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// Membership messages between silos, and from clients to silos. Sent over the control channel. <see cref="CallersAttribute"/> opens
/// methods to clients and to silos that join; the others are for members of the view.
/// </summary>
internal interface IClusterTarget : ISystemTarget
{
    [OneWay]
    [Callers(Callers.Silos)]
    ValueTask Probe(Probe probe);

    [OneWay]
    [Callers(Callers.Silos)]
    ValueTask ProbeReply(ProbeReply reply);

    [OneWay]
    ValueTask IndirectProbe(IndirectProbe probe);

    [OneWay]
    ValueTask IndirectProbeReply(IndirectProbeReply reply);

    [OneWay]
    [Callers(Callers.Silos)]
    ValueTask Introduce(Introduction introduction);

    [OneWay]
    [Callers(Callers.Silos)]
    ValueTask IntroductionReply(IntroductionReply reply);

    [OneWay]
    [Callers(Callers.Silos)]
    ValueTask Gossip(TableSnapshot table);

    /// <summary>The seed silo's table (embedded membership).</summary>
    [Callers(Callers.Silos)]
    ValueTask<TableReply> UseTable(TableRequest request);

    /// <summary>The table as this silo knows it: what a client needs.</summary>
    [Callers(Callers.Everyone)]
    ValueTask<TableSnapshot> GetTable();

    /// <summary>The grain classes of the cluster, as far as this silo knows: what a client needs.</summary>
    [Callers(Callers.Everyone)]
    ValueTask<GrainTypesReply> GetGrainTypes();

    /// <summary>What this silo hosts, for the other silos.</summary>
    [Callers(Callers.Silos)]
    ValueTask<SiloManifest> GetManifest();

    /// <summary>How many activations this silo has.</summary>
    ValueTask<int> GetActivationCount();
}

/// <summary>The grain classes of the cluster.</summary>
/// <param name="Entries">One per grain type.</param>
/// <param name="IsComplete">The silo knows the manifests of all active silos.</param>
/// <param name="Silos">The silos whose manifests the silo knows.</param>
/// <param name="Common">The interfaces with a version that is the same on all these silos.</param>
[Orleans.GenerateSerializer]
internal readonly record struct GrainTypesReply(
    GrainTypeEntry[] Entries, bool IsComplete, SiloAddress[] Silos, InterfaceEntry[] Common);

/// <summary>A probe: the receiver replies if it is alive. Sent over the control channel.</summary>
/// <param name="Id">Number that the reply repeats.</param>
/// <param name="From">The sender.</param>
/// <param name="Version">The sender's table version. The receiver reads the table if its own version is older.</param>
[Orleans.GenerateSerializer]
internal readonly record struct Probe(long Id, SiloAddress From, long Version);

/// <summary>The reply to a <see cref="Probe"/>.</summary>
/// <param name="Id">The probe's number.</param>
/// <param name="From">The sender of the reply.</param>
/// <param name="Version">The table version of the replying silo.</param>
/// <param name="Age">Milliseconds since the replying silo last confirmed that the table was at this version or an older one.</param>
[Orleans.GenerateSerializer]
internal readonly record struct ProbeReply(long Id, SiloAddress From, long Version, long Age);

/// <summary>A request to probe another silo on behalf of the sender.</summary>
/// <param name="Id">Number that the reply repeats.</param>
/// <param name="From">The sender.</param>
/// <param name="Target">The suspected silo.</param>
[Orleans.GenerateSerializer]
internal readonly record struct IndirectProbe(long Id, SiloAddress From, SiloAddress Target);

/// <summary>The reply to an <see cref="IndirectProbe"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="From">The silo that probed.</param>
/// <param name="Target">The suspected silo.</param>
/// <param name="Reached">Whether the silo replied.</param>
/// <param name="Refused">Whether its host refused the connection.</param>
/// <param name="Health">The health score of the silo that probed. The reply of an unhealthy silo is ignored.</param>
[Orleans.GenerateSerializer]
internal readonly record struct IndirectProbeReply(long Id, SiloAddress From, SiloAddress Target, bool Reached, bool Refused, int Health);

/// <summary>A silo that joins asks another one to dial it.</summary>
/// <param name="Id">Number that the reply repeats.</param>
/// <param name="From">The silo that joins.</param>
/// <param name="Version">Its table version. The receiver reads the table if its own version is older.</param>
[Orleans.GenerateSerializer]
internal readonly record struct Introduction(long Id, SiloAddress From, long Version);

/// <summary>The reply to an <see cref="Introduction"/>.</summary>
/// <param name="Id">The introduction's number.</param>
/// <param name="From">The silo that dialled.</param>
/// <param name="Reason">None if it has reached the silo that joins; or why not.</param>
/// <param name="Why">What its transport knows more.</param>
[Orleans.GenerateSerializer]
internal readonly record struct IntroductionReply(long Id, SiloAddress From, DisconnectReason Reason, string? Why);
