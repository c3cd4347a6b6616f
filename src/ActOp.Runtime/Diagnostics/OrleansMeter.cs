using System.Diagnostics.Metrics;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Routing;
using Orleans.Runtime;

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
        Func<long> created, Func<long> ended, Func<long> expired, Func<long> dropped, Func<long> shed, Func<long> sentLocally)
    {
        Meter.CreateObservableCounter("orleans-catalog-activation-created", created);
        Meter.CreateObservableCounter("orleans-catalog-activation-destroyed", ended);
        Meter.CreateObservableCounter("orleans-app-requests-timedout", expired);
        Meter.CreateObservableCounter("orleans-messaging-expired", dropped);
        Meter.CreateObservableCounter("orleans-gateway-load-shedding", shed);
        Meter.CreateObservableCounter("orleans-messaging-sent-local", sentLocally);
    }

    /// <summary>What the parts of the node hold now.</summary>
    internal void Observe(ActivationTable activations, LocationCache locations, DirectoryService directory, PeerTable peers, bool isSilo)
    {
        Meter.CreateObservableGauge("orleans-directory-cache-size", () => locations.Count);
        if (!isSilo)
        {
            Meter.CreateObservableGauge("orleans-client-connected-gateways", () => peers.Count(clients: false));
            return;
        }

        Meter.CreateObservableGauge("orleans-catalog-activations", () => activations.Count);
        Meter.CreateObservableUpDownCounter("orleans-grains", () => CountByType(activations));
        Meter.CreateObservableGauge("orleans-directory-partition-size", () => directory.Entries);
        Meter.CreateObservableUpDownCounter("orleans-gateway-connected-clients", () => peers.Count(clients: true));
    }

    public void Dispose() => Meter.Dispose();

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
