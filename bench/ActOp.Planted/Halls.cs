using Microsoft.Extensions.Logging;
using Orleans.Utilities;

namespace ActOp.Planted;

/// <summary>Hears what is said in a hall.</summary>
public interface IListener : IGrainObserver
{
    void Hear(int number);
}

/// <summary>Tells its listeners what is said. Who they are is in memory only.</summary>
public interface IHall : IGrainWithStringKey
{
    Task Enter(IListener listener);

    Task Say(int number);
}

public sealed class Hall(ILogger<Hall> log) : Grain, IHall
{
    private readonly ObserverManager<IListener> _listeners = new(TimeSpan.FromMinutes(5), log);

    public Task Enter(IListener listener)
    {
        _listeners.Subscribe(listener, listener);
        return Task.CompletedTask;
    }

    public Task Say(int number)
    {
        _listeners.Notify(listener => listener.Hear(number));
        return Task.CompletedTask;
    }
}

/// <summary>A hall that has moved, or whose silo has ended, knows no listener.</summary>
internal static class HallFaults
{
    internal static PlantedFault Fault { get; } = new(
        "hall", "an observer that has subscribed once is lost with the silo", static world => SayAsync(world, isRepeated: false),
        static world => SayAsync(world, isRepeated: true), "never heard", 1, 1);

    private static async Task SayAsync(SimulationWorld world, bool isRepeated)
    {
        world.RandomFaults(crash: true, moves: true);
        await world.Start();
        var hall = world.Grains.GetGrain<IHall>("lobby");
        var listener = new Listener();
        var reference = world.Client.CreateObjectReference<IListener>(listener);
        var isOver = false;
        await PlantedFault.RetryAsync(world, () => hall.Enter(reference));
        var enters = world.Run("the listener", async () =>
        {
            while (isRepeated && !isOver)
            {
                await PlantedFault.RetryAsync(world, () => hall.Enter(reference));
                await world.Delay(TimeSpan.FromMilliseconds(500));
            }
        });
        for (var number = 1; number <= 5; number++)
        {
            var said = number;
            await world.Command("say " + said, () => PlantedFault.RetryAsync(world, () => hall.Say(said)));
            await world.Delay(TimeSpan.FromMilliseconds(300));
        }

        await world.Settle();
        await world.Delay(TimeSpan.FromSeconds(2));
        await PlantedFault.RetryAsync(world, () => hall.Say(100));
        await world.Delay(TimeSpan.FromSeconds(1));
        isOver = true;
        await enters;
        GC.KeepAlive(listener);
        world.Check(listener.HasHeard(100), "What was said at the end was never heard.");
    }

    private sealed class Listener : IListener
    {
        private readonly HashSet<int> _heard = [];

        public void Hear(int number) => _heard.Add(number);

        internal bool HasHeard(int number) => _heard.Contains(number);
    }
}
