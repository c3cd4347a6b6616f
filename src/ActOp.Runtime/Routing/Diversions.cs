using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Placement;
using Orleans;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Requests through a version of an interface that this silo does not serve: activations that cannot run them end, and the requests are
/// routed again.
/// </summary>
/// <remarks>Owns the requests that wait for the end of such an activation. Any thread that holds the request.</remarks>
internal sealed class Diversions(GrainClasses classes, ClusterManifests manifests, BackgroundPart endings, AbandonedRequests abandoned)
{
    /// <summary>Requests that wait for the end of activations that cannot serve them.</summary>
    private const int MaxWaiting = 10_000;

    private int _waiting;

    /// <summary>Whether an activation of this silo cannot run the request.</summary>
    internal bool IsIncompatible(Call call) => call.CalledThrough is not null
        && CalledAs.FromCall(call, classes) is { Version: > 0 } called
        && !manifests.Versions.IsCompatible(called.Interface, called.Version, called.Interface is { } name ? classes.VersionOf(name)
            : (ushort)0);

    /// <summary>
    /// Ends an activation that cannot serve a request, and routes the request when it has ended. The activation ends when its running
    /// requests have; a request that waits longer than its deadline is dropped then. More than <see cref="MaxWaiting"/> are refused.
    /// </summary>
    internal void EndAndRoute(Call call, Activation activation, Router router)
    {
        if (Interlocked.Increment(ref _waiting) > MaxWaiting)
        {
            Interlocked.Decrement(ref _waiting);
            activation.Refuse(call);
            return;
        }

        var called = CalledAs.FromCall(call, classes);
        activation.Deactivate(new DeactivationReason(DeactivationReasonCode.IncompatibleRequest, "A request for version " + called.Version
            + " of " + called.Interface + " arrived; this silo has version " + classes.VersionOf(called.Interface!) + "."));
        endings.Follow(RouteAfterAsync(call, activation, router));
    }

    private async Task RouteAfterAsync(Call call, Activation ending, Router router)
    {
        await ending.Deactivated.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        Interlocked.Decrement(ref _waiting);
        if (abandoned.Drops(call))
            return;
        try
        {
            router.RouteByTable(call, call.TargetId, null);
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
        }
    }
}
