using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Placement;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Management;

/// <summary>
/// A silo that starts learns which strategies of versions the management grain has set before, from the silos that run: before it becomes
/// active, because it must not begin with others, and once more after it, for what was set meanwhile.
/// </summary>
/// <remarks>
/// Holds nothing. A silo that does not answer within 5 s is left out, and the others have the same; if none of several answers, the start
/// goes on with a warning. An answer that comes twice changes nothing: each setting has a stamp. Any thread.
/// </remarks>
internal sealed partial class LateVersions(Func<ManagementNeeds> parts, ILoggerFactory loggers) : ILifecycleParticipant<ISiloLifecycle>
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    public void Participate(ISiloLifecycle lifecycle)
    {
        lifecycle.Subscribe("versions", ServiceLifecycleStage.BecomeActive - 1, LearnAsync);
        lifecycle.Subscribe("late versions", ServiceLifecycleStage.Active, LearnAsync);
    }

    private async Task LearnAsync(CancellationToken cancellationToken)
    {
        var (local, cluster, factory, _, manifests) = parts();
        var others = cluster.Active.Where(silo => !silo.Equals(local.Address)).ToArray();
        var answers = await Task.WhenAll(others.Select(silo => AskAsync(local, factory, silo, cancellationToken))).ConfigureAwait(false);
        foreach (var setting in answers.SelectMany(static answer => answer ?? []))
            manifests.Versions.Set(setting);
        if (answers.Any(static answer => answer is { Length: > 0 }))
            manifests.OnVersionsChanged();
    }

    private async Task<VersionSetting[]?> AskAsync(
        LocalNode local, GrainFactory factory, SiloAddress silo, CancellationToken cancellationToken)
    {
        try
        {
            return await factory.GetSystemTarget<IManagementTarget>(ManagementTarget.Name, silo).GetVersions()
                .WaitAsync(Patience, local.TaskTime, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception) when (!cancellationToken.IsCancellationRequested)
        {
            NotLearned(loggers.CreateLogger("ActOp.Runtime"), silo, exception);
            return null;
        }
    }

    [LoggerMessage(1300, LogLevel.Warning, "The silo {silo} did not tell which strategies of versions were set.")]
    private static partial void NotLearned(ILogger logger, SiloAddress silo, Exception exception);
}
