using ActOp.Orleans;
using ActOp.Peers.OnOrleans;
using ActOp.Peers.Shapes;
using Orleans.Hosting;

return await PeerProgram.RunAsync(args, static variant => new OrleansRuntime(variant));

/// <summary>Microsoft Orleans as its documentation sets it up, with what a variant adds.</summary>
/// <param name="variant">"orleans", "orleans-repartitioner" or "orleans-actop".</param>
internal sealed class OrleansRuntime(string variant) : IPeerRuntime
{
    public Task<IPeerNode> StartSiloAsync(PeerPorts ports) => Node.StartSiloAsync(ports, silo =>
    {
        if (variant == "orleans-repartitioner")
#pragma warning disable ORLEANSEXP001 // For evaluation, says Orleans; it is what it has.
            silo.AddActivationRepartitioner();
#pragma warning restore ORLEANSEXP001
        else if (variant == "orleans-actop")
            silo.AddActOp();
    });

    public Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos) => Node.StartClientAsync(silos);
}
