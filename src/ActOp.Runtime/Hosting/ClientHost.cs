using ActOp.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans;

namespace ActOp.Runtime.Hosting;

/// <summary>The external client as a hosted service: connects when the host starts.</summary>
internal sealed class ClientHost : IHostedService
{
    private readonly IServiceProvider _services;
    private readonly ClientLifecycle _lifecycle = new();
    private readonly Lazy<Node> _node;
    private ClientMembership? _membership;

    public ClientHost(IServiceProvider services)
    {
        _services = services;
        _node = new Lazy<Node>(() =>
        {
            TypeManifest.LoadApplication();
            return new Node(SetupReader.Client(services));
        });
    }

    internal Node Node => _node.Value;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        try
        {
            Node.Open();
        }
        catch
        {
            Node.Kill();
            throw;
        }

        _membership = new ClientMembership(Node, _services);
        foreach (var participant in _services.GetServices<ILifecycleParticipant<IClusterClientLifecycle>>())
            participant.Participate(_lifecycle);
        try
        {
            await _membership.ConnectAsync(cancellationToken).ConfigureAwait(false);
            await _lifecycle.OnStart(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            _membership.Dispose();
            Node.Kill();
            throw;
        }
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_membership is null)
            return;
        await _lifecycle.OnStop(cancellationToken).ConfigureAwait(false);
        _membership.Dispose();
        await Node.CloseAsync().ConfigureAwait(false);
    }
}
