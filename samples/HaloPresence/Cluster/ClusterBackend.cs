using HaloPresence.Children;
using HaloPresence.Load;
using HaloPresence.Options;

namespace HaloPresence.Cluster;

/// <summary>Child processes that are silos of one localhost cluster, and a client of it.</summary>
public sealed class ClusterBackend : IBackend
{
    /// <inheritdoc/>
    public async Task<ISilo> StartSilo(SiloArguments arguments, CancellationToken cancellation) =>
        await SiloHost.StartAsync(arguments, cancellation);

    /// <inheritdoc/>
    public async Task<ILoadTarget> Connect(HaloOptions options, int[] gateways, CancellationToken cancellation) =>
        await ClusterLoad.ConnectAsync(gateways, cancellation);
}
