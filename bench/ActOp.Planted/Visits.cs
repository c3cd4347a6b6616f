using Orleans.Providers;

namespace ActOp.Planted;

/// <summary>Counts visits.</summary>
public interface IVisits : IGrainWithStringKey
{
    Task Add(int visit);

    Task<int> GetCount();
}

/// <summary>Writes when its activation ends.</summary>
public interface ILazyVisits : IVisits;

/// <summary>Writes before it answers.</summary>
public interface IEagerVisits : IVisits;

[GenerateSerializer]
public sealed class VisitState
{
    [Id(0)]
    public HashSet<int> Visits { get; set; } = [];
}

[StorageProvider(ProviderName = "visits")]
public sealed class LazyVisits : Grain<VisitState>, ILazyVisits
{
    public Task Add(int visit)
    {
        State.Visits.Add(visit);
        return Task.CompletedTask;
    }

    public Task<int> GetCount() => Task.FromResult(State.Visits.Count);

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) => WriteStateAsync();
}

[StorageProvider(ProviderName = "visits")]
public sealed class EagerVisits : CarefulGrain<VisitState>, IEagerVisits
{
    public Task Add(int visit)
    {
        State.Visits.Add(visit);
        return WriteOrReadAsync();
    }

    public Task<int> GetCount() => Task.FromResult(State.Visits.Count);
}

/// <summary>What was acknowledged is there after a crash.</summary>
internal static class VisitFaults
{
    internal static PlantedFault Fault { get; } = new(
        "visits", "what was acknowledged is lost with its silo", VisitAsync<ILazyVisits>, VisitAsync<IEagerVisits>,
        "visits are counted", 1, 4);

    private static async Task VisitAsync<TVisits>(SimulationWorld world)
        where TVisits : IVisits
    {
        world.Silos.Configure(silo => silo.AddMemoryGrainStorage("visits"));
        world.RandomFaults(crash: true, moves: true);
        await world.Start();
        var visits = world.Grains.GetGrain<TVisits>("page");
        var made = 0;
        for (var visit = 0; visit < 10; visit++)
        {
            var number = visit;
            await world.Command("visit " + number, async () =>
            {
                await PlantedFault.RetryAsync(world, () => visits.Add(number));
                made++;
            });
        }

        await world.Settle();
        var count = await visits.GetCount();
        world.Check(count == made, count + " visits are counted of " + made + ".");
    }
}
