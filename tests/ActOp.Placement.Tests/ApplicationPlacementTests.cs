using System.Collections.Concurrent;
using System.Net;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Placement;
using ActOp.TestClusters;
using Orleans.Placement;
using Orleans.Runtime.Placement;

namespace ActOp.Placement.Tests;

/// <summary>
/// Directors and filters of the application that block, hang, throw or answer wrongly: their grains' callers learn it, nobody else does.
/// The key of a grain says what happens: to the director before the colon, to the filter after it.
/// </summary>
public class ApplicationPlacementTests(ApplicationPlacementTests.OddSilos cluster) : IClassFixture<ApplicationPlacementTests.OddSilos>
{
    [Fact]
    public async Task Directors_and_filters_run_on_the_thread_pool()
    {
        for (var i = 0; i < 8; i++)
        {
            foreach (var client in new[] { cluster.Client, cluster.ClientOf(0), cluster.ClientOf(1) })
            {
                var key = "fine " + Guid.NewGuid() + ":fine";
                await client.GetGrain<IOdd>(key).Touch();
                Assert.True(Behaviour.RanOnPool["director " + key]);
                Assert.True(Behaviour.RanOnPool["filter " + key]);
            }
        }
    }

    [Theory]
    [InlineData("block {0}:fine")]
    [InlineData("fine:block {0}")]
    public async Task A_director_or_filter_that_blocks_holds_up_only_the_calls_that_wait_for_it(string keys)
    {
        using var gate = new Gate();
        var before = cluster.Client.GetGrain<IEchoGrain>("neighbour " + gate.Name);
        Assert.Equal("first", await before.Echo("first"));
        var blocked = Enumerable.Range(0, 12)
            .Select(number => cluster.Client.GetGrain<IOdd>(number + " " + Key(keys, gate)).Touch()).ToArray();
        await gate.ArrivedAsync();
        for (var i = 0; i < 40; i++)
        {
            var text = gate.Name + i;
            Assert.Equal(text, await before.Echo(text).WaitAsync(Gate.Patience));
            Assert.Equal(text, await cluster.Client.GetGrain<IEchoGrain>("new " + text).Echo(text).WaitAsync(Gate.Patience));
        }

        Assert.All(blocked, static call => Assert.False(call.IsCompleted));
        gate.Open();
        await Task.WhenAll(blocked).WaitAsync(Gate.Patience);
    }

