using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Orleans.Runtime;

namespace ActOp.Runtime.Placement;

/// <summary>
/// Where grains belong that were deactivated to move (paper section 4.3). Any thread; bounded: the oldest half goes when it is full.
/// </summary>
internal sealed class PlacementHints
{
    /// <summary>More grains than any few rounds move.</summary>
    private const int Capacity = 65_536;

    private readonly ConcurrentDictionary<GrainId, SiloAddress> _hints = new();
    private readonly ConcurrentQueue<GrainId> _order = new();

    internal void Put(GrainId grain, SiloAddress silo)
    {
        _hints[grain] = silo;
        _order.Enqueue(grain);
        if (_order.Count <= Capacity)
            return;
        for (var i = 0; i < Capacity / 2 && _order.TryDequeue(out var oldest); i++)
            _hints.TryRemove(oldest, out _);
    }

    internal bool TryTake(GrainId grain, [NotNullWhen(true)] out SiloAddress? silo) => _hints.TryRemove(grain, out silo);
}
