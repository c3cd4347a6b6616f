using ActOp.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>The silo as a hosted service: its lifecycle from the first stage to the last and back.</summary>
internal sealed class SiloHost(IServiceProvider services) : NodeHost(services, Make), ILocalSiloDetails
{
    private readonly SiloLifecycle _lifecycle = new();

    public string Name => Services.GetRequiredService<IOptions<SiloOptions>>().Value.SiloName;

    public string ClusterId => Services.GetRequiredService<IOptions<ClusterOptions>>().Value.ClusterId;

    public string DnsHostName => System.Net.Dns.GetHostName();

    public SiloAddress SiloAddress => Node.Address;

    public SiloAddress GatewayAddress => Node.Gateway is { } gateway ? SiloAddress.New(gateway, Node.Address.Generation) : Node.Address;

    protected override StagedLifecycle Lifecycle => _lifecycle;

    protected override Task OpenAsync(Node node, CancellationToken cancellationToken)
    {
        _lifecycle.Subscribe("network", ServiceLifecycleStage.RuntimeInitialize, new NodeStep(
            _ =>
            {
                node.Open();
                return Task.CompletedTask;
            },
            node.CloseAsync));
        _lifecycle.Subscribe("membership", ServiceLifecycleStage.RuntimeServices, new NodeStep(node.JoinAsync, node.LeaveAsync));
        _lifecycle.Subscribe("active", ServiceLifecycleStage.BecomeActive, new NodeStep(node.ActivateAsync, node.DrainAsync));
        foreach (var participant in Services.GetServices<ILifecycleParticipant<ISiloLifecycle>>())
            participant.Participate(_lifecycle);
        return Task.CompletedTask;
    }

    protected override Task CloseAsync(Node node, CancellationToken cancellationToken)
    {
        node.Log.SiloStatus(node.Address, "stopped");
        return Task.CompletedTask;
    }

    private static Node Make(IServiceProvider services)
    {
        TypeManifest.LoadApplication();
        return new Node(SetupReader.Silo(services));
    }
}
