using Orleans.Concurrency;
using Orleans.Providers;

namespace ActOp.Planted;

/// <summary>A seat that belongs to whoever has reserved it first. Who asks gets an answer while a reservation is written.</summary>
public interface ISeat : IGrainWithStringKey
{
    Task<string> Reserve(string guest);

    [AlwaysInterleave]
    Task<string?> GetOwner();
}

/// <summary>Tells of an owner that is not written yet.</summary>
public interface IHastySeat : ISeat;

/// <summary>Tells of an owner that is written.</summary>
public interface IPatientSeat : ISeat;

[GenerateSerializer]
public sealed class SeatState
{
    [Id(0)]
    public string? Owner { get; set; }
}

[StorageProvider(ProviderName = "seats")]
public sealed class HastySeat : Grain<SeatState>, IHastySeat
{
    public async Task<string> Reserve(string guest)
    {
        if (State.Owner is null)
        {
            State.Owner = guest;
            await WriteStateAsync();
        }

        return State.Owner;
    }

    public Task<string?> GetOwner() => Task.FromResult(State.Owner);
}

[StorageProvider(ProviderName = "seats")]
public sealed class PatientSeat : CarefulGrain<SeatState>, IPatientSeat
{
    private string? _written;

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _written = State.Owner;
        return Task.CompletedTask;
    }

    public async Task<string> Reserve(string guest)
    {
        if (_written is null)
        {
            try
            {
                State.Owner = guest;
                await WriteOrReadAsync();
            }
            finally
            {
                // What is in doubt was read again.
                _written = State.Owner;
            }
        }

        return _written!;
    }

    public Task<string?> GetOwner() => Task.FromResult(_written);
}

/// <summary>What was read once stays: a state that is told before it is durable is lost with its silo.</summary>
internal static class SeatFaults
{
    internal static PlantedFault Fault { get; } = new(
        "seat", "a state is told before it is durable", ReserveAsync<IHastySeat>, ReserveAsync<IPatientSeat>, "The seat was ", 2, 2);

    private static async Task ReserveAsync<TSeat>(SimulationWorld world)
        where TSeat : ISeat
    {
        world.Silos.Configure(silo => silo.AddMemoryGrainStorage("seats"));
        world.RandomFaults(crash: true, storage: true);
        await world.Start();
        var seat = world.Grains.GetGrain<TSeat>("12A");
        string? seen = null;
        var isOver = false;
        var looks = world.Run("somebody who looks", async () =>
        {
            while (!isOver)
            {
                string? owner = null;
                await PlantedFault.RetryAsync(world, async () => owner = await seat.GetOwner());
                seen ??= owner;
                world.Check(seen == owner, "The seat was " + seen + "'s and is " + (owner ?? "nobody") + "'s.");
                await world.Delay(TimeSpan.FromMilliseconds(2));
            }
        });
        await Task.WhenAll(
            world.Command("alice reserves", () => PlantedFault.RetryAsync(world, () => seat.Reserve("alice"))),
            world.Command("bob reserves", () => PlantedFault.RetryAsync(world, () => seat.Reserve("bob"))));
        isOver = true;
        await looks;
    }
}
