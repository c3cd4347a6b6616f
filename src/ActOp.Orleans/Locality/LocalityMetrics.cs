using System.Diagnostics.Metrics;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The metrics of locality partitioning, <c>actop.locality.*</c> of the meter <c>ActOp.Orleans</c>, with the names of the runtime of ActOp.
/// Written by the turns of locality and by filters, read by listeners.
/// </summary>
internal sealed class LocalityMetrics : IDisposable
{
    internal const string MeterName = "ActOp.Orleans";

    private readonly Meter _meter;
    private readonly Counter<long> _offers;
    private readonly Counter<long> _refusals;
    private readonly Counter<long> _exchanges;
    private readonly Counter<long> _moves;
    private readonly Counter<long> _skipped;
    private readonly Counter<long> _failures;
    private readonly Counter<long> _lost;
    private readonly Histogram<double> _foldMilliseconds;

    public LocalityMetrics(IMeterFactory meters)
    {
        _meter = meters.Create(MeterName);
        _offers = _meter.CreateCounter<long>("actop.locality.offers", description: "Exchanges offered to another silo.");
        _refusals = _meter.CreateCounter<long>("actop.locality.refusals", description: "Offers that led to no plan, by reason.");
        _exchanges = _meter.CreateCounter<long>(
            "actop.locality.exchanges", description: "Exchanges with a plan, counted by both silos.");
        _moves = _meter.CreateCounter<long>("actop.locality.moves", description: "Grains that left by a plan.");
        _skipped = _meter.CreateCounter<long>("actop.locality.skipped",
            description: "Grains of a plan that stayed because they were busy or gone.");
        _failures = _meter.CreateCounter<long>("actop.locality.failures",
            description: "Exceptions on the way of calls, which end the counting, and of steps beside it.");
        _lost = _meter.CreateCounter<long>("actop.locality.lost",
            description: "Messages of other silos that were dropped: too many at once, or malformed.");
        _foldMilliseconds = _meter.CreateHistogram<double>("actop.locality.fold", "ms",
            "Time of one step of the fold of counted edges into the table.");
        _meter.CreateObservableGauge("actop.locality.remote_share", () => RemoteShare,
            description: "Share of the tracked message rate that crosses silos.");
        _meter.CreateObservableGauge("actop.locality.cut", () => RemoteRate, "messages/s", "Tracked message rate that crosses silos.");
        _meter.CreateObservableGauge("actop.locality.edges", () => Edges, description: "Edges in the table.");
        _meter.CreateObservableGauge("actop.locality.unmovable", () => Unmovable,
            description: "Activations that stay where they are because a move would lose what they hold in memory.");
        _meter.CreateObservableGauge("actop.locality.floor", () => Floor, "messages/s",
            "Rate of the last evicted edge; 0 while nothing is evicted.");
        _meter.CreateObservableGauge("actop.locality.unplaced", () => Unplaced,
            description: "Ends of edges whose silo is not known: they pull nowhere.");
    }

    internal double RemoteShare { get; private set; }

    internal double RemoteRate { get; private set; }

    internal double TotalRate { get; private set; }

    internal double Floor { get; private set; }

    internal int Edges { get; private set; }

    internal int Unmovable { get; set; }

    internal int Unplaced { get; set; }

    internal long Moves { get; private set; }

    internal long Skips { get; private set; }

    public void Dispose() => _meter.Dispose();

    internal void Offered() => _offers.Add(1);

    internal void Refused(string reason) => _refusals.Add(1, new KeyValuePair<string, object?>("reason", reason));

    internal void Exchanged() => _exchanges.Add(1);

    internal void Moved()
    {
        Moves++;
        _moves.Add(1);
    }

    internal void Skipped(string reason)
    {
        Skips++;
        _skipped.Add(1, new KeyValuePair<string, object?>("reason", reason));
    }

    internal void FilterFailed() => _failures.Add(1, new KeyValuePair<string, object?>("part", "call"));

    internal void StepFailed() => _failures.Add(1, new KeyValuePair<string, object?>("part", "step"));

    internal void Lost(string reason) => _lost.Add(1, new KeyValuePair<string, object?>("reason", reason));

    internal void Folded(double milliseconds) => _foldMilliseconds.Record(milliseconds);

    internal void Weighed(double total, double remote, int edges, double floor)
    {
        TotalRate = total;
        RemoteRate = remote;
        RemoteShare = total > 0 ? remote / total : 0;
        Edges = edges;
        Floor = floor;
    }
}
