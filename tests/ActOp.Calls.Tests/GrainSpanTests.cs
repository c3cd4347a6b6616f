using System.Diagnostics;
using ActOp.TestClusters;
using Orleans.Core.Internal;
using Orleans.Diagnostics;
using Orleans.Placement;
using Orleans.Runtime.Placement;

namespace ActOp.Calls.Tests;

/// <summary>Spans of placement, start, end, migration and storage of grains: their parents on other silos, and what failures do.</summary>
[Collection(nameof(Alone))]
public class GrainSpanTests(GrainSpanTests.Traced cluster) : IClassFixture<GrainSpanTests.Traced>
{
    private const string OfTest = "GrainSpanTests";

    private static readonly ActivitySource Test = new(OfTest);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task The_first_call_of_a_grain_shows_how_it_was_placed_and_started(int silo)
    {
        using var recorder = new Recorder();
        var grain = cluster.Client.GetGrain<ISpanned>("first" + silo);
        using (var root = Test.StartActivity("root"))
            await Place.On(cluster.AddressOf(silo), () => grain.Get());
        var call = recorder.Find("Get", ActivityKind.Client);
        var placed = recorder.Find("place grain");
        Assert.Equal(call.SpanId, placed.ParentSpanId);
        var start = recorder.Find("activate grain");
        Assert.Equal(call.SpanId, start.ParentSpanId);
        Assert.Equal(ActivitySources.LifecycleActivitySourceName, start.Source.Name);
        Assert.Equal(grain.GetGrainId().ToString(), start.GetTagItem("orleans.grain.id"));
        Assert.Equal(grain.GetGrainId().Type.ToString(), start.GetTagItem("orleans.grain.type"));
        Assert.Equal(cluster.AddressOf(silo).ToString(), start.GetTagItem("orleans.silo.id"));
        Assert.Equal("new", start.GetTagItem("orleans.activation.cause"));
        Assert.NotNull(start.GetTagItem("orleans.activation.id"));
        var registered = recorder.Find("register directory entry");
        Assert.Equal(start.SpanId, registered.ParentSpanId);
        Assert.Equal(false, registered.GetTagItem("orleans.directory.previousRegistration.present"));
        Assert.Equal(start.SpanId, recorder.Find("execute OnActivateAsync").ParentSpanId);
        var read = recorder.Find("read storage");
        Assert.Equal(start.SpanId, read.ParentSpanId);
        Assert.Equal(ActivitySources.StorageActivitySourceName, read.Source.Name);
        Assert.Equal("MemoryGrainStorage", read.GetTagItem("orleans.storage.provider"));
        Assert.Equal("box", read.GetTagItem("orleans.storage.state.name"));
        Assert.Equal(nameof(Box), read.GetTagItem("orleans.storage.state.type"));
        Assert.Equal(grain.GetGrainId().ToString(), read.GetTagItem("orleans.grain.id"));
        recorder.IsWhole();
        Assert.All(recorder.Ours, static span => Assert.Equal(ActivityStatusCode.Unset, span.Status));
    }

