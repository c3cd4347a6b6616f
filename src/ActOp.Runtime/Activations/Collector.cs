using ActOp.Runtime.Hosting;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Ends activations that were not called for their collection age, and those of observers whose objects were collected. Also lets blocked
/// activations drop abandoned requests. Runs on the control stage, once per collection quantum.
/// </summary>
internal sealed class Collector(ActivationTable activations, GrainCollectionOptions options, Clock clock)
{
    /// <summary>Requests the end of idle activations; returns how many.</summary>
    internal int Collect()
    {
        var now = clock.Now;
        var told = 0;
        foreach (var activation in activations)
        {
            if (activation.IsLostObserver)
            {
                activation.EndObserver();
                continue;
            }

            activation.DropAbandoned();
            var age = AgeOf(activation.Class);
            if (age == Timeout.InfiniteTimeSpan || !activation.MayCollect(now, (long)age.TotalMilliseconds))
                continue;
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ActivationIdle, "Idle for " + age + "."));
            told++;
        }

        return told;
    }

    private TimeSpan AgeOf(GrainClass grainClass)
    {
        if (grainClass.KeepAlive)
            return Timeout.InfiniteTimeSpan;
        if (grainClass.CollectionAge is { } own)
            return own;
        return options.ClassSpecificCollectionAge.TryGetValue(grainClass.Type.FullName!, out var configured) ? configured : options.CollectionAge;
    }
}
