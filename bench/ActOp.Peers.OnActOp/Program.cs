using ActOp.Configuration;
using ActOp.Peers.OnOrleans;
using ActOp.Peers.Shapes;
using Microsoft.Extensions.DependencyInjection;

return await PeerProgram.RunAsync(args, static _ => new ActOpRuntime());

/// <summary>ActOp with its defaults.</summary>
internal sealed class ActOpRuntime : IStateRuntime
{
    public Task<IPeerNode> StartSiloAsync(PeerPorts ports) => Node.StartSiloAsync(ports, silo =>
    {
        silo.Configure<LocalityOptions>(options => options.Enabled = ports.MayMove);
        // The probe of the Halo shape asks a management grain, as clients of Orleans may.
        silo.Configure<ClientRightsOptions>(static options => options.Management = true);
    });

    /// <summary>Nothing: the first silo makes its tables.</summary>
    public Task PrepareAsync(string database) => Task.CompletedTask;

    public Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos) => Node.StartClientAsync(silos);
}
