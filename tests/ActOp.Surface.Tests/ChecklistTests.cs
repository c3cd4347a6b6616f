using System.Collections.Concurrent;
using ActOp.Configuration;
using ActOp.TestClusters;

namespace ActOp.Surface.Tests;

/// <summary>
/// The behaviours of Orleans that are hard to match, by the numbers of the list. Three have classes of their own, since they are features:
/// 1 <c>Behaviour1CustomRequestTests</c>, 3 <c>Behaviour3EnumerableTests</c> and 7 <c>Behaviour7CancellationTests</c>. The details are in the
/// tests of each part.
/// </summary>
public class ChecklistTests(ChecklistTests.Watched cluster) : IClassFixture<ChecklistTests.Watched>
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Item_2_a_call_chain_comes_back_to_the_activation_that_allowed_it_until_its_last_section_ends(int otherSilo)
    {
        var origin = cluster.Client.GetGrain<IOrigin>(Guid.NewGuid());
        var other = cluster.Client.GetGrain<IOrigin>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), origin.Ping);
        await Place.On(cluster.AddressOf(otherSilo), other.Ping);
        // The inner section ends first; the outer one still holds.
        Assert.Equal("back", await origin.ThereAndBack(other, sections: 2));
        Assert.Equal("back", await origin.ThereAndBack(other, sections: 1));
    }

    [Fact]
    public async Task Item_4_a_closed_class_wins_over_an_open_one_and_arguments_may_be_swapped()
    {
        Assert.Equal("closed", await cluster.Client.GetGrain<IBoxed<int, string>>("a").Name());
        Assert.Equal("Int32 Guid", await cluster.Client.GetGrain<IBoxed<Guid, int>>("a").Name());
        var cast = cluster.Client.GetGrain<IBoxed<Guid, int>>("b").AsReference<INamed>();
        Assert.Equal("Int32 Guid", await cast.Name());
    }

    [Fact]
    public async Task Item_5_tasks_stay_with_the_activation_one_at_a_time()
    {
        var grain = cluster.Client.GetGrain<IOrigin>(Guid.NewGuid());
        Assert.Equal((true, true, false, 0), await grain.Schedulers());
    }

    [Fact]
    public async Task Item_6_arguments_are_isolated_with_their_identities_unless_they_are_immutable()
    {
        var grain = cluster.Client.GetGrain<IOrigin>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Ping);
        Assert.Equal((false, true, true), await grain.CallItself());
    }

    [Fact]
    public async Task Item_8_a_grain_that_could_not_begin_fails_its_callers_and_one_that_leaves_takes_nobody_along()
    {
        var broken = cluster.Client.GetGrain<IOrigin>(Watched.Broken);
        var failures = await Task.WhenAll(Enumerable.Range(0, 3).Select(_ => Record.ExceptionAsync(broken.Ping).AsTask()));
        Assert.All(failures, failure => Assert.Equal("does not begin", Assert.IsType<InvalidOperationException>(failure).Message));
        Assert.DoesNotContain(Watched.Broken.ToString(), cluster.Deactivated);

        var grain = cluster.Client.GetGrain<IOrigin>(Guid.NewGuid());
        await grain.Leave();
        await Task.WhenAll(Enumerable.Range(0, 10).Select(_ => grain.Ping()));
        Assert.Contains(grain.GetPrimaryKey() + " ApplicationRequested", cluster.Deactivated);
    }

    [Fact]
    public async Task Item_9_a_state_that_was_not_written_moves_to_the_silo_of_the_hint_and_stays_usable_if_that_one_is_gone()
    {
        var grain = cluster.Client.GetGrain<ITraveller>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), () => grain.Set(5));
        await Place.On(cluster.AddressOf(1), grain.Leave);
        Assert.Equal((5, cluster.AddressOf(1), 1), (await grain.Get(), await grain.Where(), await grain.Moves()));

        var gone = SiloAddress.New(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, 1), 1);
        await grain.Write();
        await Place.On(gone, grain.Leave);
        Assert.Equal(5, await grain.Get());

        await grain.FailToPack();
        await Place.On(cluster.AddressOf(0), grain.Leave);
        Assert.Equal(5, await grain.Get());
    }

    [Fact]
    public async Task Item_10_filters_see_observers_timers_and_constructed_methods_and_may_invoke_again()
    {
        var grain = cluster.Client.GetGrain<IOrigin>(Guid.NewGuid());
        Assert.Equal("again", await grain.Flaky("again"));
        Assert.Contains(cluster.Seen, static seen => seen == "Flaky[String] OriginGrain");
        var observer = new Heard();
        await grain.Tell(cluster.Client.CreateObjectReference<IHeard>(observer));
        Assert.Contains(cluster.Seen, static seen => seen == "Hear Heard");
        GC.KeepAlive(observer);
        await grain.Tick();
        Assert.Contains(cluster.Seen, static seen => seen.StartsWith("InvokeCallbackAsync ", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Item_11_exceptions_keep_their_type_and_the_stack_of_the_callee(int silo)
    {
        var grain = cluster.ClientOf(0).GetGrain<IOrigin>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(silo), grain.Ping);
        var exception = await Assert.ThrowsAsync<OwnFailure>(grain.Throw);
        Assert.Equal(7, exception.Number);
        Assert.Contains(nameof(OriginGrain) + "." + nameof(IOrigin.Throw), exception.StackTrace, StringComparison.Ordinal);
        var plain = await Assert.ThrowsAsync<PlainFailure>(grain.ThrowPlain);
        Assert.Equal("without attributes", plain.Message);
    }

    [Fact]
    public async Task Item_12_derived_foreign_and_recursive_values_arrive_and_generic_grain_types_name_their_arguments()
    {
        var grain = cluster.Client.GetGrain<IOrigin>(Guid.NewGuid());
        var loop = new Parcel { Weight = 3 };
        loop.Inside = loop;
        Parcel?[] sent = [loop, new FragileParcel("glass") { Weight = 4, Price = new Foreign(12, "EUR") }, loop, null];
        var back = await grain.Echo(sent);
        Assert.Same(back[0], back[2]);
        Assert.Same(back[0], back[0]!.Inside);
        var fragile = Assert.IsType<FragileParcel>(back[1]);
        Assert.Equal(("glass", 4, 12, "EUR"), (fragile.Of, fragile.Weight, fragile.Price!.Cents, fragile.Price.Currency));
        Assert.Null(back[3]);

        var generic = cluster.Client.GetGrain<IBoxed<Guid, int>>("c").GetGrainId().ToString();
        Assert.StartsWith("openbox`2[[System.Int32],[", generic, StringComparison.Ordinal);
        Assert.Equal("Int32 Guid", await cluster.Client.GetGrain<INamed>(GrainId.Parse(generic)).Name());
    }

    public interface IHeard : IGrainObserver
    {
        Task Hear();
    }

    public interface INamed : IGrainWithStringKey
    {
        Task<string> Name();
    }

    public interface IBoxed<TFirst, TSecond> : INamed;

    public interface IOrigin : IGrainWithGuidKey
    {
        Task Ping();

        Task<string> ThereAndBack(IOrigin other, int sections);

        Task<string> Forward(IOrigin origin);

        Task<string> Back();

        Task<(bool Own, bool Stays, bool RunStays, int Overlaps)> Schedulers();

        Task<(bool Mutable, bool Twice, bool Immutable)> CallItself();

        [AlwaysInterleave]
        Task<bool> Twice(List<int> one, List<int> two);

        [AlwaysInterleave]
        Task Keep(List<int> mutable, [Immutable] int[] immutable);

        Task Leave();

        Task<T> Flaky<T>(T value);

        Task Tell(IHeard heard);

        Task Tick();

        Task Throw();

        Task ThrowPlain();

        Task<Parcel?[]> Echo(Parcel?[] parcels);
    }

    public interface ITraveller : IGrainWithGuidKey
    {
        Task Set(int value);

        Task<int> Get();

        Task Write();

        Task Leave();

        Task FailToPack();

        Task<int> Moves();

        Task<SiloAddress> Where();
    }

    [GenerateSerializer]
    public class Parcel
    {
        [Id(0)]
        public int Weight { get; set; }

        [Id(1)]
        public Parcel? Inside { get; set; }

        [Id(2)]
        public Foreign? Price { get; set; }
    }

    [GenerateSerializer]
    public sealed class FragileParcel(string of) : Parcel
    {
        [Id(0)]
        public string Of { get; } = of;
    }

    public sealed class Foreign(int cents, string currency)
    {
        public int Cents => cents;

        public string Currency => currency;
    }

    [GenerateSerializer]
    public struct ForeignSurrogate
    {
        [Id(0)]
        public int Cents;

        [Id(1)]
        public string Currency;
    }

    [RegisterConverter]
    public sealed class ForeignConverter : IConverter<Foreign, ForeignSurrogate>
    {
        public Foreign ConvertFromSurrogate(in ForeignSurrogate surrogate) => new(surrogate.Cents, surrogate.Currency);

        public ForeignSurrogate ConvertToSurrogate(in Foreign value) => new() { Cents = value.Cents, Currency = value.Currency };
    }

    [GenerateSerializer]
    public sealed class Luggage
    {
        [Id(0)]
        public int Value { get; set; }
    }

    public sealed class TravellerGrain([PersistentState("luggage")] IPersistentState<Luggage> luggage, ILocalSiloDetails silo)
        : Grain, ITraveller, IGrainMigrationParticipant
    {
        private int _moves;
        private bool _fails;

        public Task Set(int value)
        {
            luggage.State.Value = value;
            return Task.CompletedTask;
        }

        public Task<int> Get() => Task.FromResult(luggage.State.Value);

        public Task Write() => luggage.WriteStateAsync();

        public Task Leave()
        {
            this.MigrateOnIdle();
            return Task.CompletedTask;
        }

        public Task FailToPack()
        {
            _fails = true;
            return Task.CompletedTask;
        }

        public Task<int> Moves() => Task.FromResult(_moves);

        public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);

        public void OnDehydrate(IDehydrationContext context)
        {
            if (_fails)
                throw new InvalidOperationException("does not pack");
            context.TryAddValue("moves", _moves + 1);
        }

        public void OnRehydrate(IRehydrationContext context) => context.TryGetValue("moves", out _moves);
    }

    [GenerateSerializer]
    public sealed class OwnFailure : Exception
    {
        [Id(0)]
        public int Number { get; set; }
    }

    public sealed class PlainFailure(string message) : Exception(message);

    public sealed class Heard : IHeard
    {
        public Task Hear() => Task.CompletedTask;
    }

    public sealed class ClosedBoxGrain : Grain, IBoxed<int, string>
    {
        public Task<string> Name() => Task.FromResult("closed");
    }

    public sealed class OpenBoxGrain<TA, TB> : Grain, IBoxed<TB, TA>
    {
        public Task<string> Name() => Task.FromResult(typeof(TA).Name + " " + typeof(TB).Name);
    }

    /// <summary>Without the base class, as every grain may be.</summary>
    public sealed class OriginGrain(IGrainContext context, Watched.Notes notes) : IGrainBase, IOrigin
    {
        private List<int>? _kept;
        private int[]? _keptImmutable;
        private int _tries;

        public IGrainContext GrainContext => context;

        public Task OnActivateAsync(CancellationToken token) => context.GrainId.GetGuidKey() == Watched.Broken
            ? throw new InvalidOperationException("does not begin")
            : Task.CompletedTask;

        public Task OnDeactivateAsync(DeactivationReason reason, CancellationToken token)
        {
            notes.Deactivated.Enqueue(context.GrainId.GetGuidKey() + " " + reason.ReasonCode);
            return Task.CompletedTask;
        }

        public Task Ping() => Task.CompletedTask;

        public async Task<string> ThereAndBack(IOrigin other, int sections)
        {
            using var outer = RequestContext.AllowCallChainReentrancy();
            if (sections == 2)
            {
                using (RequestContext.AllowCallChainReentrancy())
                    await other.Forward(this.AsReference<IOrigin>());
            }

            return await other.Forward(this.AsReference<IOrigin>());
        }

        public Task<string> Forward(IOrigin origin) => origin.Back();

        public Task<string> Back() => Task.FromResult("back");

        public async Task<(bool Own, bool Stays, bool RunStays, int Overlaps)> Schedulers()
        {
            var own = TaskScheduler.Current;
            var stays = await Task.Factory.StartNew(() => TaskScheduler.Current == own, CancellationToken.None, TaskCreationOptions.None,
                TaskScheduler.Current);
            var runStays = await Task.Run(() => TaskScheduler.Current == own);
            var (running, overlaps) = (0, 0);
            await Task.WhenAll(Enumerable.Range(0, 20).Select(async _ =>
            {
                for (var step = 0; step < 5; step++)
                {
                    overlaps += Interlocked.Increment(ref running) > 1 ? 1 : 0;
                    Interlocked.Decrement(ref running);
                    await Task.Yield();
                }
            }));
            return (own != TaskScheduler.Default && TaskScheduler.Current == own, stays, runStays, overlaps);
        }

        public async Task<(bool Mutable, bool Twice, bool Immutable)> CallItself()
        {
            var self = this.AsReference<IOrigin>();
            List<int> mutable = [1];
            int[] immutable = [2];
            await self.Keep(mutable, immutable);
            return (ReferenceEquals(mutable, _kept), await self.Twice(mutable, mutable), ReferenceEquals(immutable, _keptImmutable));
        }

        public Task<bool> Twice(List<int> one, List<int> two) => Task.FromResult(ReferenceEquals(one, two));

        public Task Keep(List<int> mutable, int[] immutable)
        {
            (_kept, _keptImmutable) = (mutable, immutable);
            return Task.CompletedTask;
        }

        public Task Leave()
        {
            this.DeactivateOnIdle();
            return Task.CompletedTask;
        }

        public Task<T> Flaky<T>(T value) => ++_tries == 1 ? throw new TimeoutException("the first time") : Task.FromResult(value);

        public Task Tell(IHeard heard) => heard.Hear();

        public async Task Tick()
        {
            var ticked = new TaskCompletionSource();
            using var timer = this.RegisterGrainTimer(
                () =>
                {
                    ticked.TrySetResult();
                    return Task.CompletedTask;
                },
                new GrainTimerCreationOptions(TimeSpan.Zero, Timeout.InfiniteTimeSpan) { Interleave = true });
            await ticked.Task;
        }

        public Task Throw() => throw new OwnFailure { Number = 7 };

        public Task ThrowPlain() => throw new PlainFailure("without attributes");

        public Task<Parcel?[]> Echo(Parcel?[] parcels) => Task.FromResult(parcels);
    }

    public sealed class Watched() : ClusterFixture(2)
    {
        public static readonly Guid Broken = new("11111111-0000-0000-0000-000000000000");

        private readonly Notes _notes = new();

        public IEnumerable<string> Seen => _notes.Seen;

        public IEnumerable<string> Deactivated => _notes.Deactivated;

        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.Services.AddSingleton(_notes);
            silo.AddMemoryGrainStorageAsDefault();
            silo.AddIncomingGrainCallFilter(Watch);
            // No grain moves on its own, as it would after a second for a few messages.
            silo.Configure<LocalityOptions>(static options => options.MinRoundPeriod = options.MaxRoundPeriod = TimeSpan.FromHours(1));
        }

        protected override void ConfigureClient(IClientBuilder client) => client.AddIncomingGrainCallFilter(Watch);

        private async Task Watch(IIncomingGrainCallContext context)
        {
            var method = context.ImplementationMethod;
            var arguments = method.IsGenericMethod ? "[" + string.Join(",", method.GetGenericArguments().Select(static one =>
                one.Name)) + "]" : "";
            _notes.Seen.Enqueue(method.Name + arguments + " " + context.Grain.GetType().Name);
            try
            {
                await context.Invoke();
            }
            catch (TimeoutException) when (context.MethodName == nameof(IOrigin.Flaky))
            {
                await context.Invoke();
            }
        }

        public sealed class Notes
        {
            public ConcurrentQueue<string> Seen { get; } = new();

            public ConcurrentQueue<string> Deactivated { get; } = new();
        }
    }
}
