using System.Net;
using ActOp.Configuration;
using ActOp.Harness.Processes;
using ActOp.Peers.OnOrleans;
using ActOp.Peers.Shapes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

return await PeerProgram.RunAsync(args, static _ => new ActOpRuntime());

/// <summary>ActOp with its defaults.</summary>
internal sealed class ActOpRuntime : IPeerRuntime
{
    public Task<IPeerNode> StartSiloAsync(PeerPorts ports)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(
                ports.Port, ports.Gateway, ports.Port == ports.Primary ? null : new IPEndPoint(IPAddress.Loopback, ports.Primary));
            silo.AddMemoryGrainStorage("PubSubStore");
            silo.AddMemoryStreams(StreamGrain.Provider);
            silo.Configure<LocalityOptions>(options => options.Enabled = ports.MayMove);
            // The probe of the Halo shape asks a management grain, as clients of Orleans may.
            silo.Configure<ClientRightsOptions>(static options => options.Management = true);
        });
        return Node.StartAsync(builder);
    }

    public Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client => client.UseLocalhostClustering([.. silos.Select(static silo => silo.Gateway)]));
        return Node.StartAsync(builder);
    }
}
