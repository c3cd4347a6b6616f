using Microsoft.Extensions.Logging;
using Orleans.Concurrency;
using Orleans.Runtime.Services;
using Orleans.Services;

namespace ActOp.Orleans.Locality;

/// <summary>
/// Receives the messages of locality on this silo and hands them to its turns. Reentrant: a question waits for a turn of locality, and
/// other messages must not wait for that.
/// </summary>
[Reentrant]
internal sealed class LocalityGrainService(GrainId id, Silo silo, ILoggerFactory logs, LocalitySilo locality)
    : GrainService(id, silo, logs), ILocalityService
{
    public Task Offer(OfferMessage offer) => Post(() => locality.Receive(offer));

    public Task Reply(ReplyMessage reply) => Post(() => locality.Receive(reply));

    public Task Report(ReportMessage report) => Post(() => locality.Receive(report));

    public Task Loads(LoadsMessage loads) => Post(() => locality.Receive(loads));

    public Task Moved(MovedMessage moved) => Post(() => locality.Receive(moved));

    public Task Calls(CallsMessage calls) => Post(() => locality.Receive(calls));

    public Task<LocationsMessage> Locate(GrainId[] grains)
    {
        if (grains.Length > UnknownLocations.MaxPerQuestion)
            throw new ArgumentException("A question names at most " + UnknownLocations.MaxPerQuestion + " grains.", nameof(grains));
        var answer = new TaskCompletionSource<LocationsMessage>(TaskCreationOptions.RunContinuationsAsynchronously);
        // A silo that stops, or has too much to do, knows nothing.
        if (!locality.Turns.Post(() => answer.TrySetResult(locality.Locate(grains))))
            answer.TrySetResult(new LocationsMessage());
        return answer.Task;
    }

    private Task Post(Action step)
    {
        // A message that was dropped is counted by the turns.
        locality.Turns.Post(step);
        return Task.CompletedTask;
    }
}

/// <summary>The locality of the other silos.</summary>
internal interface ILocalityPeers : IGrainServiceClient<ILocalityService>
{
    /// <summary>That of one silo.</summary>
    ILocalityService At(SiloAddress silo);
}

/// <summary>Reaches the grain services of the other silos.</summary>
internal sealed class LocalityPeers(IServiceProvider services) : GrainServiceClient<ILocalityService>(services), ILocalityPeers
{
    public ILocalityService At(SiloAddress silo) => GetGrainService(silo);
}
