using ActOp.Calls;
using ActOp.Runtime.Activations;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Lifecycle.Tests;

public sealed class ActivationMapTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    [Fact]
    public void It_holds_what_a_dictionary_would_hold()
    {
        var step = Gen.Choose(0, 3).SelectMany(what => Gen.Choose(0, 300).Select(grain => (what, grain)));
        Check.One(Config.QuickThrowOnFailure.WithMaxTest(60), Prop.ForAll(step.ArrayOf(400).ToArbitrary(), Matches));
    }

    [Fact]
    public void Many_are_found_again_while_they_come_and_when_half_of_them_have_gone()
    {
        var map = new ActivationMap<Host>();
        var hosts = Enumerable.Range(0, 20_000).Select(number => new Host(Grain(number))).ToArray();
        Assert.All(hosts, host => Assert.True(map.TryAdd(host)));
        Assert.All(hosts, host => Assert.Same(host, Found(map, host.HostId)));
        foreach (var host in hosts.Take(10_000))
            Assert.True(map.TryRemove(host));
        Assert.Equal(10_000, map.Count);
        Assert.Equal(hosts.Skip(10_000).Select(host => host.HostId).Order(), map.Select(host => host.HostId).Order());
    }

    /// <summary>As if their keys had been chosen so. Without another hash, each is behind all those before it.</summary>
    [Fact]
    public void Many_grains_with_one_hash_are_not_one_run()
    {
        const int Grains = 30_000;
        var map = new ActivationMap<Host>();
        var hosts = Enumerable.Range(0, Grains)
            .Select(number => new Host(GrainId.Create(GrainType.Create("kind"), IdSpan.UnsafeCreate(BitConverter.GetBytes(number), 7))))
            .ToArray();
        Assert.All(hosts, host => Assert.True(map.TryAdd(host)));
        Assert.All(hosts, host => Assert.False(map.TryAdd(host)));
        Assert.All(hosts, host => Assert.Same(host, Found(map, host.HostId)));
        Assert.All(hosts, host => Assert.InRange(map.DistanceOf(host.HostId), 0, ActivationMap<Host>.LongestRun));
        Assert.All(hosts.Where((_, index) => index % 2 == 0), host => Assert.True(map.TryRemove(host)));
        Assert.Equal(Grains / 2, map.Count);
        Assert.All(hosts.Where((_, index) => index % 2 == 1), host => Assert.Same(host, Found(map, host.HostId)));
    }

    [Fact]
    public void One_that_was_replaced_cannot_be_removed_and_its_successor_can()
    {
        var map = new ActivationMap<Host>();
        var (first, second) = (new Host(Grain(1)), new Host(Grain(1)));
        Assert.True(map.TryAdd(first));
        Assert.False(map.TryAdd(second));
        Assert.True(map.TryReplace(first, second));
        Assert.False(map.TryReplace(first, second));
        Assert.False(map.TryRemove(first));
        Assert.True(map.TryRemove(second));
        Assert.Empty(map);
    }

    /// <summary>
    /// Writers add and remove grains of their own, and all of them the same few grains, while readers look for grains that are always
    /// there, enumerate, and must never see a grain under a wrong key. Bounded by the number of steps.
    /// </summary>
    [Fact]
    public async Task What_is_always_there_is_always_found_while_others_come_and_go()
    {
        const int Writers = 3;
        const int Steps = 60_000;
        var map = new ActivationMap<Host>();
        var lasting = Enumerable.Range(0, 500).Select(number => new Host(Grain(-1 - number))).ToArray();
        foreach (var host in lasting)
            map.TryAdd(host);
        var contested = new int[8];
        var writing = Writers;
        var tasks = Enumerable.Range(0, Writers).Select(writer => Task.Run(() =>
        {
            Write(map, writer, Steps, contested);
            Interlocked.Decrement(ref writing);
        })).Append(Task.Run(() =>
        {
            while (Volatile.Read(ref writing) > 0)
                Look(map, lasting);
        }));
        await Task.WhenAll(tasks).WaitAsync(Patience);
        Look(map, lasting);
        Assert.All(contested, (balance, number) => Assert.Equal(Found(map, Grain(number)) is null ? 0 : 1, balance));
        Assert.Equal(lasting.Length + contested.Sum(), map.Count);
        Assert.Equal(map.Count, map.Count());
    }

    private static void Write(ActivationMap<Host> map, int writer, int steps, int[] contested)
    {
        var random = new Random(writer);
        var own = new Dictionary<int, Host>();
        for (var step = 0; step < steps; step++)
        {
            var shared = random.Next(contested.Length);
            if (random.Next(2) == 0 && map.TryAdd(new Host(Grain(shared))))
                Interlocked.Increment(ref contested[shared]);
            else if (Found(map, Grain(shared)) is { } there && map.TryRemove(there))
                Interlocked.Decrement(ref contested[shared]);
            var number = 1000 + (writer * 100_000) + random.Next(2000);
            if (own.Remove(number, out var host))
            {
                Assert.Same(host, Found(map, host.HostId));
                Assert.True(map.TryRemove(host));
                Assert.Null(Found(map, host.HostId));
            }
            else
            {
                own[number] = new Host(Grain(number));
                Assert.True(map.TryAdd(own[number]));
                Assert.Same(own[number], Found(map, Grain(number)));
            }
        }

        foreach (var host in own.Values)
            Assert.True(map.TryRemove(host));
    }

    private static void Look(ActivationMap<Host> map, Host[] lasting)
    {
        foreach (var host in lasting)
            Assert.Same(host, Found(map, host.HostId));
        var seen = map.ToHashSet();
        Assert.All(lasting, host => Assert.Contains(host, seen));
    }

    private static Host? Found(ActivationMap<Host> map, GrainId id)
    {
        if (!map.TryGet(id, out var host))
            return null;
        Assert.Equal(id, host.HostId);
        return host;
    }

    private static void Matches((int What, int Grain)[] steps)
    {
        var (map, oracle) = (new ActivationMap<Host>(), new Dictionary<GrainId, Host>());
        foreach (var (what, number) in steps)
        {
            var next = new Host(Grain(number));
            var present = oracle.GetValueOrDefault(next.HostId);
            Assert.Same(present, Found(map, next.HostId));
            switch (what)
            {
                case 0 or 1:
                    Assert.Equal(oracle.TryAdd(next.HostId, next), map.TryAdd(next));
                    break;
                case 2 when present is not null:
                    Assert.False(map.TryRemove(next));
                    Assert.True(map.TryRemove(present));
                    oracle.Remove(next.HostId);
                    break;
                case 3 when present is not null:
                    Assert.True(map.TryReplace(present, next));
                    oracle[next.HostId] = next;
                    break;
                default:
                    Assert.False(map.TryRemove(next));
                    Assert.False(map.TryReplace(next, next));
                    break;
            }

            Assert.Equal(oracle.Count, map.Count);
        }

        Assert.Equal(oracle.OrderBy(one => one.Key).Select(one => one.Value), map.OrderBy(host => host.HostId));
    }

    private static GrainId Grain(int number) => GrainId.Create("kind", number.ToString(System.Globalization.CultureInfo.InvariantCulture));

    private sealed class Host(GrainId id) : CallHost
    {
        internal override GrainId HostId => id;

        internal override void Enqueue(MailboxItem item) => throw new NotSupportedException();

        internal override void FinishInTurn(Call call) => throw new NotSupportedException();

        internal override void CancelInTurn(CallCancellation cancellation) => throw new NotSupportedException();

        protected override void QueueTask(Task task) => throw new NotSupportedException();

        protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

        protected override IEnumerable<Task> GetScheduledTasks() => [];
    }
}
