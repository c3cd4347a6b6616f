using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>The exchange protocol between two silos, and the loads it balances by.</summary>
internal interface ILocalityTarget : ISystemTarget
{
    [OneWay]
    ValueTask Offer(OfferMessage offer);

    [OneWay]
    ValueTask Reply(ReplyMessage reply);

    [OneWay]
    ValueTask Report(ReportMessage report);

    /// <summary>Activations of this silo.</summary>
    ValueTask<int> GetLoad(SiloAddress asker, int load);
}