    [Theory]
    [InlineData("null task:fine", "OddDirector")]
    [InlineData("null:fine", "OddDirector")]
    [InlineData("stranger:fine", "OddDirector")]
    [InlineData("fine:null", "OddFilterDirector")]
    [InlineData("fine:stranger", "OddFilterDirector")]
    [InlineData("fine:too many", "OddFilterDirector")]
    public async Task A_wrong_answer_is_an_error_that_names_who_gave_it(string key, string culprit)
    {
        foreach (var client in new[] { cluster.Client, cluster.ClientOf(0), cluster.ClientOf(1) })
        {
            var exception = await Assert.ThrowsAsync<OrleansException>(
                () => client.GetGrain<IOdd>(Guid.NewGuid() + " " + key).Touch().WaitAsync(Gate.Patience));
            Assert.Contains(culprit, exception.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task What_a_filter_throws_reaches_the_caller()
    {
        foreach (var client in new[] { cluster.Client, cluster.ClientOf(0), cluster.ClientOf(1) })
        {
            var exception = await Assert.ThrowsAsync<InvalidOperationException>(
                () => client.GetGrain<IOdd>(Guid.NewGuid() + " fine:throw").Touch().WaitAsync(Gate.Patience));
            Assert.Equal("a filter of the application", exception.Message);
        }
    }

    [Theory]
    [InlineData("hang:fine")]
    [InlineData("block {0}:fine")]
    [InlineData("fine:block {0}")]
    public async Task Callers_do_not_wait_long_for_a_director_or_filter_that_never_ends(string keys)
    {
        await using var silos = await SilosInVirtualTime.Deploy(OddSilos.Configure);
        using var gate = new Gate();
        var first = silos.Grains.GetGrain<IOdd>(Key(keys, gate));
        var call = first.Where();
        var exception = await Assert.ThrowsAsync<OrleansException>(() => silos.AskAll([call]));
        Assert.Contains(first.GetGrainId().ToString(), exception.Message, StringComparison.Ordinal);
        Assert.Contains(ApplicationPlacement.Limit.ToString(), exception.Message, StringComparison.Ordinal);
        // The next one is placed.
        await silos.AskAll([silos.Grains.GetGrain<IOdd>("fine:fine").Where()]);
    }

    [Fact]
    public async Task As_soon_as_all_threads_of_a_grain_type_are_blocked_for_too_long_its_new_grains_are_refused_at_once()
    {
        await using var silos = await SilosInVirtualTime.Deploy(OddSilos.Configure);
        using var gate = new Gate();
        var blocked = Enumerable.Range(0, 3 * ApplicationPlacement.MaxThreads)
            .Select(number => silos.Grains.GetGrain<IOdd>(number + " " + Key("block {0}:fine", gate)).Where()).ToArray();
        await Assert.ThrowsAsync<OrleansException>(() => silos.AskAll(blocked));
        Assert.All(blocked, static call => Assert.IsType<OrleansException>(call.Exception!.InnerException));
        Assert.Equal(ApplicationPlacement.MaxThreads, gate.Count);
        // No time passes now.
        var refused = await Assert.ThrowsAsync<OrleansException>(
            () => silos.Grains.GetGrain<IOdd>("fine:fine").Where().WaitAsync(Gate.Patience));
        Assert.Contains("block", refused.Message, StringComparison.Ordinal);
        Assert.Equal("7", await silos.Grains.GetGrain<IEchoGrain>("other type").Echo("7").WaitAsync(Gate.Patience));
        gate.Open();
        await TestingUtils.WaitUntilAsync(
            async _ => await silos.Grains.GetGrain<IOdd>("fine:fine").Where().WaitAsync(Gate.Patience)
                .ContinueWith(static call => call.IsCompletedSuccessfully, TaskScheduler.Default),
            Gate.Patience,
            TimeSpan.FromMilliseconds(1));
    }

    [Fact]
    public async Task Callers_who_look_for_one_grain_at_the_same_time_keep_their_own_hints_and_versions()
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        using var hang = new ManualResetEventSlim();
        var (node, other) = (silos.NodeOf(0), silos.NodeOf(1));
        var grain = Enumerable.Range(0, int.MaxValue).Select(key => silos.Grains.GetGrain<IEchoGrain>("shared " + key).GetGrainId())
            .First(grain => other.Address.Equals(node.DirectoryService.Map.OwnerOf(grain)));
        other.Stages.Control.Post(new Foundation.StageAction(() => hang.Wait(Gate.Patience)));
        var hinted = new[] { node, other }.Select(silo => node.Placement.LocateAsync(grain, default, Hint(silo.Address))).ToArray();
        var plain = node.Placement.LocateAsync(grain, default, null);
        var same = node.Placement.LocateAsync(grain, default, null);
        var versioned = node.Placement.LocateAsync(grain, new CalledAs(typeof(IEchoGrain).FullName, 3), null);
        hang.Set();
        var places = await silos.AskAll(hinted);
        Assert.Equal([node.Address, other.Address], places.Select(static place => place.Silo));
        Assert.Same(plain, same);
        Assert.True((await silos.AskAll([plain]))[0].IsNew);
        // No silo has this version.
        await Assert.ThrowsAsync<OrleansException>(() => silos.AskAll([versioned]));
    }

    /// <summary>Else each call would ask the directory as long as the silo that is cached lives, and calls would overtake each other.</summary>
    /// <param name="owner">The silo whose directory has the grain: the caller's, or the other.</param>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task The_place_of_a_new_grain_replaces_what_is_cached_of_it(int owner)
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        var (node, other) = (silos.NodeOf(0), silos.NodeOf(1));
        var grain = Enumerable.Range(0, int.MaxValue).Select(key => silos.Grains.GetGrain<IEchoGrain>("ended " + key).GetGrainId())
            .First(grain => silos.NodeOf(owner).Address.Equals(node.DirectoryService.Map.OwnerOf(grain)));
        node.Locations.SetLocation(grain, new Location(node.Address, ActivationId.NewId(), 99));
        if (!node.Placement.TryLocate(grain, default, Hint(other.Address), null, out var silo, out _))
            silo = (await silos.AskAll([node.Placement.LocateAsync(grain, default, Hint(other.Address))]))[0].Silo;
        Assert.Equal(other.Address, silo);
        Assert.True(node.Locations.TryGet(grain, out var cached));
        Assert.Equal(other.Address, cached.Silo);
    }

    private static string Key(string keys, Gate gate) => string.Format(System.Globalization.CultureInfo.InvariantCulture, keys, gate.Name);

    private static RequestContextData Hint(SiloAddress silo) =>
        new() { Values = new Dictionary<string, object> { [IPlacementDirector.PlacementHintKey] = silo } };

    public sealed class OddSilos() : ClusterFixture(2)
    {
        internal static void Configure(ISiloBuilder silo)
        {
            silo.AddPlacementDirector<OddPlacement, OddDirector>();
            silo.Services.AddPlacementFilter<OddFilter, OddFilterDirector>(ServiceLifetime.Singleton);
        }

        protected override void ConfigureSilo(ISiloBuilder silo) => Configure(silo);
    }

    public interface IOdd : IGrainWithStringKey
    {
        Task Touch();

        Task<SiloAddress> Where();
    }

    [OddPlacement]
    [OddFilter]
    public sealed class OddGrain(ILocalSiloDetails silo) : Grain, IOdd
    {
        public Task Touch() => Task.CompletedTask;

        public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);
    }

