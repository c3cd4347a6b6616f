using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Mesh.Transports;
using ActOp.Runtime.Nodes;
using ActOp.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Hosting;

/// <summary>
/// A node as a hosted service: one start, one stop. A start that fails or is cancelled stops what it started, in reverse order, and leaves
/// nothing open. So does a stop during the start.
/// </summary>
/// <remarks>Any thread. Continuations of a start or a stop run on the thread pool, never on a thread of the node.</remarks>
/// <param name="services">The application's.</param>
/// <param name="make">Creates the node at its first use.</param>
internal abstract class NodeHost(IServiceProvider services, Func<IServiceProvider, Node> make) : IHostedService, IDisposable
{
    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _stopRequested = new();
    private readonly Lazy<Node> _node = new(() => make(services));
    private Task? _start;
    private Task? _stop;

    internal Node Node => _node.Value;

    protected IServiceProvider Services => services;

    protected abstract StagedLifecycle Lifecycle { get; }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_start is not null || _stop is not null)
                throw new InvalidOperationException("A node can be started only once; create a new host.");
            return _start = StartOnceAsync(cancellationToken);
        }
    }

    /// <summary>Stops the node. Later callers wait for the same stop.</summary>
    public Task StopAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_stop is not null)
                return _stop.WaitAsync(cancellationToken);
            return _stop = StopOnceAsync(cancellationToken);
        }
    }

    /// <summary>Kills a node that was not stopped.</summary>
    public void Dispose()
    {
        if (_node.IsValueCreated)
            _node.Value.Kill();
    }

    /// <summary>The steps before the first stage of the lifecycle; subscribes to it.</summary>
    protected abstract Task OpenAsync(Node node, CancellationToken cancellationToken);

    /// <summary>The steps after the last stage of the lifecycle has stopped.</summary>
    protected abstract Task CloseAsync(Node node, CancellationToken cancellationToken);

    private async Task StartOnceAsync(CancellationToken cancellationToken)
    {
        // The start runs application code, so it is not under the lock.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        var node = Node;
        var codecs = services.GetRequiredService<ICodecScope>();
        codecs.CheckOptions();
        node.Calls.CodecProvider = codecs;
        node.Died += _ => services.GetService<IHostApplicationLifetime>()?.StopApplication();
        node.Died += reason => Health.FatalErrors.Tell(services, node.Local, reason);
        using var givenUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _stopRequested.Token);
        try
        {
            await NodeStep.OnPoolAsync(OpenAsync(node, givenUp.Token)).ConfigureAwait(false);
            await Lifecycle.OnStart(givenUp.Token).ConfigureAwait(false);
        }
        catch
        {
            await UndoAsync(node, givenUp.Token).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Stops what a start had started before it failed.</summary>
    private async Task UndoAsync(Node node, CancellationToken cancellationToken)
    {
        try
        {
            await LeaveAsync(node, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            node.Local.Log.StopFailed(exception);
        }
    }

    /// <summary>Stops in reverse order. Exceptions of one step do not prevent the others.</summary>
    private async Task LeaveAsync(Node node, CancellationToken cancellationToken)
    {
        try
        {
            await Lifecycle.OnStop(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            await NodeStep.OnPoolAsync(CloseAsync(node, cancellationToken)).ConfigureAwait(false);
            node.Kill();
        }
    }

    private async Task StopOnceAsync(CancellationToken cancellationToken)
    {
        // Not under the gate.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        await _stopRequested.CancelAsync().ConfigureAwait(false);
        if (_start is null)
        {
            Dispose();
            return;
        }

        // A start that fails closes what it opened.
        await _start.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (_start.IsCompletedSuccessfully)
            await LeaveAsync(Node, cancellationToken).ConfigureAwait(false);
    }
}

/// <summary>The silo as a hosted service with its lifecycle.</summary>
internal sealed class SiloHost(IServiceProvider services) : NodeHost(services, Make), ILocalSiloDetails
{
    private readonly SiloLifecycle _lifecycle = new() { Time = services.GetService<TimeProvider>() ?? TimeProvider.System };

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
        node.Local.Log.SiloStatus(node.Address, "stopped");
        return Task.CompletedTask;
    }

    private static Node Make(IServiceProvider services)
    {
        TypeManifest.LoadApplication();
        var setup = SetupReader.Silo(services);
        // A transport that the application has given, such as that of a test in memory, says itself who reaches it.
        if (services.GetService<Transport>() is null)
        {
            services.GetRequiredService<IOptions<ClusterSecurityOptions>>().Value
                .CheckListeners(setup.Listens, setup.Mesh, setup.Transport.IsProtected);
            FirstException.Prepare();
        }

        return new Node(setup);
    }
}

/// <summary>The external client as a hosted service: connects when the host starts.</summary>
internal sealed class ClientHost(IServiceProvider services) : NodeHost(services, Make)
{
    private readonly ClientLifecycle _lifecycle = new() { Time = services.GetService<TimeProvider>() ?? TimeProvider.System };
    private ClientMembership? _membership;

    protected override StagedLifecycle Lifecycle => _lifecycle;

    protected override Task OpenAsync(Node node, CancellationToken cancellationToken)
    {
        node.Open();
        _membership = node.NewClientMembership();
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
