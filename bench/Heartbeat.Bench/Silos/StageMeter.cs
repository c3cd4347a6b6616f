using ActOp.Harness.Processes;

namespace Heartbeat.Bench.Silos;

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
            (int)_meter.Of(Threads, stage), (int)_meter.Of(Queued, stage), (long)_meter.Of(Executed, stage),
            (long)_meter.Of(Changes, stage),
            _meter.Of(Wall, stage), _meter.Of(Cpu, stage), _meter.Of(Ready, stage), _meter.Of(Wait, stage)))];
    }

    /// <inheritdoc/>
    public void Dispose() => _meter.Dispose();
}

/// <summary>
/// The stages that a controller sizes, in the order in which a request of a client passes them; indexes into
/// <see cref="SiloSample.Stages"/>.
/// </summary>
public static class StageNames
{
    /// <summary>Reads and decodes.</summary>
    public const int Receive = 0;

    /// <summary>Runs turns.</summary>
    public const int Work = 1;

    /// <summary>Writes to silos.</summary>
    public const int SiloSend = 2;

    /// <summary>Writes to clients.</summary>
    public const int ClientSend = 3;

    /// <summary>Names as the runtime's metrics tag them.</summary>
    public static IReadOnlyList<string> Tags { get; } = ["receive", "work", "silo-send", "client-send"];
}

/// <summary>
/// What one stage of a silo says; everything but <paramref name="Threads"/> and <paramref name="Queued"/> is cumulative since its start.
/// </summary>
/// <param name="Threads">Threads now.</param>
/// <param name="Queued">Items in its queue now.</param>
/// <param name="Executed">Items executed.</param>
/// <param name="Changes">Changes of its number of threads.</param>
/// <param name="Wall">Seconds that its threads were busy.</param>
/// <param name="Cpu">Seconds of them on a processor.</param>
/// <param name="Ready">Seconds of them ready but without a processor.</param>
/// <param name="Wait">Seconds that items waited in its queue.</param>
public sealed record StageReading(int Threads, int Queued, long Executed, long Changes, double Wall, double Cpu, double Ready, double Wait);
