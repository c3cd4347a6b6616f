using HaloPresence.Load;
using HaloPresence.Options;

namespace HaloPresence.Children;

/// <summary>What runs inside the child processes: real silos, or a rehearsal without grains.</summary>
public interface IBackend
{
    /// <summary>Starts a silo in this process.</summary>
    Task<ISilo> StartSilo(SiloArguments arguments, CancellationToken cancellation);

    /// <summary>Connects the load to the silos behind <paramref name="gateways"/>.</summary>
    Task<ILoadTarget> Connect(HaloOptions options, int[] gateways, CancellationToken cancellation);
}
