using System.Diagnostics.Metrics;
using ActOp.Configuration;
using ActOp.Placement;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Placement;

namespace ActOp.Placement.Tests.Locality;

/// <summary>What locality may move: by default only grains that lose nothing by it.</summary>
public class LosingNothingTests
{
    /// <summary>Enough that a silo may have one grain more than another within the default tolerance.</summary>
    private const int Pairs = 40;

    /// <summary>
    /// Rounds come every second at first, and after a while without moves only about every half minute, as it may be when the pairs have
    /// begun on a slow machine: the clock goes on meanwhile. The pairs are together after a few.
    /// </summary>
    private const int MostSeconds = 300;

    [Fact]
    public async Task With_every_option_at_its_default_grains_in_use_never_lose_their_fields()
    {
        var log = new LogCapture();
        await using var cluster = await SilosInVirtualTime.Deploy(silo => silo.Services.AddLogging(logging => logging.AddProvider(log)));
        var plain = await Begin<IPlainTalker>(cluster);
        var carrying = await Begin<ICarryingTalker>(cluster);
        var seconds = await TalkUntilTogether(cluster, carrying, plain);
        // The pairs that carry what they hold came together, so exchanges took place; the others stayed and know every word.
        Assert.All(carrying, pair => Assert.Equal(pair.First.Place, pair.Second.Place));
        foreach (var (first, second) in plain)
        {
            Assert.Equal(
                (cluster.AddressOf(0), seconds), (await cluster.Ask(first.Talker.Where()), await cluster.Ask(first.Talker.Words())));
            Assert.Equal(
                (cluster.AddressOf(1), seconds), (await cluster.Ask(second.Talker.Where()), await cluster.Ask(second.Talker.Words())));
        }

        foreach (var (first, second) in carrying)
            Assert.Equal((seconds, seconds), (await cluster.Ask(first.Talker.Words()), await cluster.Ask(second.Talker.Words())));
        var named = log.Lines(LogLevel.Information).Where(line => line.Contains(nameof(IGrainMigrationParticipant),
            StringComparison.Ordinal)).ToArray();
        Assert.Equal(2, named.Length); // Once on each silo.
        Assert.All(named, line => Assert.Contains(typeof(PlainTalkerGrain).ToString(), line));
    }

    [Fact]
    public async Task Where_all_may_move_as_in_the_paper_fields_that_nobody_carries_are_lost()
    {
        await using var cluster = await SilosInVirtualTime.Deploy(
            silo => silo.Configure<LocalityOptions>(options => options.Moves = MovableGrains.All));
        var plain = await Begin<IPlainTalker>(cluster);
        var seconds = await TalkUntilTogether(cluster, plain);
        Assert.All(plain, pair => Assert.Equal(pair.First.Place, pair.Second.Place));
        var words = 0;
        foreach (var (first, second) in plain)
            words += await cluster.Ask(first.Talker.Words()) + await cluster.Ask(second.Talker.Words());
        Assert.True(words < 2 * Pairs * seconds);
    }

    [Fact]
    public async Task Grains_without_state_move_and_so_do_those_whose_author_says_so()
    {
        await using var cluster = await SilosInVirtualTime.Deploy();
        var empty = await Begin<IEmptyTalker>(cluster);
        var cached = await Begin<ICachingTalker>(cluster);
        var fixedPairs = await Begin<IFixedTalker>(cluster);
        await TalkUntilTogether(cluster, [.. empty, .. cached], fixedPairs);
        Assert.All(empty.Concat(cached), pair => Assert.Equal(pair.First.Place, pair.Second.Place));
        foreach (var (first, second) in fixedPairs)
        {
            Assert.Equal((cluster.AddressOf(0), cluster.AddressOf(1)),
                (await cluster.Ask(first.Talker.Where()), await cluster.Ask(second.Talker.Where())));
        }
    }

