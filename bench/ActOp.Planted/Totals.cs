using Orleans.Providers;
using Orleans.Streams;

namespace ActOp.Planted;

/// <summary>Adds the numbers of a stream.</summary>
public interface ITotal : IGrainWithGuidKey
{
    Task Listen();

    Task<int> GetSum();
}

/// <summary>Adds an event as often as it comes.</summary>
public interface IHurriedTotal : ITotal;

/// <summary>Adds an event once.</summary>
public interface IOrderlyTotal : ITotal;

[GenerateSerializer]
public sealed class TotalState
{
    [Id(0)]
    public int Sum { get; set; }

    [Id(1)]
    public HashSet<int> Seen { get; set; } = [];
}

/// <summary>What both do: an event is a power of two, so that the sum says which were added.</summary>
public abstract class Total : CarefulGrain<TotalState>, ITotal
{
    public async Task Listen()
    {
        var stream = this.GetStreamProvider("numbers").GetStream<int>(StreamId.Create("numbers", this.GetPrimaryKey()));
        await stream.SubscribeAsync(OnNextAsync);
    }

    public Task<int> GetSum() => Task.FromResult(State.Sum);

    protected abstract Task OnNextAsync(int number, StreamSequenceToken? token);
}

[StorageProvider(ProviderName = "totals")]
public sealed class HurriedTotal : Total, IHurriedTotal
{
    protected override Task OnNextAsync(int number, StreamSequenceToken? token)
    {
        State.Sum += number;
        return WriteStateAsync();
    }
}

[StorageProvider(ProviderName = "totals")]
public sealed class OrderlyTotal : Total, IOrderlyTotal
{
    protected override async Task OnNextAsync(int number, StreamSequenceToken? token)
    {
        if (!State.Seen.Add(number))
            return;
        State.Sum += number;
        // If it fails, it comes again, and is added then, unless it was written.
        await WriteOrReadAsync();
    }
}

/// <summary>An event whose handling fails is delivered again.</summary>
internal static class TotalFaults
{
    internal static PlantedFault Fault { get; } = new(
        "total", "an event that is delivered again is counted again", AddAsync<IHurriedTotal>, AddAsync<IOrderlyTotal>,
        "The sum is ", 1, 2);

    private static async Task AddAsync<TTotal>(SimulationWorld world)
        where TTotal : ITotal
    {
        world.Silos.Configure(static silo => silo
            .AddMemoryGrainStorage("totals").AddMemoryGrainStorage("PubSubStore").AddMemoryStreams("numbers"));
        world.ConfigureClient(static client => client.AddMemoryStreams("numbers"));
        await world.Start();
        var key = new Guid(1, 2, 3, new byte[8]);
        var total = world.Grains.GetGrain<TTotal>(key);
        await PlantedFault.RetryAsync(world, total.Listen);
        var stream = world.Client.GetStreamProvider("numbers").GetStream<int>(StreamId.Create("numbers", key));
        var sent = 0;
        for (var number = 0; number < 4; number++)
        {
            var power = 1 << number;
            var isDone = world.Random.Next(2) == 0;
            await world.Command("send " + power, async () =>
            {
                // The write of the event is the next one.
                world.Faults.FailNextWrite(isDone);
                await stream.OnNextAsync(power);
                sent += power;
            });
            await world.Delay(TimeSpan.FromSeconds(5));
        }

        await world.Settle();
        await world.Delay(TimeSpan.FromSeconds(30));
        var sum = await total.GetSum();
        world.Check(sum == sent, "The sum is " + sum + " of events that are " + sent + ".");
    }
}
