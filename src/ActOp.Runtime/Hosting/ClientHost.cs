using ActOp.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Orleans;

namespace ActOp.Runtime.Hosting;

/// <summary>The external client as a hosted service: connects when the host starts.</summary>
internal sealed class ClientHost(IServiceProvider services) : NodeHost(services, Make)
{
    private readonly ClientLifecycle _lifecycle = new();
    private ClientMembership? _membership;

    protected override StagedLifecycle Lifecycle => _lifecycle;

    protected override Task OpenAsync(Node node, CancellationToken cancellationToken)
    {
        node.Open();
        _membership = new ClientMembership(node, Services);
        foreach (var participant in Services.GetServices<ILifecycleParticipant<IClusterClientLifecycle>>())
            participant.Participate(_lifecycle);
        return _membership.ConnectAsync(cancellationToken);
    }

    protected override Task CloseAsync(Node node, CancellationToken cancellationToken)
    {
        _membership?.Dispose();
        return node.CloseAsync(cancellationToken);
    }

    private static Node Make(IServiceProvider services)
    {
        TypeManifest.LoadApplication();
        return new Node(SetupReader.Client(services));
    }
}