    [Fact]
    public async Task An_opportunistic_move_carries_nothing_so_only_grains_without_state_make_one()
    {
        await using var cluster = await SilosInVirtualTime.Deploy(
            silo => silo.Configure<LocalityOptions>(options => options.Migration = MigrationMode.Opportunistic));
        var empty = await Begin<IEmptyTalker>(cluster);
        var carrying = await Begin<ICarryingTalker>(cluster);
        await TalkUntilTogether(cluster, empty, carrying);
        Assert.All(empty, pair => Assert.Equal(pair.First.Place, pair.Second.Place));
        foreach (var (first, second) in carrying)
        {
            Assert.Equal((cluster.AddressOf(0), cluster.AddressOf(1)),
                (await cluster.Ask(first.Talker.Where()), await cluster.Ask(second.Talker.Where())));
        }
    }

    [Fact]
    public async Task A_grain_that_asks_to_move_moves_whatever_it_holds()
    {
        await using var cluster = await SilosInVirtualTime.Deploy();
        foreach (var grain in new ITalker[] { cluster.Grains.GetGrain<IPlainTalker>(1), cluster.Grains.GetGrain<IFixedTalker>(1) })
        {
            await cluster.AskAll([Place.On(cluster.AddressOf(0), () => grain.Where().AsTask())]);
            await cluster.AskAll([Place.On(cluster.AddressOf(1), () => grain.Leave().AsTask())]);
            Assert.Equal(cluster.AddressOf(1), await cluster.Ask(grain.Where()));
        }
    }

    [Fact]
    public async Task A_grain_without_state_stays_while_a_timer_runs_that_its_activation_would_not_bring_back()
    {
        await using var cluster = await SilosInVirtualTime.Deploy();
        var ticking = await Begin<IEmptyTalker>(cluster);
        var empty = await Begin<IEmptyTalker>(cluster, from: 500);
        foreach (var (first, second) in ticking)
        {
            await cluster.AskAll([first.Talker.Tick().AsTask(), second.Talker.Tick().AsTask()]);
        }

        await TalkUntilTogether(cluster, empty, ticking);
        Assert.All(empty, pair => Assert.Equal(pair.First.Place, pair.Second.Place));
        foreach (var (first, second) in ticking)
        {
            Assert.Equal((cluster.AddressOf(0), cluster.AddressOf(1)),
                (await cluster.Ask(first.Talker.Where()), await cluster.Ask(second.Talker.Where())));
        }
    }

