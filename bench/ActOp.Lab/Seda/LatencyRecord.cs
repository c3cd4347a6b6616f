using MathNet.Numerics.Statistics;

namespace ActOp.Lab.Seda;

/// <summary>The latencies of a server's requests, end to end, in seconds.</summary>
internal sealed class LatencyRecord
{
    private readonly List<double> _latencies = [];

    /// <summary>Records what the server finishes.</summary>
    /// <param name="server">The server.</param>
    /// <param name="from">Requests that came before are left out, in seconds since the start.</param>
    public LatencyRecord(EmulatedServer server, double from) => server.Finished += request =>
    {
        if (request.Arrived >= from)
            _latencies.Add(server.Now - request.Arrived);
    };

    public int Count => _latencies.Count;

    public double Mean => _latencies.Mean();

    public double Quantile(double share) => ArrayStatistics.QuantileInplace([.. _latencies], share);
}
