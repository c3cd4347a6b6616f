using System.Diagnostics.Metrics;
using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Routing;
using Orleans.Runtime;
using Orleans.Statistics;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// The numbers of a node once more under the meter and the names of Orleans, for dashboards that know these. Observable instruments read
/// what is counted anyway.
/// </summary>
internal sealed class OrleansMeter : IDisposable
{
    internal const string Name = "Microsoft.Orleans";

    /// <summary>Grain types in <c>orleans-grains</c>; the others are added up. Generic grains may have any number of types.</summary>
    internal const int MostTypes = CallMetrics.MostSeries;

    internal Meter Meter { get; } = new(Name);

    /// <summary>What the counters of the node say; each is read when a listener collects.</summary>
    internal void Observe(
        Func<long> created, Func<long> ended, Func<long> expired, Func<long> dropped, Func<long> shed, Func<long> sentLocally,
        Func<long> lost)
    {
        Meter.CreateObservableCounter("orleans-catalog-activation-created", created);
        Meter.CreateObservableCounter("orleans-catalog-activation-destroyed", ended);
        Meter.CreateObservableCounter("orleans-app-requests-timedout", expired);
        Meter.CreateObservableCounter("orleans-messaging-expired", dropped);
        Meter.CreateObservableCounter("orleans-messaging-sent-dropped", lost);
        Meter.CreateObservableCounter("orleans-gateway-load-shedding", shed);
        Meter.CreateObservableCounter("orleans-messaging-sent-local", sentLocally);
    }

    /// <summary>What the parts of the node hold now, and what they have counted.</summary>
    internal void Observe(
        LocalNode local, ActivationTable activations, LocationCache locations, DirectoryService directory, PeerTable peers,
        Refusals refusals, IEnvironmentStatisticsProvider? statistics)
    {
        var counts = local.Counts;
        Meter.CreateObservableGauge("orleans-directory-cache-size", () => locations.Count);
        Observe(counts, "orleans-app-requests-canceled", NodeEvent.CallCancelled);
        Observe(counts, "orleans-messaging-processing-dispatcher-forwarded", NodeEvent.Forwarded);
        Observe(counts, "orleans-messaging-rerouted", NodeEvent.Rerouted);
        Observe(counts, "orleans-messaging-sent-failed", NodeEvent.SendFailed);
        Observe(counts, "orleans-scheduler-long-running-turns", NodeEvent.LongTurn);
        Meter.CreateObservableCounter("orleans-messaging-rejected", () => RefusedBy(refusals));
        ObserveNetwork(peers.Mesh);
        if (!local.IsSilo)
        {
            Meter.CreateObservableGauge("orleans-client-connected-gateways", () => peers.Count(clients: false));
            return;
        }

        Meter.CreateObservableGauge("orleans-catalog-activations", () => activations.Count);
        Meter.CreateObservableUpDownCounter("orleans-grains", () => CountByType(activations));
        Meter.CreateObservableGauge("orleans-directory-partition-size", () => directory.Entries);
        Meter.CreateObservableUpDownCounter("orleans-gateway-connected-clients", () => peers.Count(clients: true));
        Meter.CreateObservableUpDownCounter("orleans-system-targets", () => SystemTargets(activations));
        Observe(counts, "orleans-catalog-activation-collections", NodeEvent.Collection);
        Observe(counts, "orleans-catalog-activation-failed-to-activate", NodeEvent.StartFailed);
        Observe(counts, "orleans-catalog-activation-concurrent-registration-attempts", NodeEvent.StartedTwice);
        if (statistics is not null)
            Observe(statistics);
        ObserveDirectory(counts);
        ObserveStreams(counts);
        Observe(counts, "orleans-messaging-pings-sent", NodeEvent.ProbeSent);
        Observe(counts, "orleans-messaging-pings-received", NodeEvent.ProbeReceived);
        Observe(counts, "orleans-messaging-pings-reply-received", NodeEvent.ProbeAnswered);
        Observe(counts, "orleans-watchdog-health-checks", NodeEvent.HealthCheck);
        Observe(counts, "orleans-watchdog-health-checks-failed", NodeEvent.HealthCheckFailed);
    }

    /// <summary>The memory that the environment reports.</summary>
    private void Observe(IEnvironmentStatisticsProvider statistics)
    {
        const long Megabyte = 1 << 20;
        Meter.CreateObservableGauge(
            "orleans-runtime-total-physical-memory", () => statistics.GetEnvironmentStatistics().MaximumAvailableMemoryBytes / Megabyte,
            "MB");
        Meter.CreateObservableGauge(
            "orleans-runtime-available-memory", () => statistics.GetEnvironmentStatistics().FilteredAvailableMemoryBytes / Megabyte, "MB");
    }

