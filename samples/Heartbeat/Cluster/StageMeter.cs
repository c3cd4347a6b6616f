using Harness.Hosting;
using Heartbeat.Children;

namespace Heartbeat.Cluster;

/// <summary>Reads what the runtime says about its stages. An instrument that the runtime does not have counts as 0.</summary>
public sealed class StageMeter : IDisposable
{
    private const string Meter = "ActOp.Runtime";
    private const string Tag = "stage";
    private const string Threads = "actop.stage.threads";
    private const string Queued = "actop.stage.queued";
    private const string Executed = "actop.stage.executed";
    private const string Changes = "actop.stage.changes";
    private const string Wall = "actop.stage.wall";
    private const string Cpu = "actop.stage.cpu";
    private const string Ready = "actop.stage.ready";
    private const string Wait = "actop.stage.wait";

    private readonly MeterReader _meter = new(Meter, Tag, Threads, Queued, Executed, Changes, Wall, Cpu, Ready, Wait);

    /// <summary>The stages, in the order of <see cref="StageNames"/>.</summary>
    public StageReading[] Read()
    {
        _meter.Observe();
        return [.. StageNames.Tags.Select(stage => new StageReading(
            (int)_meter.Of(Threads, stage), (int)_meter.Of(Queued, stage), (long)_meter.Of(Executed, stage), (long)_meter.Of(Changes, stage),
            _meter.Of(Wall, stage), _meter.Of(Cpu, stage), _meter.Of(Ready, stage), _meter.Of(Wait, stage)))];
    }

    /// <inheritdoc/>
    public void Dispose() => _meter.Dispose();
}
