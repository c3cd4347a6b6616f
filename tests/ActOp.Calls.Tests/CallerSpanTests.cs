using System.Collections.Concurrent;
using System.Diagnostics;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>The span of a caller ends once, with the answer, however the call ends; what the caller does then is not part of it.</summary>
[Collection(nameof(Alone))]
public class CallerSpanTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_span_ends_with_the_answer_and_the_caller_goes_on_in_the_activity_that_it_has_begun_meanwhile(int silo)
    {
        await using var cluster = await Cluster.Begin(silo);
        using var outer = new Activity("outer").Start();
        var call = cluster.Grain.Answer();
        using var inner = new Activity("inner").Start();
        await call;
        Assert.Same(inner, Activity.Current);
        Assert.Equal(outer.SpanId, cluster.Ended(nameof(ICalledWithSpan.Answer)).ParentSpanId);
        // The same with the value task of a method, which its caller asks for the result.
        await cluster.Grain.Value();
        Assert.Same(inner, Activity.Current);
        Assert.Equal(inner.SpanId, cluster.Ended(nameof(ICalledWithSpan.Value)).ParentSpanId);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_call_that_fails_has_a_span_with_the_error(int silo)
    {
        await using var cluster = await Cluster.Begin(silo);
        await Assert.ThrowsAsync<FormatException>(cluster.Grain.Fail);
        var span = cluster.Ended(nameof(ICalledWithSpan.Fail));
        Assert.Equal(ActivityStatusCode.Error, span.Status);
        Assert.Single(span.Events);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_call_that_gets_no_answer_has_a_span_that_ends_with_its_time(int silo)
    {
        await using var cluster = await Cluster.Begin(silo);
        await Assert.ThrowsAsync<TimeoutException>(() => cluster.Silos.AskAll([cluster.Grain.Hang()]));
        Assert.Equal(ActivityStatusCode.Error, cluster.Ended(nameof(ICalledWithSpan.Hang)).Status);
        await cluster.Grain.Free();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_call_without_an_answer_has_a_span_of_its_sending(int silo)
    {
        await using var cluster = await Cluster.Begin(silo);
        await cluster.Grain.Note();
        Assert.Equal(ActivityStatusCode.Unset, cluster.Ended(nameof(ICalledWithSpan.Note)).Status);
        Assert.Null(Activity.Current);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Both_spans_name_the_grain_and_write_its_name_once_in_a_process(int silo)
    {
        await using var cluster = await Cluster.Begin(silo);
        await cluster.Grain.Value();
        var names = cluster.All(nameof(ICalledWithSpan.Value)).Select(static span => span.GetTagItem("actop.grain")).ToArray();
        Assert.Equal([cluster.Grain.GetGrainId().ToString(), cluster.Grain.GetGrainId().ToString()], names);
        Assert.Equal(silo == 0, ReferenceEquals(names[0], names[1]));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_sender_of_a_recorded_call_keeps_its_activity_also_where_no_context_flows(bool suppressed)
    {
        await using var cluster = await Cluster.Begin(0);
        using var outer = new Activity("outer").Start();
        ValueTask<int> call;
        using (suppressed ? ExecutionContext.SuppressFlow() : default(AsyncFlowControl?))
        {
            call = cluster.Grain.Value();
            Assert.Same(outer, Activity.Current);
        }

        await call;
        Assert.Equal(outer.SpanId, cluster.Ended(nameof(ICalledWithSpan.Value)).ParentSpanId);
    }

    public interface ICalledWithSpan : IGrainWithStringKey
    {
        Task Answer();

        ValueTask<int> Value();

        Task Fail();

        [ResponseTimeout("00:00:05")]
        Task<int> Hang();

        [AlwaysInterleave]
        Task Free();

        [OneWay]
        Task Note();
    }

    public sealed class CalledWithSpanGrain : Grain, ICalledWithSpan
    {
        private readonly TaskCompletionSource<int> _free = new();

        public Task Answer() => Task.CompletedTask;

        public ValueTask<int> Value() => new(1);

        public Task Fail() => Task.FromException(new FormatException("as asked"));

        public Task<int> Hang() => _free.Task;

        public Task Free()
        {
            _free.SetResult(1);
            return Task.CompletedTask;
        }

        public Task Note() => Task.CompletedTask;
    }

    private sealed class Cluster : IAsyncDisposable
    {
        private readonly ConcurrentQueue<Activity> _ended = new();
        private ActivityListener _listener = null!;

        internal SilosInVirtualTime Silos { get; private init; } = null!;

        internal ICalledWithSpan Grain { get; private init; } = null!;

        /// <summary>From then on everything is recorded.</summary>
        internal static async Task<Cluster> Begin(int silo)
        {
            var silos = await SilosInVirtualTime.Deploy();
            var cluster = new Cluster { Silos = silos, Grain = silos.Grains.GetGrain<ICalledWithSpan>("called") };
            await Place.On(silos.AddressOf(silo), cluster.Grain.Answer);
            cluster._listener = new ActivityListener
            {
                ShouldListenTo = static source => source.Name == "ActOp.Runtime",
                Sample = static (ref _) => ActivitySamplingResult.AllDataAndRecorded,
                ActivityStopped = cluster._ended.Enqueue,
            };
            ActivitySource.AddActivityListener(cluster._listener);
            return cluster;
        }

        /// <summary>The only span of the caller of a method, which has ended.</summary>
        internal Activity Ended(string method)
        {
            var span = Assert.Single(
                _ended, one => one.Kind == ActivityKind.Client && one.OperationName.EndsWith("/" + method, StringComparison.Ordinal));
            Assert.True(span.IsStopped);
            return span;
        }

        /// <summary>The spans of a method on both sides, which have ended.</summary>
        internal IEnumerable<Activity> All(string method) =>
            _ended.Where(one => one.OperationName.EndsWith("/" + method, StringComparison.Ordinal));

        public ValueTask DisposeAsync()
        {
            _listener.Dispose();
            return Silos.DisposeAsync();
        }
    }
}
