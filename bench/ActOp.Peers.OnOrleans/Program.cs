using System.Net;
using ActOp.Harness.Processes;
using ActOp.Orleans;
using ActOp.Peers.OnOrleans;
using ActOp.Peers.Shapes;
using Microsoft.Extensions.Hosting;
using Orleans.Hosting;

return await PeerProgram.RunAsync(args, static variant => new OrleansRuntime(variant));

/// <summary>Microsoft Orleans as its documentation sets it up, with what a variant adds.</summary>
/// <param name="variant">"orleans", "orleans-repartitioner" or "orleans-actop".</param>
internal sealed class OrleansRuntime(string variant) : IPeerRuntime
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
            if (variant == "orleans-repartitioner")
#pragma warning disable ORLEANSEXP001 // For evaluation, says Orleans; it is what it has.
                silo.AddActivationRepartitioner();
#pragma warning restore ORLEANSEXP001
            else if (variant == "orleans-actop")
                silo.AddActOp();
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
