using ActOp.Runtime.Hosting;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>
/// The default: deals the silos out like cards, each once per round in random order. As blind to locality as a random
/// choice, but a burst of new grains spreads evenly, which independent draws and stale load reports do not give.
/// </summary>
internal sealed class DealingDirector(SeededRandom random) : IPlacementDirector
{
    private readonly Lock _gate = new();
    private SiloAddress[] _deck = [];
    private int _next;

    public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
    {
        var silos = context.GetCompatibleSilos(target);
        lock (_gate)
        {
            if (_next >= _deck.Length || _deck.Length != silos.Length || !silos.Contains(_deck[_next]))
            {
                random.Shuffle(silos);
                _deck = silos;
                _next = 0;
            }

            return Task.FromResult(_deck[_next++]);
        }
    }
}
