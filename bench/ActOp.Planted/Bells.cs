using Orleans.Concurrency;

namespace ActOp.Planted;

/// <summary>Counts how often it is rung. Messages have no answer.</summary>
public interface IBell : IGrainWithStringKey
{
    [OneWay]
    Task Ring(int number);

    Task<int> GetCount();
}

/// <summary>Counts messages.</summary>
public interface ILoudBell : IBell;

/// <summary>Counts the numbers of messages.</summary>
public interface INumberedBell : IBell;

public sealed class LoudBell : Grain, ILoudBell
{
    private int _count;

    public Task Ring(int number)
    {
        _count++;
        return Task.CompletedTask;
    }

    public Task<int> GetCount() => Task.FromResult(_count);
}

public sealed class NumberedBell : Grain, INumberedBell
{
    private readonly HashSet<int> _numbers = [];

    public Task Ring(int number)
    {
        _numbers.Add(number);
        return Task.CompletedTask;
    }

    public Task<int> GetCount() => Task.FromResult(_numbers.Count);
}

/// <summary>A message that comes twice is counted twice.</summary>
internal static class BellFaults
{
    internal static PlantedFault Fault { get; } = new(
        "bell", "a message that comes twice is counted twice", RingAsync<ILoudBell>, RingAsync<INumberedBell>, "The bell has rung", 1, 1);

    private static async Task RingAsync<TBell>(SimulationWorld world)
        where TBell : IBell
    {
        world.RandomFaults(duplicates: true);
        await world.Start();
        var bell = world.Grains.GetGrain<TBell>("door");
        var rung = 0;
        for (var number = 1; number <= 5; number++)
        {
            var ring = number;
            await world.Command("ring " + ring, async () =>
            {
                await bell.Ring(ring);
                rung++;
            });
        }

        await world.Delay(TimeSpan.FromSeconds(1));
        var count = await bell.GetCount();
        world.Check(count == rung, "The bell has rung " + count + " times instead of " + rung + ".");
    }
}
