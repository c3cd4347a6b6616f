using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Placement;

/// <summary>
/// The default: deals the silos out like cards, each once per round in random order. As blind to locality as a random
/// choice, but a burst of new grains spreads evenly, which independent draws and stale load reports do not give.
/// </summary>
internal sealed class DealingDirector(SeededRandom random) : OwnDirector
{
    private readonly Lock _gate = new();
    private SiloAddress[] _deck = [];
    private int _next;

    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester)
    {
        lock (_gate)
        {
            if (_next >= _deck.Length || _deck.Length != silos.Length || !silos.Contains(_deck[_next]))
            {
                _deck = [.. silos];
                random.Shuffle(_deck);
                _next = 0;
            }

            return _deck[_next++];
        }
    }
}
