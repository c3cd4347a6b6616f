using Orleans.Runtime.Placement;

namespace ActOp.TestClusters;

/// <summary>Says where the next new grain goes.</summary>
public static class Place
{
    /// <summary>Calls with this in force place their grain on the silo.</summary>
    public static async Task<T> On<T>(SiloAddress silo, Func<Task<T>> call)
    {
        RequestContext.Set(IPlacementDirector.PlacementHintKey, silo);
        try
        {
            return await call();
        }
        finally
        {
            RequestContext.Remove(IPlacementDirector.PlacementHintKey);
        }
    }

    /// <summary>Calls with this in force place their grain on the silo.</summary>
    public static Task On(SiloAddress silo, Func<Task> call) => On(silo, async () =>
    {
        await call();
        return true;
    });
}
