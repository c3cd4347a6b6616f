using System.Collections.Concurrent;
using System.Diagnostics;
using ActOp.Runtime.Diagnostics;
using ActOp.TestClusters;
using ActOp.Wire;

namespace ActOp.Calls.Tests;

/// <summary>
/// What listeners of the runtime's traces see, who is asked whether a trace is recorded, and what a call costs that none of them samples.
/// </summary>
[Collection(nameof(Alone))]
public class TraceTests(AllocationTests.OneWorker cluster) : IClassFixture<AllocationTests.OneWorker>
{
    private const string Runtime = "ActOp.Runtime";
    private const int Calls = 100_000;

    /// <summary>Bytes per call, as for calls without listeners.</summary>
    private const double Nothing = 0.05;

    [Theory]
    [InlineData(ActivitySamplingResult.None)]
    [InlineData(ActivitySamplingResult.PropagationData)]
    public async Task A_call_in_a_trace_that_nobody_records_allocates_nothing(ActivitySamplingResult dropped)
    {
        var caller = cluster.Grains.GetGrain<AllocationTests.ICaller>(11);
        var callee = cluster.Grains.GetGrain<AllocationTests.ICallee>(11);
        await Place.On(cluster.AddressOf(0), () => callee.Add(1, 2).AsTask());
        await Place.On(cluster.AddressOf(0), () => caller.AllocatedByThread(callee, 10));
        using var listener = Listen((ref ActivityCreationOptions<ActivityContext> _) => dropped, null);
        for (var round = 0; round < 5; round++)
            await caller.AllocatedByThread(callee, 20_000);
        Assert.InRange((double)await caller.AllocatedByThread(callee, Calls) / Calls, 0, Nothing);
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    [InlineData(1, 1)]
    public async Task A_trace_that_is_not_recorded_keeps_its_id_and_its_decision(int first, int second)
    {
        var grains = await PlaceAsync("unrecorded" + first + second, first, second);
        var stopped = new ConcurrentBag<Activity>();
        using var listener = Listen(Sample(ActivitySamplingResult.PropagationData), stopped.Add);
        using var parent = new Activity("web request").Start();
        var seen = await grains[0].Through(grains[1]);
        Assert.All(seen, one => Assert.Equal(parent.TraceId.ToHexString() + " " + ActivityTraceFlags.None, one));
        Assert.Same(parent, Activity.Current);
        Assert.DoesNotContain(stopped, activity => activity.IsAllDataRequested);
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public async Task A_trace_whose_call_nobody_samples_keeps_its_id_and_nobody_is_asked_again(int first, int second)
    {
        var grains = await PlaceAsync("none" + first + second, first, second);
        using var parent = new Activity("web request").Start();
        var asked = new ConcurrentQueue<ActivityTraceId>();
        using var listener = Listen(Asked(asked, ActivitySamplingResult.None), null);
        var seen = await grains[0].Through(grains[1]);
        Assert.Equal(parent.TraceId, Assert.Single(asked));
        Assert.All(seen, one => Assert.StartsWith(parent.TraceId.ToHexString(), one, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(ActivitySamplingResult.None, 0, 0)]
    [InlineData(ActivitySamplingResult.None, 0, 1)]
    [InlineData(ActivitySamplingResult.None, 1, 0)]
    [InlineData(ActivitySamplingResult.PropagationData, 0, 0)]
    [InlineData(ActivitySamplingResult.PropagationData, 0, 1)]
    [InlineData(ActivitySamplingResult.PropagationData, 1, 0)]
    public async Task Whether_a_trace_that_a_call_begins_is_recorded_is_asked_once(ActivitySamplingResult dropped, int first, int second)
    {
        var grains = await PlaceAsync("root" + dropped + first + second, first, second);
        var asked = new ConcurrentQueue<ActivityTraceId>();
        using var listener = Listen(Asked(asked, dropped), null);
        var seen = await grains[0].Through(grains[1]);
        Assert.Single(asked);
        Assert.Null(Activity.Current);
        // An id travels only if the sampler wants it to.
        Assert.Equal(dropped == ActivitySamplingResult.None ? "" : seen[0], Assert.Single(seen.Distinct()));
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public async Task Of_many_traces_those_that_are_sampled_are_recorded_and_each_is_whole(int first, int second)
    {
        const int Traces = 50;
        const int Share = 10;
        var grains = await PlaceAsync("many" + first + second, first, second);
        var stopped = new ConcurrentBag<Activity>();
        var (roots, asked) = (0, 0);
        using (Listen((ref ActivityCreationOptions<ActivityContext> options) =>
        {
            if (!IsOurs(options.Name))
                return ActivitySamplingResult.None;
            Interlocked.Increment(ref asked);
            var recorded = options.Parent.TraceId == default
                ? Interlocked.Increment(ref roots) % Share == 0
                : (options.Parent.TraceFlags & ActivityTraceFlags.Recorded) != 0;
            return recorded ? ActivitySamplingResult.AllDataAndRecorded : ActivitySamplingResult.PropagationData;
        }, stopped.Add))
        {
            for (var trace = 0; trace < Traces; trace++)
                await grains[0].Through(grains[1]);
        }

        Assert.Equal(Traces, roots);
        Assert.Equal(Traces + (3 * Traces / Share), asked);
        var recorded = stopped.GroupBy(static activity => activity.TraceId).ToArray();
        Assert.Equal(Traces / Share, recorded.Length);
        foreach (var trace in recorded)
        {
            Assert.Equal(4, trace.Count());
            var outer = Assert.Single(trace, activity => activity.ParentSpanId == default);
            Assert.Equal(ActivityKind.Client, outer.Kind);
            Assert.All(trace, activity => Assert.True(activity == outer || trace.Any(other => other.SpanId == activity.ParentSpanId)));
        }
    }

    [Theory]
    [InlineData(0.0, 0, 1, false)]
    [InlineData(0.25, 250, 0, false)]
    [InlineData(0.25, 250, 0, true)]
    [InlineData(0.25, 250, 1, false)]
    [InlineData(1.0, 1_000, 1, false)]
    public async Task A_share_of_the_calls_that_begin_a_trace_asks_and_each_trace_is_whole(
        double share, int expected, int second, bool withContext)
    {
        const int Roots = 1_000;
        await using var silos = await SilosInVirtualTime.Deploy(
            silo => silo.Configure<Configuration.CallTracingOptions>(options => options.RootShare = share));
        ITraced[] grains = [silos.Grains.GetGrain<ITraced>("share1"), silos.Grains.GetGrain<ITraced>("share2")];
        await Place.On(silos.AddressOf(0), () => grains[0].Trace());
        await Place.On(silos.AddressOf(second), () => grains[1].Trace());
        var asked = new ConcurrentQueue<ActivityTraceId>();
        var stopped = new ConcurrentBag<Activity>();
        if (withContext)
            RequestContext.Set("user", "one");
        using (Listen(Asked(asked, ActivitySamplingResult.AllDataAndRecorded), stopped.Add))
        {
            for (var root = 0; root < Roots; root++)
                await grains[0].Through(grains[1]);
        }

        RequestContext.Clear();
        // The threads of the pool take turns, and each counts for itself.
        Assert.InRange(asked.Count(static parent => parent == default), expected - 50, expected + 50);
        Assert.All(stopped.GroupBy(static span => span.TraceId), static trace => Assert.Equal(4, trace.Count()));
    }

    [Fact]
    public async Task A_share_that_is_none_is_refused_at_the_start()
    {
        foreach (var share in new[] { -0.1, 1.1, double.NaN })
        {
            var refused = await Assert.ThrowsAnyAsync<Exception>(() => SilosInVirtualTime.Deploy(
                silo => silo.Configure<Configuration.CallTracingOptions>(options => options.RootShare = share)));
            Assert.Contains("CallTracingOptions.RootShare", refused.ToString(), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_call_that_begins_no_trace_by_the_share_allocates_nothing()
    {
        await using var silos = await SilosInVirtualTime.Deploy(silo => silo
            .Configure<Configuration.StageOptions>(options => options.WorkThreads = 1)
            .Configure<Configuration.CallTracingOptions>(options => options.RootShare = 0));
        var caller = silos.Grains.GetGrain<AllocationTests.ICaller>(12);
        var callee = silos.Grains.GetGrain<AllocationTests.ICallee>(12);
        await Place.On(silos.AddressOf(0), () => callee.Add(1, 2).AsTask());
        await Place.On(silos.AddressOf(0), () => caller.AllocatedByThread(callee, 10));
        using var listener = Listen(Sample(ActivitySamplingResult.AllDataAndRecorded), null);
        for (var round = 0; round < 5; round++)
            await caller.AllocatedByThread(callee, 20_000);
        Assert.InRange((double)await caller.AllocatedByThread(callee, Calls) / Calls, 0, Nothing);
    }

    [Fact]
    public async Task A_recorded_call_has_a_span_on_either_side_and_the_callees_is_a_child_of_the_callers()
    {
        var grains = await PlaceAsync("recorded", 0, 1);
        var stopped = new ConcurrentBag<Activity>();
        using (Listen(Sample(ActivitySamplingResult.AllDataAndRecorded), stopped.Add))
            await grains[0].Through(grains[1]);
        var trace = stopped.Where(activity => activity.OperationName.EndsWith("Through", StringComparison.Ordinal)).ToArray();
        var client = Assert.Single(trace, activity => activity.Kind == ActivityKind.Client);
        var server = Assert.Single(trace, activity => activity.Kind == ActivityKind.Server);
        Assert.Equal(client.SpanId, server.ParentSpanId);
        var inner = Assert.Single(stopped, activity => activity.Kind == ActivityKind.Client && activity.TraceId == client.TraceId
            && activity.OperationName.EndsWith("/Trace", StringComparison.Ordinal));
        Assert.Equal(server.SpanId, inner.ParentSpanId);
    }

    [Theory]
    [InlineData(ActivitySamplingResult.PropagationData, 0)]
    [InlineData(ActivitySamplingResult.PropagationData, 1)]
    [InlineData(ActivitySamplingResult.AllDataAndRecorded, 0)]
    [InlineData(ActivitySamplingResult.AllDataAndRecorded, 1)]
    public async Task What_an_observer_hears_belongs_to_the_trace_of_whoever_told_it(ActivitySamplingResult sampled, int silo)
    {
        var grain = (await PlaceAsync("observed" + sampled + silo, silo, silo))[0];
        var observer = new Observer();
        var reference = cluster.Grains.CreateObjectReference<IObserved>(observer);
        var asked = new ConcurrentQueue<ActivityTraceId>();
        using var listener = Listen(Asked(asked, sampled), null);
        var seen = await grain.Tell(reference);
        Assert.Equal(seen[0], seen[1]);
        Assert.NotEqual("", seen[0]);
        Assert.Equal(sampled == ActivitySamplingResult.PropagationData ? 1 : 4, asked.Count);
        GC.KeepAlive(observer);
    }

    [Theory]
    [InlineData(ActivitySamplingResult.PropagationData)]
    [InlineData(ActivitySamplingResult.AllDataAndRecorded)]
    public async Task A_tick_begins_a_trace_of_its_own_which_its_calls_continue(ActivitySamplingResult sampled)
    {
        var grains = await PlaceAsync("ticking" + sampled, 0, 1);
        var asked = new ConcurrentQueue<ActivityTraceId>();
        using var listener = Listen(Asked(asked, sampled), null);
        using var parent = new Activity("web request").Start();
        await grains[0].Begin(grains[1]);
        asked.Clear();
        cluster.Clock.Advance(TimeSpan.FromSeconds(1));
        parent.Stop();
        var seen = await grains[0].Ticked();
        Assert.Equal(seen[0], seen[1]);
        Assert.DoesNotContain(parent.TraceId.ToHexString(), seen[0], StringComparison.Ordinal);
        // The tick, the call in it on both sides if it is recorded; and the question for what was seen, from outside.
        Assert.Equal(sampled == ActivitySamplingResult.PropagationData ? 1 + 1 : 3 + 2, asked.Count);
    }

    [Theory]
    [InlineData(ActivitySamplingResult.PropagationData, 0)]
    [InlineData(ActivitySamplingResult.PropagationData, 1)]
    [InlineData(ActivitySamplingResult.AllDataAndRecorded, 0)]
    [InlineData(ActivitySamplingResult.AllDataAndRecorded, 1)]
    public async Task What_an_activation_calls_while_it_begins_belongs_to_the_trace_that_it_begins_in(
        ActivitySamplingResult sampled, int silo)
    {
        var beginning = cluster.Grains.GetGrain<IBeginning>("beginning" + sampled + silo);
        using var listener = Listen(Sample(sampled), null);
        using var parent = new Activity("web request").Start();
        var seen = await Place.On(cluster.AddressOf(silo), () => beginning.Seen());
        Assert.StartsWith(parent.TraceId.ToHexString(), seen, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_trace_is_no_value_of_the_request_context(int silo)
    {
        var grains = await PlaceAsync("keys" + silo, silo, silo);
        using var listener = Listen(Sample(ActivitySamplingResult.AllDataAndRecorded), null);
        Assert.Empty(await grains[0].Keys());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_trace_that_nobody_here_has_a_span_of_goes_on_from_where_it_came(bool dropped)
    {
        var (trace, span) = (ActivityTraceId.CreateRandom(), ActivitySpanId.CreateRandom());
        var origin = new ActivityContext(trace, span, ActivityTraceFlags.Recorded, null, isRemote: true);
        var passed = new PassedTrace(origin, dropped);
        Assert.Null(Activity.Current);
        var read = Assert.IsType<TraceHeader>(Travel(passed));
        Assert.Equal(dropped, read.IsDropped);
        Assert.Equal(origin.TraceId, read.Context.TraceId);
        Assert.Equal(dropped ? passed.SpanId : origin.SpanId, read.Context.SpanId);
        Assert.Equal(origin.TraceFlags, read.Context.TraceFlags);
        // Sent on, it stays what it was.
        Assert.Equal(read.Context, Assert.IsType<TraceHeader>(Travel(read)).Context);
        Assert.Same(UnknownTrace.Instance, Travel(UnknownTrace.Instance));
    }

    private static object? Travel(object trace)
    {
        var buffer = new WireBuffer();
        var session = new WireSession(null);
        var writer = new WireWriter(buffer, session);
        TraceHeader.Write(ref writer, trace);
        writer.Commit();
        var reader = new WireReader(buffer.Written, session);
        return TraceHeader.Read(ref reader);
    }

    private async Task<ITraced[]> PlaceAsync(string key, int first, int second)
    {
        var grains = new[] { cluster.Grains.GetGrain<ITraced>(key + "1"), cluster.Grains.GetGrain<ITraced>(key + "2") };
        await Place.On(cluster.AddressOf(first), () => grains[0].Trace());
        await Place.On(cluster.AddressOf(second), () => grains[1].Trace());
        return grains;
    }

    private static ActivityListener Listen(SampleActivity<ActivityContext> sample, Action<Activity>? stopped)
    {
        var listener =
            new ActivityListener { ShouldListenTo = source => source.Name == Runtime, Sample = sample, ActivityStopped = stopped };
        ActivitySource.AddActivityListener(listener);
        return listener;
    }

    private static SampleActivity<ActivityContext> Sample(ActivitySamplingResult result) =>
        (ref ActivityCreationOptions<ActivityContext> _) => result;

    private static SampleActivity<ActivityContext> Asked(ConcurrentQueue<ActivityTraceId> asked, ActivitySamplingResult result) =>
        (ref ActivityCreationOptions<ActivityContext> options) =>
        {
            if (!IsOurs(options.Name))
                return ActivitySamplingResult.None;
            asked.Enqueue(options.Parent.TraceId);
            return result;
        };

    /// <summary>The silos call each other at any time.</summary>
    private static bool IsOurs(string name) =>
        name.Contains(nameof(ITraced), StringComparison.Ordinal)
        || name.Contains(nameof(IObserved), StringComparison.Ordinal)
        || name.Contains("Timer", StringComparison.Ordinal);

    private static string Current =>
        Activity.Current is { } current ? current.TraceId.ToHexString() + " " + current.ActivityTraceFlags : "";

    public interface ITraced : IGrainWithStringKey
    {
        Task<string> Trace();

        Task<string[]> Through(ITraced other);

        Task<string[]> Tell(IObserved observer);

        Task Begin(ITraced other);

        Task<string[]> Ticked();

        Task<string[]> Keys();
    }

    public interface IObserved : IGrainObserver
    {
        Task<string> Hear();
    }

    public interface IBeginning : IGrainWithStringKey
    {
        Task<string> Seen();
    }

    public sealed class Observer : IObserved
    {
        public Task<string> Hear() => Task.FromResult(Current);
    }

    public sealed class TracedGrain : Grain, ITraced
    {
        private string[] _ticked = [];

        public Task<string> Trace() => Task.FromResult(Current);

        public async Task<string[]> Through(ITraced other)
        {
            var own = await Trace();
            await Task.Yield();
            return [own, await Trace(), await other.Trace()];
        }

        public async Task<string[]> Tell(IObserved observer) => [Current, await observer.Hear()];

        public Task Begin(ITraced other)
        {
            Func<Task> tick = async () => _ticked = [Current, await other.Trace()];
            this.RegisterGrainTimer(tick, TimeSpan.FromSeconds(1), Timeout.InfiniteTimeSpan);
            return Task.CompletedTask;
        }

        public Task<string[]> Ticked() => Task.FromResult(_ticked);

        public Task<string[]> Keys() => Task.FromResult(RequestContext.Keys.ToArray());
    }

    public sealed class BeginningGrain : Grain, IBeginning
    {
        private string _seen = "";

        public override async Task OnActivateAsync(CancellationToken cancellationToken) =>
            _seen = await GrainFactory.GetGrain<ITraced>(this.GetPrimaryKeyString()).Trace();

        public Task<string> Seen() => Task.FromResult(_seen);
    }
}
