using Heartbeat.Options;

namespace Heartbeat.Load;

/// <summary>Draws requests from a seed. Safe for concurrent use.</summary>
public sealed class BeatSource(HeartbeatOptions options, CellOptions cell)
{
    private readonly Random _random = new(options.Seed + 1);
    private long _number;

    /// <summary>The next request, with answers of so many entries.</summary>
    public Beat Next(int entries)
    {
        lock (_random)
        {
            bool blocks = _random.NextDouble() * 100 < cell.BlockingPercent;
            bool isRead = _random.Next(100) < options.ReadPercent;
            return new Beat(_random.Next(options.Clients), ++_number, isRead, entries, blocks ? options.BlockingMs : 0, cell.ComputeUs);
        }
    }
}
