using System.Diagnostics;
using ActOp.Tests.Clusters;

namespace ActOp.Tests.Calls;

/// <summary>What listeners of the runtime's traces see, and what a call costs that none of them samples.</summary>
[Collection(nameof(Alone))]
public class TraceTests(AllocationTests.OneWorker cluster) : IClassFixture<AllocationTests.OneWorker>
{
    private const string Runtime = "ActOp.Runtime";
    private const int Calls = 100_000;

    /// <summary>
    /// What .NET itself takes to ask the listeners on both sides, two boxed contexts, until its code is optimised. The path by way of
    /// filters takes 1,300 bytes.
    /// </summary>
    private const double Sampling = 128;

    [Fact]
    public async Task A_call_that_no_listener_samples_takes_the_short_path()
    {
        var caller = cluster.Grains.GetGrain<AllocationTests.ICaller>(11);
        var callee = cluster.Grains.GetGrain<AllocationTests.ICallee>(11);
        await Place.On(cluster.AddressOf(0), () => callee.Add(1, 2).AsTask());
        await Place.On(cluster.AddressOf(0), () => caller.AllocatedByThread(callee, 10));
        using var listener = Listen(static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.None, null);
        await caller.AllocatedByThread(callee, 20_000);
        Assert.InRange((double)await caller.AllocatedByThread(callee, Calls) / Calls, 0, Sampling);
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    [InlineData(1, 1)]
    public async Task A_trace_that_is_not_recorded_keeps_its_id_and_its_decision(int first, int second)
    {
        var grains = await PlaceAsync("unrecorded" + first + second, first, second);
        var stopped = new System.Collections.Concurrent.ConcurrentBag<Activity>();
        using var listener = Listen(Sample(ActivitySamplingResult.PropagationData), stopped.Add);
        using var parent = new Activity("web request").Start();
        var seen = await grains[0].Through(grains[1]);
        Assert.All(seen, one => Assert.Equal(parent.TraceId.ToHexString() + " " + ActivityTraceFlags.None, one));
        Assert.Same(parent, Activity.Current);
        Assert.DoesNotContain(stopped, activity => activity.IsAllDataRequested);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public async Task A_trace_whose_calls_nobody_samples_keeps_its_id(int first, int second)
    {
        var grains = await PlaceAsync("none" + first + second, first, second);
        using var parent = new Activity("web request").Start();
        var parents = new System.Collections.Concurrent.ConcurrentQueue<ActivityTraceId>();
        using var listener = Listen((ref ActivityCreationOptions<ActivityContext> options) =>
        {
            // The silos call each other at any time.
            if (options.Name.Contains(nameof(ITraced), StringComparison.Ordinal))
                parents.Enqueue(options.Parent.TraceId);
            return ActivitySamplingResult.None;
        }, null);
        await grains[0].Through(grains[1]);
        Assert.Equal(4, parents.Count);
        Assert.All(parents, id => Assert.Equal(parent.TraceId, id));
    }

    [Fact]
    public async Task A_recorded_call_has_a_span_on_either_side_and_the_callees_is_a_child_of_the_callers()
    {
        var grains = await PlaceAsync("recorded", 0, 1);
        var stopped = new System.Collections.Concurrent.ConcurrentBag<Activity>();
        using (Listen(Sample(ActivitySamplingResult.AllDataAndRecorded), stopped.Add))
            await grains[0].Through(grains[1]);
        var trace = stopped.Where(activity => activity.OperationName.EndsWith("Through", StringComparison.Ordinal)).ToArray();
        var client = Assert.Single(trace, activity => activity.Kind == ActivityKind.Client);
        var server = Assert.Single(trace, activity => activity.Kind == ActivityKind.Server);
        Assert.Equal(client.SpanId, server.ParentSpanId);
        var inner = Assert.Single(stopped, activity => activity.Kind == ActivityKind.Client && activity.TraceId == client.TraceId && activity.OperationName.EndsWith("/Trace", StringComparison.Ordinal));
        Assert.Equal(server.SpanId, inner.ParentSpanId);
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
        var listener = new ActivityListener { ShouldListenTo = source => source.Name == Runtime, Sample = sample, ActivityStopped = stopped };
        ActivitySource.AddActivityListener(listener);
        return listener;
    }

    private static SampleActivity<ActivityContext> Sample(ActivitySamplingResult result) => (ref ActivityCreationOptions<ActivityContext> _) => result;

    public interface ITraced : IGrainWithStringKey
    {
        Task<string> Trace();

        Task<string[]> Through(ITraced other);
    }

    public sealed class TracedGrain : Grain, ITraced
    {
        public Task<string> Trace() => Task.FromResult(Activity.Current is { } current ? current.TraceId.ToHexString() + " " + current.ActivityTraceFlags : "");

        public async Task<string[]> Through(ITraced other)
        {
            var own = await Trace();
            await Task.Yield();
            return [own, await Trace(), await other.Trace()];
        }
    }
}
