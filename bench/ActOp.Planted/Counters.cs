namespace ActOp.Planted;

/// <summary>A number that its callers change.</summary>
public interface ICounter : IGrainWithStringKey
{
    Task<int> Get();

    Task Set(int value);

    /// <summary>Sets the value if it is the expected one; whether it was.</summary>
    Task<bool> Replace(int expected, int value);
}

public sealed class Counter : Grain, ICounter
{
    private int _value;

    public Task<int> Get() => Task.FromResult(_value);

    public Task Set(int value)
    {
        _value = value;
        return Task.CompletedTask;
    }

    public Task<bool> Replace(int expected, int value)
    {
        var isExpected = _value == expected;
        if (isExpected)
            _value = value;
        return Task.FromResult(isExpected);
    }
}

/// <summary>Two callers who read the same number write the same one.</summary>
internal static class CounterFaults
{
    internal static PlantedFault Fault { get; } = new(
        "counter", "of two updates at the same time one is lost",
        static world => CountAsync(world, static async counter => await counter.Set(await counter.Get() + 1)),
        static world => CountAsync(world, static async counter =>
        {
            int value;
            do
                value = await counter.Get();
            while (!await counter.Replace(value, value + 1));
        }),
        "The counter is ", 0, 2);

    private static async Task CountAsync(SimulationWorld world, Func<ICounter, Task> add)
    {
        await world.Start();
        var counter = world.Grains.GetGrain<ICounter>("one");
        var added = 0;
        await Task.WhenAll(Enumerable.Range(1, 4).Select(number => world.Run("caller " + number, () => world.Command("add", async () =>
        {
            await add(counter);
            added++;
        }))));
        var value = await counter.Get();
        world.Check(value == added, "The counter is " + value + " after " + added + " additions.");
    }
}