    [Fact]
    public async Task Each_filter_of_a_placement_has_a_span_within_that_of_the_placement()
    {
        using var recorder = new Recorder();
        using (Test.StartActivity("root"))
            await cluster.Client.GetGrain<ISieved>("sieved").Get();
        var placed = recorder.Find("place grain");
        var filters = recorder.Ours.Where(static span => span.OperationName == "filter placement candidates").ToArray();
        Assert.All(filters, span => Assert.Equal(placed.SpanId, span.ParentSpanId));
        Assert.Equal(
            [nameof(FirstFilter), nameof(SecondFilter)],
            filters.OrderBy(static span => span.StartTimeUtc).Select(static span => span.GetTagItem("orleans.placement.filter.type")));
        recorder.IsWhole();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_move_is_one_trace_from_its_request_to_the_start_on_the_other_silo(int target)
    {
        var grain = cluster.Client.GetGrain<ISpanned>("moved" + target);
        await Place.On(cluster.AddressOf(1 - target), () => grain.Get());
        using var recorder = new Recorder();
        var ended = recorder.Stopped("deactivate grain");
        var started = recorder.Stopped("activate grain");
        using (Test.StartActivity("root"))
        {
            await Place.On(cluster.AddressOf(target), () => grain.AsReference<IGrainManagementExtension>().MigrateOnIdle().AsTask());
            // The other silo answers before it has noted the end of the start.
            await Task.WhenAll(ended, started).WaitAsync(Gate.Patience);
        }

        var end = recorder.Find("deactivate grain");
        Assert.Contains("Migrating", (string)end.GetTagItem("orleans.deactivation.reason")!, StringComparison.Ordinal);
        Assert.Equal(end.SpanId, recorder.Find("execute OnDeactivateAsync").ParentSpanId);
        var dehydrated = recorder.Find("dehydrate activation");
        Assert.Equal(end.SpanId, dehydrated.ParentSpanId);
        Assert.Equal(cluster.AddressOf(target).ToString(), dehydrated.GetTagItem("orleans.migration.target.silo"));
        Assert.Equal(end.SpanId, recorder.Find("wait migration").ParentSpanId);
        var start = recorder.Find("activate grain");
        Assert.Equal(end.SpanId, start.ParentSpanId);
        Assert.Equal("rehydrate", start.GetTagItem("orleans.activation.cause"));
        Assert.Equal(cluster.AddressOf(target).ToString(), start.GetTagItem("orleans.silo.id"));
        var rehydrated = recorder.Find("rehydrate activation");
        Assert.Equal(start.SpanId, rehydrated.ParentSpanId);
        Assert.NotNull(rehydrated.GetTagItem("orleans.rehydrate.previousRegistration"));
        Assert.DoesNotContain(recorder.Ours, static span => span.OperationName == "read storage");
        recorder.IsWhole();
    }

    [Fact]
    public async Task An_end_belongs_to_the_trace_of_the_call_that_has_asked_for_it()
    {
        var grain = cluster.Client.GetGrain<ISpanned>("ended");
        await grain.Get();
        using var recorder = new Recorder();
        var ended = recorder.Stopped("deactivate grain");
        using (Test.StartActivity("root"))
        {
            await grain.End();
            await ended.WaitAsync(Gate.Patience);
        }

        var end = recorder.Find("deactivate grain");
        Assert.Equal(recorder.Find("End", ActivityKind.Server).SpanId, end.ParentSpanId);
        Assert.Contains("ApplicationRequested", (string)end.GetTagItem("orleans.deactivation.reason")!, StringComparison.Ordinal);
        var hook = recorder.Find("execute OnDeactivateAsync");
        Assert.Contains("ApplicationRequested", (string)hook.GetTagItem("orleans.deactivation.reason")!, StringComparison.Ordinal);
        Assert.Equal(hook.SpanId, recorder.Find("write storage").ParentSpanId);
        recorder.IsWhole();
    }

    [Fact]
    public async Task A_step_that_fails_sets_the_status_of_its_span()
    {
        using var recorder = new Recorder();
        var ended = recorder.Stopped("deactivate grain");
        using (Test.StartActivity("root"))
        {
            await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.GetGrain<IBroken>("start").Get());
            await Assert.ThrowsAnyAsync<OrleansException>(() => cluster.Client.GetGrain<INowhere>("nowhere").Get());
            var grain = cluster.Client.GetGrain<IBroken>("end");
            await Assert.ThrowsAnyAsync<OrleansException>(() => grain.Get());
            await grain.End();
            await ended.WaitAsync(Gate.Patience);
        }

        Failed("execute OnActivateAsync", "cannot start");
        Failed("activate grain", "cannot start");
        Failed("place grain", "filters leave no silo");
        Failed("write storage", "cannot write");
        Failed("execute OnDeactivateAsync", "cannot end");
        recorder.IsWhole();

        void Failed(string name, string why)
        {
            var span = Assert.Single(recorder.Ours, one => one.OperationName == name && one.Status == ActivityStatusCode.Error);
            Assert.Contains(why, span.StatusDescription!, StringComparison.Ordinal);
            Assert.Contains(span.Events, static what => what.Name == "exception");
        }
    }

