using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Routing;
using ActOp.Staging;
using ActOp.Staging.Groups;

namespace ActOp.Runtime.Stages;

/// <summary>
/// The stages of a node that have a queue: work, silo send, client send, and control and locality, which have one thread always.
/// </summary>
/// <remarks>
/// Owns the stages and their threads, which exist from the construction until <see cref="StopAsync"/> or <see cref="Dispose"/>. The stages
/// that receive belong to the <see cref="PeerTable"/>.
/// </remarks>
internal sealed class NodeStages : IDisposable
{
    private readonly StageOptions _options;
    private readonly StageDriver? _driver;
    private readonly Log _log;

    internal NodeStages(StageOptions options, StageDriver? driver, LocalNode local, GroupsOptions? groups)
    {
        var log = local.Log;
        Groups = groups is null ? null : new NodeGroups(groups, local);
        _options = options;
        _driver = driver;
        _log = log;
        try
        {
            Control = driver is null
                ? NewOfRuntime("control")
                : new Stage("control", driver, exception => log.StageFailed("control", exception));
            // A simulated silo needs no thread that nobody waits for.
            Locality = driver is null && local.IsSilo ? NewOfRuntime("locality") : Control;
            Work = New("work", options.WorkThreads, Groups?.OfStage);
            SiloSend = New("silo-send", options.SiloSendThreads);
            ClientSend = New("client-send", options.ClientSendThreads);
        }
        catch
        {
            // The threads of the stages are running from here on.
            Dispose();
            throw;
        }
    }

    /// <summary>Raised when a long turn delays the next pause of a thread, at which it would write its frames.</summary>
    internal event Action? Held;

    /// <summary>The groups that share the time of the work stage; null for none, the usual case.</summary>
    internal NodeGroups? Groups { get; }

    /// <summary>Turns.</summary>
    internal Stage Work { get; } = null!;

    /// <summary>Writes to silos.</summary>
    internal Stage SiloSend { get; } = null!;

    /// <summary>Writes to clients.</summary>
    internal Stage ClientSend { get; } = null!;

    /// <summary>System targets, timers and other work that must not wait for turns.</summary>
    internal Stage Control { get; } = null!;

    /// <summary>Decisions of locality, each of which may take many milliseconds: probes and the directory must not wait for them.</summary>
    internal Stage Locality { get; } = null!;

    internal bool AreMeasured => _options.Measure;

    internal Stage[] All =>
        ReferenceEquals(Locality, Control) ? [Work, SiloSend, ClientSend, Control] : [Work, SiloSend, ClientSend, Control, Locality];

    /// <summary>The stages whose threads a controller may change, in this order: receive, work, silo send, client send.</summary>
    internal IReadOnlyList<SizedStage> SizedWith(Func<PeerTable> peers) =>
    [
        new("receive", NeverBlocks: true, _options.ReceiveThreads, () => peers().ReceiveThreads, count => peers().SetReceiveThreads(count),
            () => peers().ReceiveUsage),
        Sized(Work, neverBlocks: false, _options.WorkThreads),
        Sized(SiloSend, neverBlocks: true, _options.SiloSendThreads),
        Sized(ClientSend, neverBlocks: true, _options.ClientSendThreads),
    ];

    /// <summary>Ends the threads after the queued items have run.</summary>
    internal Task StopAsync() => Task.WhenAll(All.Select(static stage => stage.StopAsync()));

    /// <summary>Ends the threads at once. Waits for none.</summary>
    public void Dispose()
    {
        foreach (var stage in All)
        {
            try
            {
                stage?.Dispose();
            }
            catch (Exception exception)
            {
                _log.BackgroundFailed(stage!.Name, exception);
            }
        }
    }

    private Stage NewOfRuntime(string name) => new(name, 1, StageMode.OwnThreads, exception => _log.StageFailed(name, exception));

    private static SizedStage Sized(Stage stage, bool neverBlocks, int? given) =>
        new(stage.Name, neverBlocks, given, () => stage.Threads, stage.SetThreads, () => stage.Usage);

    private Stage New(string name, int? threads, StageGroups? groups = null) => _driver is { } driver
        ? new(name, driver, exception => _log.StageFailed(name, exception), SendBatch.Flush)
        : new(name, threads ?? StageOptions.DefaultThreads, _options.Mode, exception => _log.StageFailed(name, exception), SendBatch.Flush,
            groups)
        {
            IsMeasured = _options.Measure,
            OnHeld = () => Held?.Invoke(),
        };
}
