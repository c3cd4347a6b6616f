using Orleans.Concurrency;

namespace ActOp.Planted;

/// <summary>A value with its version: of two, the greater version is the newer one.</summary>
[GenerateSerializer]
[Immutable]
public sealed record Versioned([property: Id(0)] int Number, [property: Id(1)] int Writer, [property: Id(2)] int Value)
{
    internal static Versioned Nothing { get; } = new(0, 0, 0);

    internal bool IsNewerThan(Versioned other) => (Number, Writer).CompareTo((other.Number, other.Writer)) > 0;
}

/// <summary>How a replica takes what others send.</summary>
public enum Merging
{
    /// <summary>What came last is the value.</summary>
    ByArrival,

    /// <summary>The greater version is the value.</summary>
    ByVersion,

    /// <summary>By version; and each message carries all that its sender knows.</summary>
    WithCauses,
}

/// <summary>One copy of all values, by key.</summary>
public interface IReplica : IGrainWithIntegerKey
{
    Task Start(Merging merging);

    Task<Versioned> Read(string key);

    /// <summary>Takes a version, if it is newer.</summary>
    Task Store(string key, Versioned version);

    /// <summary>Makes a new version, and tells the others.</summary>
    Task Write(string key, int value);

    [OneWay]
    Task Receive(Dictionary<string, Versioned> versions);
}

public sealed class Replica : Grain, IReplica
{
    internal const int Replicas = 3;

    private readonly Dictionary<string, Versioned> _values = [];
    private Merging _merging;

    public Task Start(Merging merging)
    {
        _merging = merging;
        return Task.CompletedTask;
    }

    public Task<Versioned> Read(string key) => Task.FromResult(_values.GetValueOrDefault(key, Versioned.Nothing));

    public Task Store(string key, Versioned version)
    {
        if (_merging == Merging.ByArrival || version.IsNewerThan(_values.GetValueOrDefault(key, Versioned.Nothing)))
            _values[key] = version;
        return Task.CompletedTask;
    }

    public Task Write(string key, int value)
    {
        var self = (int)this.GetPrimaryKeyLong();
        _values[key] = new Versioned(_values.Values.Select(static one => one.Number).DefaultIfEmpty().Max() + 1, self, value);
        var told = _merging == Merging.WithCauses ? new Dictionary<string, Versioned>(_values) : new() { [key] = _values[key] };
        return Task.WhenAll(Enumerable.Range(0, Replicas).Where(other => other != self)
            .Select(other => GrainFactory.GetGrain<IReplica>(other).Receive(told)));
    }

    public async Task Receive(Dictionary<string, Versioned> versions)
    {
        foreach (var (key, version) in versions)
            await Store(key, version);
    }
}

/// <summary>What a register does.</summary>
public sealed class RegisterModel
{
    internal int Value { get; set; }
}

/// <summary>A store with copies, checked for what it promises: one value at a time, causes before effects, or one value at last.</summary>
internal static class ReplicaFaults
{
    internal static PlantedFault Strong { get; } = new(
        "store, strong", "a read asks one replica, and the write has reached another one only",
        static world => WriteAndReadAsync(world, majority: 1), static world => WriteAndReadAsync(world, majority: 2),
        "No order of the calls", 0, 6);

    internal static PlantedFault Causal { get; } = new(
        "store, causal", "an answer is seen and its question is not", static world => AnswerAsync(world, Merging.ByVersion),
        static world => AnswerAsync(world, Merging.WithCauses), "without the question", 2, 1);

    internal static PlantedFault Eventual { get; } = new(
        "store, eventual", "replicas keep what came last, and it comes in another order to each",
        static world => MergeAsync(world, Merging.ByArrival), static world => MergeAsync(world, Merging.ByVersion), "differ", 0, 2);

    private static async Task<IReplica[]> StartAsync(SimulationWorld world, Merging merging)
    {
        await world.Start();
        var replicas = Enumerable.Range(0, Replica.Replicas).Select(key => world.Grains.GetGrain<IReplica>(key)).ToArray();
        foreach (var replica in replicas)
            await replica.Start(merging);
        return replicas;
    }

    /// <summary>Attiya, Bar-Noy and Dolev: who reads writes what it has read to a majority before it believes it.</summary>
    private static async Task WriteAndReadAsync(SimulationWorld world, int majority)
    {
        var replicas = await StartAsync(world, Merging.ByVersion);
        var history = world.History(static () => new RegisterModel());
        await Task.WhenAll(Enumerable.Range(1, 3).Select(client => world.Run("client " + client, async () =>
        {
            for (var number = 1; number <= 3; number++)
            {
                var value = (10 * client) + number;
                await world.Command("write " + value, () => history.Call(
                    "x", "write " + value, () => WriteAsync(client, value), model => model.Value = value));
                await world.Command("read", () => history.Call("x", "read", ReadAsync, static model => model.Value));
            }
        })));
        history.Check();

        async Task WriteAsync(int client, int value)
        {
            var newest = await NewestAsync();
            await StoreAsync(new Versioned(newest.Number + 1, client, value));
        }

        async Task<int> ReadAsync()
        {
            var newest = await NewestAsync();
            if (majority > 1)
                await StoreAsync(newest);
            return newest.Value;
        }

        async Task<Versioned> NewestAsync()
        {
            var read = await Task.WhenAll(SomeReplicas().Select(static one => one.Read("x")));
            return read.Aggregate(static (one, other) => other.IsNewerThan(one) ? other : one);
        }

        Task StoreAsync(Versioned version) => Task.WhenAll(SomeReplicas().Select(one => one.Store("x", version)));

        IReplica[] SomeReplicas()
        {
            var first = world.Random.Next(replicas.Length);
            return [.. Enumerable.Range(first, majority).Select(one => replicas[one % replicas.Length])];
        }
    }

    private static async Task AnswerAsync(SimulationWorld world, Merging merging)
    {
        world.RandomFaults(messages: true);
        var replicas = await StartAsync(world, merging);
        await world.Command("alice asks and bob answers", async () =>
        {
            await replicas[0].Write("question", 1);
            // Bob has it from another replica, if it came there.
            for (var look = 0; look < 10 && (await replicas[1].Read("question")).Value == 0; look++)
                await world.Delay(TimeSpan.FromMilliseconds(10));
            if ((await replicas[1].Read("question")).Value == 1)
                await replicas[1].Write("answer", 2);
        });
        await world.Delay(TimeSpan.FromSeconds(1));
        // Carol reads the effect first: whatever is there then has its cause.
        var answer = await replicas[2].Read("answer");
        var question = await replicas[2].Read("question");
        world.Check(answer.Value == 0 || question.Value == 1, "Carol sees the answer without the question.");
    }

    private static async Task MergeAsync(SimulationWorld world, Merging merging)
    {
        var replicas = await StartAsync(world, merging);
        await Task.WhenAll(Enumerable.Range(0, Replica.Replicas).Select(number => world.Run("writer " + number, () =>
            world.Command("write " + number, () => replicas[number].Write("x", number + 1)))));
        await world.Delay(TimeSpan.FromSeconds(1));
        var values = await Task.WhenAll(replicas.Select(static one => one.Read("x")));
        world.Check(
            values.Distinct().Count() == 1, "The replicas differ: " + string.Join(", ", values.Select(static one => one.Value)) + ".");
    }
}
