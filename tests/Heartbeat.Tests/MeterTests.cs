using System.Diagnostics.Metrics;
using ActOp.Harness.Processes;

namespace Heartbeat.Tests;

public sealed class MeterTests
{
    [Fact]
    public void Values_are_read_by_name_and_tag_and_what_is_missing_is_zero()
    {
        var name = "heartbeat-tests-" + Guid.NewGuid();
        using var reader = new MeterReader(name, "stage", "threads", "changes", "wait");
        using var meter = new Meter(name);
        var threads = 2;
        meter.CreateObservableUpDownCounter(
            "threads", () => new Measurement<int>(threads, new KeyValuePair<string, object?>("stage", "work")));
        meter.CreateObservableUpDownCounter(
            "threads", () => new Measurement<double>(0.5, new KeyValuePair<string, object?>("stage", "receive")));
        var changes = meter.CreateCounter<long>("changes");
        changes.Add(1, new KeyValuePair<string, object?>("stage", "work"));
        changes.Add(2, new KeyValuePair<string, object?>("stage", "work"));
        reader.Observe();
        threads = 5;
        reader.Observe();
        Assert.Equal(5, reader.Of("threads", "work"));
        Assert.Equal(5.5, reader.Sum("threads"));
        Assert.Equal(3, reader.Of("changes", "work"));
        Assert.Equal(0, reader.Of("wait", "work"));
        Assert.Equal(0, reader.Of("changes", "send"));
    }
}
