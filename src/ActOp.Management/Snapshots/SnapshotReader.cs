using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Management.Snapshots;

/// <summary>The cluster at one moment, as one silo sees it.</summary>
/// <param name="View">The number of the view.</param>
/// <param name="Members">The members of that view, dead ones included.</param>
/// <param name="Silos">The silos that have answered.</param>
/// <param name="Silent">The active silos that have not, with the reason.</param>
internal sealed record ClusterSnapshot(
    long View, IReadOnlyList<MemberSnapshot> Members, IReadOnlyList<SiloSnapshot> Silos, IReadOnlyDictionary<SiloAddress, string> Silent);

/// <summary>A member of a view.</summary>
internal sealed record MemberSnapshot(SiloAddress Silo, string Name, string Status);

/// <summary>Asks all silos for their snapshots.</summary>
/// <remarks>Any thread. Holds nothing. A silo that fails or does not answer in time is named, and keeps the others from nothing.</remarks>
internal sealed class SnapshotReader(LocalNode local, ClusterView cluster, GrainFactory factory)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    internal async Task<ClusterSnapshot> ReadAsync(CancellationToken cancellationToken)
    {
        var view = cluster.View;
        var asked = view.ActiveSilos.ToArray();
        var answers = await Task.WhenAll(asked.Select(silo => AskAsync(silo, cancellationToken))).ConfigureAwait(false);
        return new ClusterSnapshot(
            view.Number,
            [.. view.Members.Select(static member => new MemberSnapshot(member.Silo, member.Name, member.Status.ToString()))],
            [.. answers.Where(static one => one.Snapshot is not null).Select(static one => one.Snapshot!)],
            asked.Zip(answers).Where(static pair => pair.Second.Snapshot is null)
                .ToDictionary(static pair => pair.First, static pair => pair.Second.Reason));
    }

    private async Task<(SiloSnapshot? Snapshot, string Reason)> AskAsync(SiloAddress silo, CancellationToken cancellationToken)
    {
        try
        {
            var asked = factory.GetSystemTarget<ISnapshotTarget>(SnapshotTarget.Name, silo).GetSnapshot();
            return (await asked.WaitAsync(Patience, local.TaskTime, cancellationToken).ConfigureAwait(false), "");
        }
        catch (TimeoutException)
        {
            return (null, "It has not answered within " + Patience.TotalSeconds + " s.");
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            return (null, exception.Message);
        }
    }
}