    public void Dispose() => Meter.Dispose();

    private void ObserveNetwork(MeshNode mesh)
    {
        Meter.CreateObservableCounter("orleans-messaging-sent-messages-size", () => mesh.BytesSent, "bytes");
        Meter.CreateObservableCounter("orleans-messaging-received-messages-size", () => mesh.BytesReceived, "bytes");
        Meter.CreateObservableCounter("orleans-networking-sockets-closed", () => mesh.LinksClosed);
        Meter.CreateObservableCounter("orleans-networking-sockets-opened", () => mesh.LinksClosed + mesh.LinkCount);
    }

    private void ObserveDirectory(NodeCounts counts)
    {
        const string Directory = "orleans-directory-";
        Observe(counts, Directory + "lookups-full-issued", NodeEvent.Lookup);
        Observe(counts, Directory + "lookups-local-directory-issued", NodeEvent.LookupHere);
        Observe(counts, Directory + "lookups-local-directory-successes", NodeEvent.LookupHereFound);
        Observe(counts, Directory + "lookups-remote-sent", NodeEvent.LookupSent);
        Observe(counts, Directory + "registrations-single-act-issued", NodeEvent.Registration);
        Observe(counts, Directory + "registrations-single-act-local", NodeEvent.RegistrationHere);
        Observe(counts, Directory + "registrations-single-act-remote-sent", NodeEvent.RegistrationSent);
        Observe(counts, Directory + "unregistrations-issued", NodeEvent.Unregistration);
        Observe(counts, Directory + "unregistrations-local", NodeEvent.UnregistrationHere);
        Observe(counts, Directory + "unregistrations-remote-sent", NodeEvent.UnregistrationSent);
    }

    private void ObserveStreams(NodeCounts counts)
    {
        const string Streams = "orleans-streams-";
        Observe(counts, Streams + "pubsub-producers-added", NodeEvent.ProducerAdded);
        Observe(counts, Streams + "pubsub-producers-removed", NodeEvent.ProducerRemoved);
        Observe(counts, Streams + "pubsub-consumers-added", NodeEvent.ConsumerAdded);
        Observe(counts, Streams + "pubsub-consumers-removed", NodeEvent.ConsumerRemoved);
        Observe(counts, Streams + "persistent-stream-messages-read", NodeEvent.MessageRead);
        Observe(counts, Streams + "persistent-stream-messages-sent", NodeEvent.MessageDelivered);
        Observe(counts, Streams + "queue-initialization-failures", NodeEvent.QueueNotOpened);
        Observe(counts, Streams + "queue-read-failures", NodeEvent.QueueNotRead);
        Meter.CreateObservableGauge(
            Streams + "persistent-stream-pulling-agents", () => counts[NodeEvent.AgentStarted] - counts[NodeEvent.AgentStopped]);
    }

    private void Observe(NodeCounts counts, string name, NodeEvent what) => Meter.CreateObservableCounter(name, () => counts[what]);

    private static long RefusedBy(Refusals refusals)
    {
        var sum = 0L;
        for (var reason = (Refusal)0; (int)reason < Refusals.Reasons; reason++)
            sum += refusals[reason];
        return sum;
    }

    private static IEnumerable<Measurement<int>> SystemTargets(IEnumerable<Activation> activations) =>
        activations.Where(static one => SystemGrainIds.IsSystemGrain(one.GrainId)).GroupBy(static one => one.Class.GrainType).Select(
            static same => new Measurement<int>(same.Count(), new KeyValuePair<string, object?>("type", same.Key.ToString())));

    private static IEnumerable<Measurement<int>> CountByType(IEnumerable<Activation> activations)
    {
        var counts = new Dictionary<GrainType, int>();
        var others = 0;
        foreach (var activation in activations)
        {
            if (!activation.Class.IsOrdinary)
                continue;
            var type = activation.Class.GrainType;
            if (counts.Count < MostTypes || counts.ContainsKey(type))
                counts[type] = counts.GetValueOrDefault(type) + 1;
            else
                others++;
        }

        foreach (var (type, count) in counts)
            yield return new Measurement<int>(count, new KeyValuePair<string, object?>("type", type.ToString()));
        if (others > 0)
            yield return new Measurement<int>(others, new KeyValuePair<string, object?>("type", CallMetrics.Other));
    }
}
