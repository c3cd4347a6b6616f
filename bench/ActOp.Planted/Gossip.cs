using Orleans.Concurrency;

namespace ActOp.Planted;

/// <summary>One of a group that tells each other what it hears.</summary>
public interface IGossip : IGrainWithIntegerKey
{
    /// <summary>Begins: it looks for what it has missed, if it does that at all.</summary>
    Task Start(bool asks);

    /// <summary>Something new: it is told to all others.</summary>
    Task Spread(int rumor);

    [OneWay]
    Task Hear(int rumor);

    [AlwaysInterleave]
    Task<int[]> GetKnown();
}

/// <summary>Direct mail, and on request anti-entropy (Demers and others, "Epidemic algorithms", 1987).</summary>
public sealed class Gossip : Grain, IGossip
{
    internal const int Members = 4;

    private readonly SortedSet<int> _known = [];
    private int _asked;

    public Task Start(bool asks)
    {
        if (asks)
        {
            this.RegisterGrainTimer(
                AskAsync, new GrainTimerCreationOptions { DueTime = TimeSpan.FromSeconds(1), Period = TimeSpan.FromSeconds(1) });
        }

        return Task.CompletedTask;
    }

    public Task Spread(int rumor)
    {
        _known.Add(rumor);
        return Task.WhenAll(Enumerable.Range(0, Members).Where(key => key != this.GetPrimaryKeyLong())
            .Select(key => GrainFactory.GetGrain<IGossip>(key).Hear(rumor)));
    }

    public Task Hear(int rumor)
    {
        _known.Add(rumor);
        return Task.CompletedTask;
    }

    public Task<int[]> GetKnown() => Task.FromResult(_known.ToArray());

    private async Task AskAsync(CancellationToken cancellation)
    {
        var other = ((int)this.GetPrimaryKeyLong() + 1 + (_asked++ % (Members - 1))) % Members;
        _known.UnionWith(await GrainFactory.GetGrain<IGossip>(other).GetKnown());
    }
}

/// <summary>What was told once and lost is never known.</summary>
internal static class GossipFaults
{
    internal static PlantedFault Fault { get; } = new(
        "gossip", "what a message loses is never known, because nobody asks", static world => SpreadAsync(world, asks: false),
        static world => SpreadAsync(world, asks: true), "does not know", 1, 1);

    private static async Task SpreadAsync(SimulationWorld world, bool asks)
    {
        world.Silos.Count = 2;
        world.RandomFaults(messages: true);
        await world.Start();
        var members = Enumerable.Range(0, Gossip.Members).Select(key => world.Grains.GetGrain<IGossip>(key)).ToArray();
        foreach (var member in members)
            await member.Start(asks);
        List<int> spread = [];
        for (var rumor = 1; rumor <= 3; rumor++)
        {
            var number = rumor;
            await world.Command("spread " + number, async () =>
            {
                spread.Add(number);
                await members[number].Spread(number);
            });
        }

        await world.Delay(TimeSpan.FromSeconds(10));
        for (var key = 0; key < members.Length; key++)
        {
            var missing = spread.Except(await members[key].GetKnown()).ToArray();
            world.Check(missing.Length == 0, key + " does not know " + string.Join(", ", missing) + ".");
        }
    }
}