    [Theory]
    [InlineData("sample")]
    [InlineData("start")]
    [InlineData("stop")]
    [InlineData("exception")]
    public async Task A_listener_that_throws_hurts_no_grain(string when)
    {
        using var recorder = new Recorder { ThrowsAt = when };
        using var root = new Activity("root").Start();
        var grain = cluster.Client.GetGrain<ISpanned>("thrown" + when);
        await Place.On(cluster.AddressOf(1), () => grain.Get()).WaitAsync(Gate.Patience);
        await Place.On(cluster.AddressOf(0), () => grain.AsReference<IGrainManagementExtension>().MigrateOnIdle().AsTask());
        await grain.End().WaitAsync(Gate.Patience);
        Assert.Equal(0, await grain.Get().WaitAsync(Gate.Patience));
        await cluster.Client.GetGrain<ISieved>("thrown" + when).Get().WaitAsync(Gate.Patience);
        await Assert.ThrowsAsync<InvalidOperationException>(
            () => cluster.Client.GetGrain<IBroken>("start" + when).Get().WaitAsync(Gate.Patience));
        await cluster.Cluster.NothingInFlightAsync();
    }

    [Theory]
    [InlineData(ActivitySamplingResult.None)]
    [InlineData(ActivitySamplingResult.PropagationData)]
    public async Task In_a_trace_that_is_not_recorded_nobody_is_asked_again(ActivitySamplingResult dropped)
    {
        using var recorder = new Recorder { Result = dropped };
        var grain = cluster.Client.GetGrain<ISpanned>("dropped" + dropped);
        await Place.On(cluster.AddressOf(1), () => grain.Get());
        await Place.On(cluster.AddressOf(0), () => grain.AsReference<IGrainManagementExtension>().MigrateOnIdle().AsTask());
        await grain.Get();
        Assert.DoesNotContain(recorder.Asked, static name => name.Contains("grain", StringComparison.Ordinal)
            || name.Contains("storage", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Without_a_listener_to_calls_the_spans_of_lives_still_belong_to_the_callers_trace()
    {
        using var recorder = new Recorder(calls: false);
        await cluster.Client.GetGrain<ISpanned>("warm").Get();
        using (Test.StartActivity("root"))
            await Place.On(cluster.AddressOf(1), () => cluster.Client.GetGrain<ISpanned>("cold").Get());
        var root = recorder.Find("root");
        Assert.Equal(root.SpanId, recorder.Find("activate grain").ParentSpanId);
        Assert.Equal(root.SpanId, recorder.Find("place grain").ParentSpanId);
        recorder.IsWhole();
    }

    /// <summary>Collects what ends, and tells the trace of the test from those of others.</summary>
    private sealed class Recorder : IDisposable
    {
        private readonly Lock _gate = new();
        private readonly List<Activity> _stopped = [];
        private readonly List<string> _asked = [];
        private readonly List<(string Name, TaskCompletionSource Source)> _waits = [];
        private readonly ActivityListener _listener;

        public Recorder(bool calls = true)
        {
            _listener = new ActivityListener
            {
                ShouldListenTo = source => source.Name == OfTest
                    || (source.Name.StartsWith("Microsoft.Orleans.", StringComparison.Ordinal)
                        && (calls || source.Name != ActivitySources.ApplicationGrainActivitySourceName)),
                Sample = Sample,
                ActivityStarted = _ => ThrowIf("start"),
                ActivityStopped = Stop,
                ExceptionRecorder = (Activity _, Exception _, ref TagList _) => ThrowIf("exception"),
            };
            ActivitySource.AddActivityListener(_listener);
        }

        public string? ThrowsAt { get; init; }

        public ActivitySamplingResult Result { get; init; } = ActivitySamplingResult.AllDataAndRecorded;

        public IReadOnlyList<string> Asked
        {
            get
            {
                lock (_gate)
                    return [.. _asked];
            }
        }

        public IReadOnlyList<Activity> Ours
        {
            get
            {
                lock (_gate)
                {
                    var root = _stopped.Single(static span => span.OperationName == "root");
                    return [.. _stopped.Where(span => span.TraceId == root.TraceId)];
                }
            }
        }

        public Activity Find(string name, ActivityKind? kind = null) => Assert.Single(Ours, span =>
            (span.OperationName == name || span.OperationName.EndsWith("/" + name, StringComparison.Ordinal))
            && (kind is null || span.Kind == kind));

        public void IsWhole() => Assert.All(Ours, span =>
            Assert.True(span.OperationName == "root" || Ours.Any(other => other.SpanId == span.ParentSpanId), span.OperationName));

        public Task Stopped(string name)
        {
            var source = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_gate)
                _waits.Add((name, source));
            return source.Task;
        }

        public void Dispose() => _listener.Dispose();

        private ActivitySamplingResult Sample(ref ActivityCreationOptions<ActivityContext> options)
        {
            ThrowIf("sample");
            lock (_gate)
                _asked.Add(options.Name);
            return Result;
        }

        private void Stop(Activity activity)
        {
            lock (_gate)
            {
                _stopped.Add(activity);
                foreach (var (name, source) in _waits)
                {
                    if (name == activity.OperationName)
                        source.TrySetResult();
                }
            }

            ThrowIf("stop");
        }

        private void ThrowIf(string what)
        {
            if (ThrowsAt == what)
                throw new FormatException(what);
        }
    }

    public sealed class Traced() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.AddMemoryGrainStorageAsDefault();
            silo.Services.AddKeyedSingleton<Orleans.Storage.IGrainStorage>("broken", new BrokenStorage());
            silo.Services.AddPlacementFilter<FirstFilter, PassingDirector>(ServiceLifetime.Singleton);
            silo.Services.AddPlacementFilter<SecondFilter, PassingDirector>(ServiceLifetime.Singleton);
            silo.Services.AddPlacementFilter<NoFilter, EmptyDirector>(ServiceLifetime.Singleton);
        }
    }

