using ActOp.Configuration;
using Orleans.Configuration;

namespace ActOp.Locality;

/// <summary>The options of Orleans for locality partitioning.</summary>
internal static class Repartitioning
{
    private static readonly ActivationRepartitionerOptions Usual = new();

    /// <summary>Takes over what is not the default of Orleans, whose rounds are far longer than ours.</summary>
    internal static void Apply(ActivationRepartitionerOptions options, LocalityOptions locality)
    {
        locality.Enabled = true;
        if (options.MaxEdgeCount != Usual.MaxEdgeCount)
            locality.EdgeCapacity = options.MaxEdgeCount;
        if (options.MaxRoundPeriod != Usual.MaxRoundPeriod)
            locality.MaxRoundPeriod = options.MaxRoundPeriod;
        if (options.MinRoundPeriod != Usual.MinRoundPeriod)
            locality.MinRoundPeriod = options.MinRoundPeriod;
        if (options.RecoveryPeriod != Usual.RecoveryPeriod)
            locality.RejectionWindow = options.RecoveryPeriod;
        // The longer one may be all that was set.
        if (locality.MaxRoundPeriod < locality.MinRoundPeriod)
            locality.MaxRoundPeriod = options.MaxRoundPeriod < locality.MinRoundPeriod ? locality.MinRoundPeriod : options.MaxRoundPeriod;
    }
}
