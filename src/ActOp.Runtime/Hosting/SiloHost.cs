using ActOp.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>The silo as a hosted service: its lifecycle from the first stage to the last and back.</summary>
internal sealed class SiloHost : IHostedService, ILocalSiloDetails
{
    private readonly IServiceProvider _services;
    private readonly SiloLifecycle _lifecycle = new();
    private readonly Lazy<Node> _node;

    public SiloHost(IServiceProvider services)
    {
        _services = services;
        _node = new Lazy<Node>(() =>
        {
            TypeManifest.LoadApplication();
            return new Node(SetupReader.Silo(services));
        });
    }

    internal Node Node => _node.Value;

    public string Name => _services.GetRequiredService<IOptions<SiloOptions>>().Value.SiloName;

    public string ClusterId => _services.GetRequiredService<IOptions<ClusterOptions>>().Value.ClusterId;

    public string DnsHostName => System.Net.Dns.GetHostName();

    public SiloAddress SiloAddress => Node.Address;

    public SiloAddress GatewayAddress => Node.Gateway is { } gateway ? SiloAddress.New(gateway, Node.Address.Generation) : Node.Address;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var node = Node;
        node.Died += _ => _services.GetService<IHostApplicationLifetime>()?.StopApplication();
        _lifecycle.Subscribe("network", ServiceLifecycleStage.RuntimeInitialize, new Steps(_ =>
        {
            node.Open();
            return Task.CompletedTask;
        }, _ => node.CloseAsync()));
        _lifecycle.Subscribe("membership", ServiceLifecycleStage.RuntimeServices, new Steps(node.JoinAsync, node.LeaveAsync));
        _lifecycle.Subscribe("active", ServiceLifecycleStage.BecomeActive, new Steps(node.ActivateAsync, node.DrainAsync));
        foreach (var participant in _services.GetServices<ILifecycleParticipant<ISiloLifecycle>>())
            participant.Participate(_lifecycle);
        try
        {
            await _lifecycle.OnStart(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            node.Kill();
            throw;
        }

        node.Log.SiloStatus(node.Address, "active");
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (!_node.IsValueCreated)
            return;
        await _lifecycle.OnStop(cancellationToken).ConfigureAwait(false);
        Node.Log.SiloStatus(Node.Address, "stopped");
    }

    private sealed class Steps(Func<CancellationToken, Task> start, Func<CancellationToken, Task> stop) : ILifecycleObserver
    {
        public Task OnStart(CancellationToken cancellationToken = default) => start(cancellationToken);

        public Task OnStop(CancellationToken cancellationToken = default) => stop(cancellationToken);
    }
}