    public static class Behaviour
    {
        public static readonly SiloAddress Stranger = SiloAddress.New(IPAddress.Parse("10.9.8.7"), 1, 1);

        public static ConcurrentDictionary<string, bool> RanOnPool { get; } = new();

        public static void Note(string who, GrainId grain) =>
            RanOnPool[who + " " + grain.Key] = Thread.CurrentThread.IsThreadPoolThread;

        /// <summary>Says that it is here and blocks its thread.</summary>
        public static void Block(string what)
        {
            if (what.Contains("block ", StringComparison.Ordinal))
                Gate.PassAsync(what[^32..]).Wait(Gate.Patience);
        }
    }

    public sealed class OddPlacement : PlacementStrategy;

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class OddPlacementAttribute() : PlacementAttribute(new OddPlacement());

    public sealed class OddDirector : IPlacementDirector
    {
        public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
        {
            Behaviour.Note("director", target.GrainIdentity);
            var what = target.GrainIdentity.Key.ToString()!.Split(':')[0];
            Behaviour.Block(what);
            return what switch
            {
                _ when what.EndsWith("null task", StringComparison.Ordinal) => null!,
                _ when what.EndsWith("null", StringComparison.Ordinal) => Task.FromResult<SiloAddress>(null!),
                _ when what.EndsWith("stranger", StringComparison.Ordinal) => Task.FromResult(Behaviour.Stranger),
                _ when what.EndsWith("hang", StringComparison.Ordinal) => new TaskCompletionSource<SiloAddress>().Task,
                _ => Task.FromResult(context.GetCompatibleSilos(target)[0]),
            };
        }
    }

    public sealed class OddFilter(int order) : PlacementFilterStrategy(order)
    {
        public OddFilter()
            : this(1)
        {
        }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class OddFilterAttribute() : PlacementFilterAttribute(new OddFilter());

    public sealed class OddFilterDirector : IPlacementFilterDirector
    {
        public IEnumerable<SiloAddress> Filter(
            PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos)
        {
            Behaviour.Note("filter", target.GrainIdentity);
            var what = target.GrainIdentity.Key.ToString()!.Split(':')[1];
            Behaviour.Block(what);
            return what switch
            {
                "null" => null!,
                "stranger" => [Behaviour.Stranger],
                "too many" => Enumerable.Repeat(silos.First(), 1000),
                "throw" => throw new InvalidOperationException("a filter of the application"),
                _ => silos,
            };
        }
    }
}
