using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace Orleans.Utilities;

/// <summary>Observers, each known by its own reference, see <see cref="ObserverManager{TIdentity, TObserver}"/>.</summary>
/// <typeparam name="TObserver">The observers' interface.</typeparam>
public class ObserverManager<TObserver> : ObserverManager<IAddressable, TObserver>
{
    /// <summary>Creates an empty set.</summary>
    /// <param name="expiration">How long an observer stays without subscribing again.</param>
    /// <param name="log">Where it is told which observers are dropped.</param>
    public ObserverManager(TimeSpan expiration, ILogger log)
        : base(expiration, log)
    {
    }
}
