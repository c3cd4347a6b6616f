namespace ActOp.Verify.Tests;

/// <summary>A grain that calls another one of its kind, which may be calling it.</summary>
public interface IPartner : IGrainWithIntegerKey
{
    Task Give(int to);

    Task Get();
}

/// <summary>Two of them wait for each other until the response timeout.</summary>
public interface IStubbornPartner : IPartner;

/// <summary>Who gives waits for nobody: a third grain passes it on.</summary>
public interface IObligingPartner : IPartner;

public sealed class StubbornPartner : Grain, IStubbornPartner
{
    public Task Give(int to) => GrainFactory.GetGrain<IStubbornPartner>(to).Get();

    public Task Get() => Task.CompletedTask;
}

[Orleans.Concurrency.Reentrant]
public sealed class ObligingPartner : Grain, IObligingPartner
{
    public Task Give(int to) => GrainFactory.GetGrain<IObligingPartner>(to).Get();

    public Task Get() => Task.CompletedTask;
}

/// <summary>A test that does not end in time says what waits.</summary>
public sealed class TransferTests
{
    [Fact]
    public async Task Two_grains_that_wait_for_each_other_are_found()
    {
        var found = await Planted.FindAsync(GiveAsync<IStubbornPartner>, "TimeoutException");
        Planted.AssertReduced(found, faults: 0, commands: 4);
    }

    [Fact]
    public async Task Grains_that_get_while_they_give_pass() => await Simulation.Explore(Planted.Passed, GiveAsync<IObligingPartner>);

    private static async Task GiveAsync<TPartner>(SimulationWorld world)
        where TPartner : IPartner
    {
        await world.Start();
        await Task.WhenAll(Enumerable.Range(0, 6).Select(number => world.Run("giver " + number, () =>
            world.Command(number + " gives", () => world.Grains.GetGrain<TPartner>(number % 3).Give((number + 1 + (number / 3)) % 3)))));
    }
}
