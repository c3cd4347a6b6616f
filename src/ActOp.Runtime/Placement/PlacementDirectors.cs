using System.Collections.Concurrent;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>
/// A built-in director: it chooses synchronously, so that placing a grain needs no task and no copy of the silos. Any thread.
/// </summary>
internal abstract class OwnDirector : IPlacementDirector
{
    public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context) =>
        Task.FromResult(Choose(target.GrainIdentity, context.GetCompatibleSilos(target), context.LocalSilo));

    /// <summary>Chooses one of <paramref name="silos"/>, which is not empty, shared, and must not be modified.</summary>
    internal abstract SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester);
}

/// <summary>Any silo, each with the same chance.</summary>
internal sealed class RandomDirector(SeededRandom random) : OwnDirector
{
    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester) => silos[random.Next(silos.Length)];
}

/// <summary>The silo of the first caller, or a random one if that is not active.</summary>
internal sealed class PreferLocalDirector(SeededRandom random) : OwnDirector
{
    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester) =>
        silos.Contains(requester) ? requester : silos[random.Next(silos.Length)];
}

/// <summary>
/// The silo that the grain's hash names among the active ones in the order of their addresses, as in Orleans: all silos choose the same
/// one, in whatever order a filter or the view gives them.
/// </summary>
internal sealed class HashBasedDirector : OwnDirector
{
    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester)
    {
        SiloAddress[] ordered = [.. silos];
        Array.Sort(ordered);
        return ordered[(int)(grain.GetUniformHashCode() & int.MaxValue) % ordered.Length];
    }
}

/// <summary>Any silo whose name is the key of the grain.</summary>
internal sealed class SiloRoleDirector(SeededRandom random, ClusterView cluster) : OwnDirector
{
    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester)
    {
        var role = grain.Key.ToString();
        var view = cluster.View;
        var inRole = Array.FindAll(silos, silo => view.FindMember(silo)?.Name == role);
        return inRole.Length > 0 ? inRole[random.Next(inRole.Length)] : throw new OrleansException("No active silo that can run " + grain
            + " has the role " + role + ". The role of a silo is its name.");
    }
}

/// <summary>The silo with the fewest activations among a few chosen at random.</summary>
/// <remarks>
/// Any thread. Counts are requested at most once a second, and no placement waits for them: it uses the last ones received. Each own choice
/// is added at once, so that a burst does not go to one silo. A silo that has not replied before the next request is chosen only if there
/// is no other.
/// </remarks>
internal sealed class ActivationCountDirector(LocalNode local, ClusterView cluster, GrainFactory factory) : OwnDirector
{
    private const long MaxAgeMs = 1000;

    /// <summary>Larger than any count, with room for own choices above it.</summary>
    private const int Silent = int.MaxValue / 2;

    private readonly ConcurrentDictionary<SiloAddress, int> _counts = new();
    private readonly ConcurrentDictionary<SiloAddress, bool> _asking = new();
    private readonly BackgroundPart _work = local.Background.Part("placement");
    private readonly int _choices = local.Services.GetRequiredService<IOptions<ActivationCountBasedPlacementOptions>>().Value.ChooseOutOf;
    private long _updatedAt = -MaxAgeMs;

    /// <summary>Whether a silo has not replied to the last request. For tests.</summary>
    internal bool IsAsking(SiloAddress silo) => _asking.ContainsKey(silo);

    internal override SiloAddress Choose(GrainId grain, SiloAddress[] silos, SiloAddress requester)
    {
        var updatedAt = Volatile.Read(ref _updatedAt);
        if (local.Clock.Now - updatedAt >= MaxAgeMs && Interlocked.CompareExchange(ref _updatedAt, local.Clock.Now, updatedAt) == updatedAt)
            Ask(silos);
        SiloAddress[] drawn = [.. silos];
        local.Random.Shuffle(drawn);
        var best = drawn.Take(Math.Max(1, _choices)).MinBy(silo => _counts.GetValueOrDefault(silo))!;
        _counts.AddOrUpdate(best, 1, static (_, count) => count + 1);
        return best;
    }

    private void Ask(SiloAddress[] silos)
    {
        foreach (var silo in _counts.Keys)
        {
            if (!cluster.IsActive(silo))
                _counts.TryRemove(silo, out _);
        }

        foreach (var silo in silos)
        {
            if (_asking.TryAdd(silo, true))
                _work.Run(_ => UpdateCountAsync(silo));
            else
                _counts[silo] = Silent;
        }
    }

    private async Task UpdateCountAsync(SiloAddress silo)
    {
        try
        {
            _counts[silo] = await factory.GetSystemTarget<IClusterTarget>(
                ClusterService.Name, silo).GetActivationCount().ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is SiloUnavailableException or TimeoutException)
        {
            _counts[silo] = Silent;
        }
        finally
        {
            _asking.TryRemove(silo, out _);
        }
    }
}
