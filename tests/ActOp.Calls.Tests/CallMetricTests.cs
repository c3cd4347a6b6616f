using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using ActOp.Runtime.Diagnostics;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging.Abstractions;

namespace ActOp.Calls.Tests;

/// <summary>What a listener learns of calls, and what it cannot do to them.</summary>
[Collection(nameof(Alone))]
public class CallMetricTests(AllocationTests.OneWorker cluster) : IClassFixture<AllocationTests.OneWorker>
{
    private const string Duration = "actop.calls.duration";
    private const string Latency = "orleans-app-requests-latency";

    [Fact]
    public async Task A_call_is_timed_with_its_method_grain_type_and_outcome()
    {
        var heard = new ConcurrentQueue<string>();
        using var listener = Listen((instrument, _, tags) =>
        {
            if (instrument == Duration && Value(tags, "method").Contains(nameof(IMeasured), StringComparison.Ordinal))
                heard.Enqueue(Value(tags, "method").Split('.')[^1] + " " + Value(tags, "grain_type") + " " + Value(tags, "outcome"));
        });
        var grain = cluster.Grains.GetGrain<IMeasured>(1);
        await grain.Answer();
        await Assert.ThrowsAsync<IOException>(grain.Fail);
        var cancelled = await Record.ExceptionAsync(grain.Cancel);
        Assert.IsAssignableFrom<OperationCanceledException>(cancelled);
        Assert.Equal(["IMeasured/Answer measured ok", "IMeasured/Fail measured failed", "IMeasured/Cancel measured cancelled"], heard);
    }

    [Fact]
    public async Task The_latency_has_the_name_and_the_unit_of_Orleans()
    {
        var heard = 0;
        using var listener = Listen((instrument, _, tags) => heard += instrument == Latency && tags.IsEmpty ? 1 : 0);
        await cluster.Grains.GetGrain<IMeasured>(2).Answer();
        Assert.NotEqual(0, heard);
    }

    [Fact]
    public async Task A_listener_that_throws_changes_nothing_for_the_caller()
    {
        var thrown = 0;
        using (Listen((_, _, _) =>
        {
            Interlocked.Increment(ref thrown);
            throw new InvalidOperationException("a listener");
        }))
        {
            var grain = cluster.Grains.GetGrain<IMeasured>(3);
            await grain.Answer();
            await Assert.ThrowsAsync<IOException>(grain.Fail);
            await cluster.Grains.GetGrain<IMeasured>(4).Ask(grain);
        }

        Assert.NotEqual(0, thrown);
    }

    /// <summary>Bytes per call, as for calls without listeners.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_call_that_is_measured_allocates_nothing(bool isListenedTo)
    {
        var caller = cluster.Grains.GetGrain<AllocationTests.ICaller>(31);
        var callee = cluster.Grains.GetGrain<AllocationTests.ICallee>(31);
        await Place.On(cluster.AddressOf(0), () => callee.Add(1, 2).AsTask());
        await Place.On(cluster.AddressOf(0), () => caller.AllocatedByThread(callee, 10));
        long heard = 0;
        using var listener = isListenedTo ? Listen((_, _, _) => heard++) : null;
        for (var round = 0; round < 3; round++)
            await caller.AllocatedByThread(callee, 20_000);
        Assert.InRange((double)await caller.AllocatedByThread(callee, 50_000) / 50_000, 0, 0.05);
        Assert.Equal(isListenedTo, heard > 100_000);
    }

    [Fact]
    public void Methods_beyond_the_limit_are_counted_together()
    {
        using var meter = new Meter("a meter of a test");
        var metrics = new CallMetrics(meter, meter, TimeProvider.System, NullLogger.Instance);
        var names = new HashSet<string>();
        for (var type = 0; type < CallMetrics.MostSeries + 100; type++)
            names.Add((string)metrics.TagsOf(7, "IMany/Call", GrainType.Create("many" + type), null)[1].Value!);
        Assert.Equal(CallMetrics.MostSeries + 1, names.Count);
        Assert.Contains(CallMetrics.Other, names);
        Assert.Equal("many0", metrics.TagsOf(7, "IMany/Call", GrainType.Create("many0"), new TimeoutException())[1].Value);
        Assert.Equal("timed_out", metrics.TagsOf(7, "IMany/Call", GrainType.Create("unseen"), new TimeoutException())[2].Value);
    }

    private delegate void Heard(string instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags);

    private static MeterListener Listen(Heard heard)
    {
        var listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Name is Duration or Latency)
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => heard(instrument.Name, value, tags));
        listener.Start();
        return listener;
    }

    private static string Value(ReadOnlySpan<KeyValuePair<string, object?>> tags, string name)
    {
        foreach (var tag in tags)
        {
            if (tag.Key == name)
                return (string)tag.Value!;
        }

        return "";
    }

    public interface IMeasured : IGrainWithIntegerKey
    {
        Task Answer();

        Task Fail();

        Task Cancel();

        Task Ask(IMeasured other);
    }

    [GrainType("measured")]
    public sealed class MeasuredGrain : Grain, IMeasured
    {
        public Task Answer() => Task.CompletedTask;

        public Task Fail() => throw new IOException("no");

        public Task Cancel() => throw new OperationCanceledException();

        public Task Ask(IMeasured other) => other.Answer();
    }
}
