namespace ActOp.Planted;

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
internal static class PartnerFaults
{
    internal static PlantedFault Fault { get; } = new(
        "partners", "two grains wait for each other", GiveAsync<IStubbornPartner>, GiveAsync<IObligingPartner>, "TimeoutException", 0, 4);

    private static async Task GiveAsync<TPartner>(SimulationWorld world)
        where TPartner : IPartner
    {
        await world.Start();
        await Task.WhenAll(Enumerable.Range(0, 6).Select(number => world.Run("giver " + number, () =>
            world.Command(number + " gives", () => world.Grains.GetGrain<TPartner>(number % 3).Give((number + 1 + (number / 3)) % 3)))));
    }
}
