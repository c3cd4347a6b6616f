using System.Diagnostics.CodeAnalysis;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Nodes;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Placement;
using Orleans.TestingHost.Utils;

namespace ActOp.Testing;

/// <summary>Operations of tests on all silos of a cluster.</summary>
internal static class ClusterNodes
{
    /// <summary>A machine that stands still for seconds is no reason to give a cluster up that becomes what it should be.</summary>
    private static readonly TimeSpan ShortestPatience = TimeSpan.FromSeconds(60);

    /// <summary>The grain's activation, on any silo.</summary>
    internal static bool TryFind(IEnumerable<Node> nodes, GrainId grain, [NotNullWhen(true)] out Activation? activation)
    {
        foreach (var node in nodes)
        {
            if (node.Activations.TryGet(grain, out activation))
                return true;
        }

        activation = null;
        return false;
    }

    internal static async Task DeactivateAsync(IEnumerable<Node> nodes, GrainId grain)
    {
        if (!TryFind(nodes, grain, out var activation))
            return;
        activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "The test requested the deactivation."));
        await activation.Deactivated.ConfigureAwait(false);
    }

    internal static Task WaitForDeactivationAsync(IEnumerable<Node> nodes, GrainId grain) =>
        TryFind(nodes, grain, out var activation) ? activation.Deactivated : Task.CompletedTask;

    /// <summary>Moves the grain and waits until it has left. Does nothing if it is already there, or not active.</summary>
    internal static async Task MigrateAsync(IReadOnlyList<Node> nodes, GrainId grain, SiloAddress? target)
    {
        if (!TryFind(nodes, grain, out var activation))
            return;
        var silo = target ?? nodes.FirstOrDefault(node => node.Local != activation.Parts.Local)?.Address;
        if (silo is null || silo.Equals(activation.Parts.Local.Address))
            return;
        activation.Migrate(new Dictionary<string, object> { [IPlacementDirector.PlacementHintKey] = silo });
        await activation.Deactivated.ConfigureAwait(false);
    }

    /// <summary>
    /// Waits until every silo's view has exactly these silos as active ones, and knows the gone ones as such, until every silo has told its
    /// parts of that view, and until every silo knows what the others host, so that it places grains on all of them.
    /// </summary>
    internal static async Task WaitForLivenessAsync(IReadOnlyList<Node> nodes, TimeSpan timeout, params SiloAddress[] elsewhere)
    {
        if (timeout < ShortestPatience)
            timeout = ShortestPatience;
        var expected = nodes.Select(node => node.Address).Concat(elsewhere).ToHashSet();
        await TestingUtils.WaitUntilAsync(
            (last, _) =>
            {
                var wrong = WhatIsWrong(nodes, expected);
                return wrong is not null && last
                    ? throw new TimeoutException(wrong + " after " + timeout + ".") : Task.FromResult(wrong is null);
            },
            timeout,
            TimeSpan.FromMilliseconds(5)).ConfigureAwait(false);
        // A view is visible shortly before caches, directories and links know of it, on a turn that this one follows.
        await Task.WhenAll(nodes.Select(static node => FenceAsync(node.Cluster!.Host))).WaitAsync(timeout, TimeProvider.System)
            .ConfigureAwait(false);
    }

    private static string? WhatIsWrong(IReadOnlyList<Node> nodes, HashSet<SiloAddress> expected)
    {
        if (nodes.FirstOrDefault(node => !expected.SetEquals(node.ClusterView.Active)) is { } wrong)
        {
            return "The silo " + wrong.Address + " sees " + string.Join(", ", (object[])wrong.ClusterView.Active)
                + " as active instead of " + string.Join(", ", expected);
        }

        return nodes.FirstOrDefault(node => !expected.SetEquals(node.Manifests.Known.Manifests.Keys)) is { } ignorant
            ? "The silo " + ignorant.Address + " does not know what all others host" : null;
    }

    private static Task FenceAsync(Activation host)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        host.Enqueue(new ActionItem(static state => ((TaskCompletionSource)state!).SetResult(), done));
        return done.Task;
    }

    internal static TimeSpan StabilizationTime(ClusterMembershipOptions options, bool didKill)
    {
        var gossip = options.UseLivenessGossip ? TimeSpan.FromSeconds(5) : options.TableRefreshTimeout * 2;
        return didKill ? gossip + (options.ProbeTimeout * (options.NumMissedProbesLimit + 1)) : gossip;
    }
}
