using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>How calls begin traces, while somebody listens to them. For silos and clients.</summary>
public sealed class CallTracingOptions
{
    /// <summary>
    /// Share of the calls outside of any trace, and of the ticks of timers, that ask the listeners (with OpenTelemetry: the sampler)
    /// whether a trace begins with them; 0 to 1. The others begin a trace that is not recorded, without an id. The recorded share is this
    /// one times that of the sampler: 0.01 with a sampler that records all is 1 %. A question costs 280 ns or more in .NET, which is longer
    /// than a call within a silo, and most answers are no. Calls within a trace are not concerned. Default: 1, each asks, because a sampler
    /// may decide by the name of the method, and logs may use ids of traces that are not recorded.
    /// </summary>
    public double RootShare { get; set; } = 1;

    internal void Validate()
    {
        if (!(RootShare is >= 0 and <= 1))
        {
            throw new OrleansConfigurationException(
                "CallTracingOptions.RootShare is " + RootShare.ToString(System.Globalization.CultureInfo.InvariantCulture)
                + "; it must be 0 to 1.");
        }
    }
}
