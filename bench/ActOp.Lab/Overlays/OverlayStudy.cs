namespace ActOp.Lab.Overlays;

/// <summary>What came of one seed.</summary>
/// <param name="Seed">The seed.</param>
/// <param name="Degree">Neighbours of a node: the mean.</param>
/// <param name="LeastDegree">Those of the node with fewest.</param>
/// <param name="MembershipPerPeriod">Messages of the membership that a node sends in 10 s at rest.</param>
/// <param name="PayloadsPerNode">Messages with content of one broadcast at rest, over the nodes.</param>
/// <param name="Hops">The longest way of a message at rest, in hops (last delivery hop).</param>
/// <param name="ReachedAtRest">The share of the nodes that each broadcast at rest has reached; the least.</param>
/// <param name="ReachedAtCrash">The share of the live nodes that a broadcast reaches which is sent at the moment of the crash.</param>
/// <param name="Repair">How long after the crash the live nodes are connected again and their views symmetric, in s; null: not within 30 s.</param>
/// <param name="Connected">The share of the live nodes in the largest part, then.</param>
/// <param name="ReachedAfter">The share of the live nodes of a part that each broadcast after the repair has reached; the least.</param>
/// <param name="PayloadsAfter">As <paramref name="PayloadsPerNode"/>, after the repair.</param>
/// <param name="Asymmetric">Neighbours of whom the other one knows nothing, at the end.</param>
internal sealed record OverlayReport(
    int Seed, double Degree, int LeastDegree, double MembershipPerPeriod, double PayloadsPerNode, int Hops, double ReachedAtRest,
    double ReachedAtCrash, double? Repair, double Connected, double ReachedAfter, double PayloadsAfter, int Asymmetric);

/// <summary>An overlay forms, broadcasts, loses a share of its nodes at once, mends itself and broadcasts again.</summary>
internal static class OverlayStudy
{
    private const int Broadcasts = 10;

    /// <summary>Broadcasts after which the tree has settled.</summary>
    private const int Settling = 20;

    private static readonly TimeSpan Detection = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Broadcast = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestRepair = TimeSpan.FromSeconds(30);

    /// <param name="nodes">Nodes.</param>
    /// <param name="crashed">The share that crashes, 0 to 1.</param>
    /// <param name="seed">Chooses all that is chosen.</param>
    internal static OverlayReport Play(int nodes, double crashed, int seed)
    {
        OverlayNetwork network = new(nodes, seed);
        network.JoinAll(TimeSpan.FromMilliseconds(1));
        network.Run(6 * OverlayNetwork.Period);
        var before = network.Sent;
        network.Run(OverlayNetwork.Period);
        var membership = (network.Sent.Membership - before.Membership) / (double)nodes;
        var degrees = network.Nodes.Select(static node => node.Strategy.Neighbours.Count).ToArray();
        for (var i = 0; i < Settling; i++)
            Reach(network);
        var rest = Measure(network);

        network.Crash((int)(nodes * crashed), Detection);
        var atCrash = network.Broadcast();
        var repair = Repair(network);
        network.Run(Broadcast);
        var reachedAtCrash = Share(network, atCrash, network.Alive.Count());
        for (var i = 0; i < Settling; i++)
            Reach(network);
        var after = Measure(network);
        return new(
            seed, degrees.Average(), degrees.Min(), membership, rest.Payloads, rest.Hops, rest.Reached, reachedAtCrash, repair,
            network.Components()[0] / (double)network.Alive.Count(), after.Reached, after.Payloads, network.CountAsymmetric());
    }

    private static double? Repair(OverlayNetwork network)
    {
        var began = network.Now;
        while (network.Now - began < LongestRepair.TotalMicroseconds)
        {
            network.Run(Step);
            if (network.Now - began > Detection.TotalMicroseconds && network.Components().Count == 1 && network.CountAsymmetric() == 0)
                return (network.Now - began) / 1e6;
        }

        return null;
    }

    private static (double Payloads, int Hops, double Reached) Measure(OverlayNetwork network)
    {
        var (payloads, hops, reached) = (0.0, 0, 1.0);
        for (var i = 0; i < Broadcasts; i++)
        {
            var before = network.Sent.Payloads;
            reached = Math.Min(reached, Reach(network));
            payloads += (network.Sent.Payloads - before) / (double)network.Alive.Count();
            hops = Math.Max(hops, network.Alive.Max(static node => node.Delivered.Hops));
        }

        return (payloads / Broadcasts, hops, reached);
    }

    /// <summary>One broadcast: the share of the live nodes that could be reached which it has reached.</summary>
    private static double Reach(OverlayNetwork network)
    {
        var id = network.Broadcast();
        network.Run(Broadcast);
        return Share(network, id, network.Components()[0]);
    }

    private static double Share(OverlayNetwork network, Guid id, int of) =>
        network.Alive.Count(node => node.Delivered.Id == id) / (double)of;
}
