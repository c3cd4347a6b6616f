using System.Diagnostics.Metrics;

namespace ActOp.Locality;

/// <summary>The metrics of locality partitioning, <c>actop.locality.*</c>. Written by the locality turn, read by listeners.</summary>
internal sealed class LocalityMetrics
{
    private readonly Counter<long> _offers;
    private readonly Counter<long> _refusals;
    private readonly Counter<long> _exchanges;
    private readonly Counter<long> _moves;
    private readonly Counter<long> _skipped;
    private readonly Histogram<double> _foldMilliseconds;
    private double _remoteShare;
    private double _remoteRate;
    private double _evictionFloor;
    private int _edges;
    private int _unmovable;

    internal LocalityMetrics(Meter meter)
    {
        _offers = meter.CreateCounter<long>("actop.locality.offers", description: "Exchanges offered to another silo.");
        _refusals = meter.CreateCounter<long>("actop.locality.refusals", description: "Offers that led to no plan, by reason.");
        _exchanges = meter.CreateCounter<long>("actop.locality.exchanges", description: "Exchanges with a plan, counted by both silos.");
        _moves = meter.CreateCounter<long>("actop.locality.moves", description: "Grains that left by a plan.");
        _skipped = meter.CreateCounter<long>("actop.locality.skipped",
            description: "Grains of a plan that stayed because they were busy or gone.");
        _foldMilliseconds = meter.CreateHistogram<double>("actop.locality.fold", "ms",
            "Time of one step of the fold of counted edges into the table.");
        meter.CreateObservableGauge("actop.locality.remote_share", () => _remoteShare,
            description: "Share of the tracked message rate that crosses silos.");
        meter.CreateObservableGauge("actop.locality.cut", () => _remoteRate, "messages/s", "Tracked message rate that crosses silos.");
        meter.CreateObservableGauge("actop.locality.edges", () => _edges, description: "Edges in the table.");
        meter.CreateObservableGauge("actop.locality.unmovable", () => _unmovable,
            description: "Activations that stay where they are because a move would lose what they hold in memory.");
        meter.CreateObservableGauge("actop.locality.floor", () => _evictionFloor, "messages/s",
            "Rate of the last evicted edge; 0 while nothing is evicted.");
    }

    internal void Offered() => _offers.Add(1);

    internal void Refused(string reason) => _refusals.Add(1, new KeyValuePair<string, object?>("reason", reason));

    internal void Exchanged() => _exchanges.Add(1);

    internal void Moved() => _moves.Add(1);

    internal void Skipped() => _skipped.Add(1);

    internal void Folded(double milliseconds) => _foldMilliseconds.Record(milliseconds);

    internal void Unmovable(int activations) => _unmovable = activations;

    internal void Weighed(double total, double remote, int edges, double floor)
    {
        _remoteRate = remote;
        _remoteShare = total > 0 ? remote / total : 0;
        _edges = edges;
        _evictionFloor = floor;
    }
}
