using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>The exchange protocol between two silos, and the loads it balances by. Nothing of it waits for an answer.</summary>
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
