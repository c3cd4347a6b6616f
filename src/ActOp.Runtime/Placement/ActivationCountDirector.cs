using System.Collections.Concurrent;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>The silo with the fewest activations among a few drawn at random.</summary>
/// <remarks>Counts are asked for at most once a second, and every own choice is added at once, so that a burst does not all go to the silo that was emptiest.</remarks>
internal sealed class ActivationCountDirector(Node node) : IPlacementDirector
{
    private const long MaxAgeMs = 1000;

    private readonly ConcurrentDictionary<SiloAddress, int> _counts = new();
    private readonly int _choices = node.Services.GetRequiredService<IOptions<ActivationCountBasedPlacementOptions>>().Value.ChooseOutOf;
    private long _asked = -MaxAgeMs;

    public async Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context)
    {
        var silos = context.GetCompatibleSilos(target);
        var asked = Volatile.Read(ref _asked);
        if (node.Clock.Now - asked >= MaxAgeMs && Interlocked.CompareExchange(ref _asked, node.Clock.Now, asked) == asked)
            await Ask(silos);
        node.Random.Shuffle(silos);
        var best = silos.Take(Math.Max(1, _choices)).MinBy(silo => _counts.GetValueOrDefault(silo))!;
        _counts.AddOrUpdate(best, 1, static (_, count) => count + 1);
        return best;
    }

    private async Task Ask(SiloAddress[] silos)
    {
        foreach (var silo in silos)
        {
            try
            {
                _counts[silo] = await node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).GetActivationCount();
            }
            catch (Exception exception) when (exception is SiloUnavailableException or TimeoutException)
            {
                // A silo that does not answer is no reason to refuse a grain its place.
                _counts.TryRemove(silo, out _);
            }
        }
    }
}
