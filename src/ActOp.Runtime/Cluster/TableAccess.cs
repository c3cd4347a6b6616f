using ActOp.Foundation;
using ActOp.Runtime.Activations;

namespace ActOp.Runtime.Cluster;

/// <summary>What a silo tells others about itself.</summary>
/// <remarks>Any thread. Owns nothing.</remarks>
internal sealed class SiloFacts(GrainClasses classes, ClusterManifests manifests, ActivationTable activations)
{
    internal GrainTypesReply GrainTypes => manifests.Known.ForClients(classes.Entries);

    internal SiloManifest Manifest => manifests.Own;

    internal int Activations => activations.Count;
}

/// <summary>The requests of a silo to the membership table, each with a time limit, and those of others if it holds the table.</summary>
/// <remarks>Any thread. Owns the requests that are under way: they end with the node.</remarks>
/// <param name="local">This node.</param>
/// <param name="table">The table.</param>
/// <param name="options">Have the limit of one request.</param>
internal sealed class TableAccess(LocalNode local, IClusterTable table, MembershipOptions options)
{
    private readonly BackgroundPart _requests = local.Background.Part("membership table");
    private volatile Exception? _failure;

    /// <summary>Of the last request; null if it has succeeded.</summary>
    internal Exception? Failure => _failure;

    /// <summary>
    /// Begins a request. Its reply is taken on the turns of the caller. If there is none within the limit or before the end of the node, or
    /// it cannot be taken, <paramref name="failed"/> is called.
    /// </summary>
    internal void Begin(TableRequest request, Action<TableReply> take, Action failed) =>
        _requests.Follow(ExecuteAsync(request, take, failed));

    private async Task ExecuteAsync(TableRequest request, Action<TableReply> take, Action failed)
    {
        try
        {
            using var late = new CancellationTokenSource(TimeSpan.FromMilliseconds(options.TableTimeout), local.TaskTime);
            using var ended = CancellationTokenSource.CreateLinkedTokenSource(late.Token, _requests.Stopping);
            var reply = await table.Execute(request, ended.Token);
            _failure = null;
            take(reply);
        }
        catch (Exception exception)
        {
            if (!_requests.Stopping.IsCancellationRequested)
                local.Log.TableFailed(exception);
            _failure = exception;
            failed();
        }
    }

    /// <summary>A request of another silo.</summary>
    /// <exception cref="InvalidOperationException">This silo does not hold the table.</exception>
    internal ValueTask<TableReply> AnswerAsync(TableRequest request) => table is SeedTable
        ? throw new InvalidOperationException("This silo " + local.Address
            + " does not hold the membership table; check the primary endpoint of UseLocalhostClustering or UseDevelopmentClustering.")
        : table.Execute(request, CancellationToken.None);
}