    [Fact]
    public async Task Grains_that_must_stay_are_counted()
    {
        await using var cluster = await SilosInVirtualTime.Deploy();
        await Begin<IPlainTalker>(cluster);
        await Begin<ICarryingTalker>(cluster);
        await Begin<IFixedTalker>(cluster);
        await cluster.PassAsync(TimeSpan.FromSeconds(3), 0, 1);
        var counted = new List<int>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, me) =>
        {
            if (instrument.Name == "actop.locality.unmovable"
                && (ReferenceEquals(instrument.Meter, cluster.NodeOf(0).Metrics.Meter)
                    || ReferenceEquals(instrument.Meter, cluster.NodeOf(1).Metrics.Meter)))
            {
                me.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<int>((_, value, _, _) => counted.Add(value));
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.Equal([Pairs, Pairs], counted);
    }

    private static async Task<List<(Talking First, Talking Second)>> Begin<T>(SilosInVirtualTime cluster, int from = 0)
        where T : ITalker
    {
        var pairs = new List<(Talking First, Talking Second)>();
        for (var pair = from; pair < from + Pairs; pair++)
        {
            var (first, second) = (cluster.Grains.GetGrain<T>(pair), cluster.Grains.GetGrain<T>(1000 + pair));
            var places =
                await cluster.AskAll([Place.On(cluster.AddressOf(0), () => first.Where().AsTask()),
                    Place.On(cluster.AddressOf(1), () => second.Where().AsTask())]);
            Assert.Equal([cluster.AddressOf(0), cluster.AddressOf(1)], places);
            pairs.Add((new Talking(first), new Talking(second)));
        }

        return pairs;
    }

    /// <summary>Each second every grain hears one word of its partner. Returns the seconds.</summary>
    private static async Task<int> TalkUntilTogether(
        SilosInVirtualTime cluster, List<(Talking First, Talking Second)> pairs, params List<(Talking First, Talking Second)> others)
    {
        for (var second = 1; second <= MostSeconds; second++)
        {
            await cluster.AskAll(pairs.Concat(others)
                .SelectMany(pair => new[] { pair.First.Talker.TellPartner().AsTask(), pair.Second.Talker.TellPartner().AsTask() }));

            await cluster.PassAsync(TimeSpan.FromSeconds(1), 0, 1);
            var places =
                await cluster.AskAll(
                    pairs.SelectMany(pair => new[] { pair.First.Talker.Where().AsTask(), pair.Second.Talker.Where().AsTask() }));
            for (var pair = 0; pair < pairs.Count; pair++)
                (pairs[pair].First.Place, pairs[pair].Second.Place) = (places[2 * pair], places[(2 * pair) + 1]);
            if (pairs.TrueForAll(pair => pair.First.Place!.Equals(pair.Second.Place)))
                return second;
        }

        return MostSeconds;
    }

    private sealed class Talking(ITalker talker)
    {
        public ITalker Talker => talker;

        public SiloAddress? Place { get; set; }
    }

    /// <summary>One of a pair; its partner's key differs by a thousand.</summary>
    public interface ITalker : IGrainWithIntegerKey
    {
        [AlwaysInterleave]
        ValueTask<bool> TellPartner();

        [AlwaysInterleave]
        ValueTask Hear();

        ValueTask<int> Words();

        [AlwaysInterleave]
        ValueTask<SiloAddress> Where();

        ValueTask<bool> Leave();

        ValueTask<bool> Tick();
    }

    public interface IPlainTalker : ITalker;

    public interface ICarryingTalker : ITalker;

    public interface IEmptyTalker : ITalker;

    public interface ICachingTalker : ITalker;

    public interface IFixedTalker : ITalker;

    /// <summary>Holds nothing; what it hears goes nowhere.</summary>
    public abstract class Talker<T>(ILocalSiloDetails silo) : Grain
        where T : ITalker
    {
        public async ValueTask<bool> TellPartner()
        {
            var key = this.GetPrimaryKeyLong();
            await GrainFactory.GetGrain<T>(key < 1000 ? key + 1000 : key - 1000).Hear();
            return true;
        }

        public virtual ValueTask Hear() => default;

        public virtual ValueTask<int> Words() => default;

        public ValueTask<SiloAddress> Where() => new(silo.SiloAddress);

        public ValueTask<bool> Leave()
        {
            MigrateOnIdle();
            return new(true);
        }

        public ValueTask<bool> Tick()
        {
            this.RegisterGrainTimer(
                static () => Task.CompletedTask, new GrainTimerCreationOptions(TimeSpan.FromHours(1), TimeSpan.FromHours(1)));
            return new(true);
        }
    }

    public sealed class EmptyTalkerGrain(ILocalSiloDetails silo) : Talker<IEmptyTalker>(silo), IEmptyTalker;

    public sealed class PlainTalkerGrain(ILocalSiloDetails silo) : Talker<IPlainTalker>(silo), IPlainTalker
    {
        private int _words;

        public override ValueTask Hear()
        {
            _words++;
            return default;
        }

        public override ValueTask<int> Words() => new(_words);
    }

    [Movable]
    public sealed class CachingTalkerGrain(ILocalSiloDetails silo) : Talker<ICachingTalker>(silo), ICachingTalker
    {
        private readonly Dictionary<int, int> _cache = [];

        public override ValueTask<int> Words() => new(_cache.Count);
    }

    [Immovable]
    public sealed class FixedTalkerGrain(ILocalSiloDetails silo) : Talker<IFixedTalker>(silo), IFixedTalker;

    public sealed class CarryingTalkerGrain(ILocalSiloDetails silo) : Talker<ICarryingTalker>(silo), ICarryingTalker,
        IGrainMigrationParticipant
    {
        private int _words;

        public override ValueTask Hear()
        {
            _words++;
            return default;
        }

        public override ValueTask<int> Words() => new(_words);

        public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue("words", _words);

        public void OnRehydrate(IRehydrationContext rehydrationContext) => rehydrationContext.TryGetValue("words", out _words);
    }
}