    public interface ISpanned : IGrainWithStringKey
    {
        Task<int> Get();

        Task End();
    }

    public interface ISieved : IGrainWithStringKey
    {
        Task Get();
    }

    public interface INowhere : IGrainWithStringKey
    {
        Task Get();
    }

    public interface IBroken : IGrainWithStringKey
    {
        Task Get();

        Task End();
    }

    [GenerateSerializer]
    public sealed class Box
    {
        [Id(0)]
        public int Value { get; set; }
    }

    public sealed class SpannedGrain([PersistentState("box")] IPersistentState<Box> box) : Grain, ISpanned, IGrainMigrationParticipant
    {
        public Task<int> Get() => Task.FromResult(box.State.Value);

        public Task End()
        {
            DeactivateOnIdle();
            return Task.CompletedTask;
        }

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) =>
            reason.ReasonCode == DeactivationReasonCode.Migrating ? Task.CompletedTask : box.WriteStateAsync(cancellationToken);

        public void OnDehydrate(IDehydrationContext dehydrationContext)
        {
        }

        public void OnRehydrate(IRehydrationContext rehydrationContext)
        {
        }
    }

    [FirstFilter]
    [SecondFilter]
    public sealed class SpanSievedGrain : Grain, ISieved
    {
        public Task Get() => Task.CompletedTask;
    }

    [NoFilter]
    public sealed class SpanNowhereGrain : Grain, INowhere
    {
        public Task Get() => Task.CompletedTask;
    }

    public sealed class SpanBrokenGrain : Grain, IBroken
    {
        private readonly Orleans.Core.IStorage _box;

        public SpanBrokenGrain(IPersistentStateFactory states, IGrainContext context) =>
            _box = states.Create<Box>(context, new BoxConfiguration());

        public Task Get() => _box.WriteStateAsync();

        public Task End()
        {
            DeactivateOnIdle();
            return Task.CompletedTask;
        }

        public override Task OnActivateAsync(CancellationToken cancellationToken) =>
            this.GetPrimaryKeyString().StartsWith("start", StringComparison.Ordinal)
                ? throw new InvalidOperationException("cannot start")
                : Task.CompletedTask;

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) =>
            throw new InvalidOperationException("cannot end");

        private sealed class BoxConfiguration : IPersistentStateConfiguration
        {
            public string StateName => "box";

            public string StorageName => "broken";
        }
    }

    private sealed class BrokenStorage : Orleans.Storage.IGrainStorage
    {
        public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Task.CompletedTask;

        public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
            throw new InvalidOperationException("cannot write");

        public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Task.CompletedTask;
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class FirstFilterAttribute() : PlacementFilterAttribute(new FirstFilter());

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class SecondFilterAttribute() : PlacementFilterAttribute(new SecondFilter());

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class NoFilterAttribute() : PlacementFilterAttribute(new NoFilter());

    public sealed class FirstFilter() : PlacementFilterStrategy(1);

    public sealed class SecondFilter() : PlacementFilterStrategy(2);

    public sealed class NoFilter() : PlacementFilterStrategy(1);

    public sealed class PassingDirector : IPlacementFilterDirector
    {
        public IEnumerable<SiloAddress> Filter(
            PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos) => silos;
    }

    public sealed class EmptyDirector : IPlacementFilterDirector
    {
        public IEnumerable<SiloAddress> Filter(
            PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos) => [];
    }
}
