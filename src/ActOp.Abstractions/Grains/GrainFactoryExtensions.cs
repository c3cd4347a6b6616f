using Orleans.Runtime;

namespace Orleans;

/// <summary>More ways to get a reference.</summary>
public static class GrainFactoryExtensions
{
    /// <summary>
    /// A reference to the grain with the given key, of the class whose name starts with <paramref name="grainClassNamePrefix"/>.
    /// </summary>
    public static TGrainInterface GetGrain<TGrainInterface>(this IGrainFactory grainFactory, IdSpan grainPrimaryKey, string grainClassNamePrefix)
        where TGrainInterface : IGrain
    {
        ArgumentNullException.ThrowIfNull(grainFactory);
        return (TGrainInterface)grainFactory.GetGrain(typeof(TGrainInterface), grainPrimaryKey, grainClassNamePrefix);
    }

    /// <summary>A reference to the grain with the given key.</summary>
    public static TGrainInterface GetGrain<TGrainInterface>(this IGrainFactory grainFactory, IdSpan grainPrimaryKey)
        where TGrainInterface : IGrain
    {
        ArgumentNullException.ThrowIfNull(grainFactory);
        return (TGrainInterface)grainFactory.GetGrain(typeof(TGrainInterface), grainPrimaryKey);
    }
}
