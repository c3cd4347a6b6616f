using System.Collections.ObjectModel;
using ActOp.Runtime.Nodes;
using ActOp.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Runtime;

namespace Orleans.TestingHost;

/// <summary>
/// A cluster of silos and a client in the process of the test, connected in memory; see <see cref="InProcessTestClusterBuilder"/>.
/// </summary>
/// <remarks>One thread at a time, except for <see cref="Client"/> and what it returns.</remarks>
public sealed class InProcessTestCluster : IDisposable, IAsyncDisposable
{
    private readonly Fabric _fabric;
    private readonly TestClient _client = new();

    /// <summary>A cluster that is not deployed yet.</summary>
    public InProcessTestCluster(InProcessTestClusterOptions options, ITestClusterPortAllocator portAllocator)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(portAllocator);
        Options = options;
        PortAllocator = portAllocator;
        var file = options.ConfigureFileLogging ? Path.Combine(Environment.CurrentDirectory, options.ClusterId + ".log") : null;
        _fabric = new Fabric(options.ClusterId, options.ServiceId, ConnectionTransportType.InMemory, membership: true, file);
    }

    /// <summary>The cluster's options.</summary>
    public InProcessTestClusterOptions Options { get; }

    /// <summary>Where ports come from.</summary>
    public ITestClusterPortAllocator PortAllocator { get; }

    /// <summary>The client.</summary>
    /// <exception cref="InvalidOperationException">There is none: not deployed, or stopped.</exception>
    public IClusterClient Client => _client.Client;

    /// <summary>Starts the silos and connects the client.</summary>
    public Task DeployAsync() => DeployAsync(CancellationToken.None);

    /// <summary>Starts the silos and connects the client. When cancelled, ends what has started.</summary>
    public async Task DeployAsync(CancellationToken cancellationToken)
    {
        if (_silos.Count > 0)
            throw new InvalidOperationException("Cluster host already deployed.");
        await Hosts.DeployAsync(async () =>
        {
            await StartSilosAsync(1, cancellationToken).ConfigureAwait(false);
            if (Options.InitialSilosCount > 1)
                await StartSilosAsync(Options.InitialSilosCount - 1, cancellationToken).ConfigureAwait(false);
            await WaitForLivenessToStabilizeAsync().WaitAsync(cancellationToken).ConfigureAwait(false);
            if (Options.InitializeClientOnDeploy)
                await InitializeClientAsync(cancellationToken).ConfigureAwait(false);
        }, DisposeAsync).ConfigureAwait(false);
    }

    /// <summary>Connects the client, a new one if there was one.</summary>
    public Task InitializeClientAsync() => InitializeClientAsync(CancellationToken.None);

    /// <summary>Connects the client, a new one if there was one.</summary>
    public async Task InitializeClientAsync(CancellationToken cancellationToken)
    {
        await StopClusterClientAsync(cancellationToken).ConfigureAwait(false);
        var builder = Hosts.NewApplicationBuilder(new ConfigurationBuilder().Build());
        var gateways = GetActiveSilos().Select(silo => silo.GatewayAddress.Endpoint.Port).ToArray();
        builder.UseOrleansClient(client => _fabric.AddClient(client.Services, Options.GatewayPerSilo ? gateways : gateways[..1]));
        foreach (var configure in Options.ClientHostConfigurationDelegates)
            configure(builder);
        await _client.StartAsync(builder.Build(), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Disconnects the client in order.</summary>
    public Task StopClusterClientAsync() => StopClusterClientAsync(CancellationToken.None);

    /// <summary>Disconnects the client in order; when cancelled, at once.</summary>
    public Task StopClusterClientAsync(CancellationToken cancellationToken) => _client.StopAsync(cancellationToken);

    /// <summary>Ends the client as a crash would.</summary>
    public Task KillClientAsync()
    {
        _client.Kill();
        return Task.CompletedTask;
    }

    /// <summary>The services of a silo; of the first one when <paramref name="silo"/> is null.</summary>
    public IServiceProvider GetSiloServiceProvider(SiloAddress? silo = null) =>
        (silo is null ? _silos.Find(handle => handle.IsActive) : GetSiloForAddress(silo))?.ServiceProvider
        ?? throw new ArgumentException(silo is null ? "No silo is active." : "No silo has the address " + silo + ".", nameof(silo));

    /// <summary>Ends the grain's activation and waits for it. Does nothing if it has none.</summary>
    public Task DeactivateAsync(IAddressable grain) => DeactivateAsync(grain.GetGrainId());

    /// <summary>Ends the grain's activation and waits for it. Does nothing if it has none.</summary>
    public Task DeactivateAsync(GrainId grainId) => ClusterNodes.DeactivateAsync(Nodes, grainId);

    /// <summary>Waits until the grain's present activation has ended.</summary>
    public Task WaitForDeactivationAsync(IAddressable grain) => WaitForDeactivationAsync(grain.GetGrainId());

    /// <summary>Waits until the grain's present activation has ended.</summary>
    public Task WaitForDeactivationAsync(GrainId grainId) => ClusterNodes.WaitForDeactivationAsync(Nodes, grainId);

    /// <summary>Moves the grain to a silo (null: any other silo), and waits until it has left.</summary>
    public Task MigrateAsync(IAddressable grain, SiloAddress? targetSilo = null) => MigrateAsync(grain.GetGrainId(), targetSilo);

    /// <summary>Moves the grain to a silo (null: any other silo), and waits until it has left.</summary>
    public Task MigrateAsync(GrainId grainId, SiloAddress? targetSilo = null) => ClusterNodes.MigrateAsync([.. Nodes], grainId, targetSilo);

    /// <summary>True with the grain's activation when a silo has one.</summary>
    public bool TryGetGrainContext(GrainId grainId, out IGrainContext? grainContext)
    {
        var found = ClusterNodes.TryFind(Nodes, grainId, out var activation);
        grainContext = activation;
        return found;
    }

    /// <summary>How long it takes at most until all silos agree on who is active.</summary>
    public static TimeSpan GetLivenessStabilizationTime(ClusterMembershipOptions clusterMembershipOptions, bool didKill = false) =>
        ClusterNodes.StabilizationTime(clusterMembershipOptions, didKill);

    /// <summary>Waits until the views of all silos have exactly the running silos as active ones.</summary>
    public Task WaitForLivenessToStabilizeAsync(bool didKill = false)
    {
        var options = GetSiloServiceProvider().GetRequiredService<IOptions<ClusterMembershipOptions>>().Value;
        return ClusterNodes.WaitForLivenessAsync([.. Nodes], GetLivenessStabilizationTime(options, didKill));
    }

    /// <summary>Waits until all silos know each other: their grain classes come with their rows in the view.</summary>
    public Task WaitForClusterManifestToStabilizeAsync(bool didKill = false) => WaitForLivenessToStabilizeAsync(didKill);

    /// <summary>What the nodes logged, from level information on.</summary>
    public string GetLog() => _fabric.Log.ToString();

    /// <summary>Ends all nodes at once.</summary>
    public void Dispose()
    {
        DisposeAsync().AsTask().GetAwaiter().GetResult();
    }

    /// <summary>Disconnects the client and ends all silos.</summary>
    public async ValueTask DisposeAsync()
    {
        SiloHandle[] silos = [.. _silos];
        _silos.Clear();
        await Hosts.EndAsync(_client, silos).ConfigureAwait(false);
    }

    internal IEnumerable<Node> Nodes => GetActiveSilos().Select(silo => silo.Node);

    /// <summary>Silos with ports of the first allocation; later ones get new ports.</summary>
    private const int PortPairs = 16;

    private readonly List<InProcessSiloHandle> _silos = [];
    private readonly Dictionary<string, short> _stopped = [];
    private (int Silo, int Gateway) _basePorts;
    private int _instances;

    /// <summary>All silos that run.</summary>
    public ReadOnlyCollection<InProcessSiloHandle> Silos => _silos.ToList().AsReadOnly();

    /// <summary>All silos that run.</summary>
    public IEnumerable<InProcessSiloHandle> GetActiveSilos() => _silos.FindAll(silo => silo.IsActive);

    /// <summary>The silo with this address, or null.</summary>
    public InProcessSiloHandle? GetSiloForAddress(SiloAddress siloAddress) => _silos.Find(silo => silo.SiloAddress.Equals(siloAddress));

    /// <summary>Whether a silo that was started and not stopped has this address.</summary>
    public bool ContainsSilo(SiloAddress siloAddress) => GetSiloForAddress(siloAddress) is not null;

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public Task<InProcessSiloHandle> CreateSiloAsync(InProcessTestSiloSpecificOptions siloOptions) =>
        CreateSiloAsync(siloOptions, CancellationToken.None);

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public async Task<InProcessSiloHandle> CreateSiloAsync(
        InProcessTestSiloSpecificOptions siloOptions, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(siloOptions);
        var builder = Hosts.NewApplicationBuilder(new ConfigurationBuilder().Build());
        builder.UseOrleans(silo =>
        {
            silo.Services.Configure<SiloOptions>(options => options.SiloName = siloOptions.SiloName);
            _fabric.AddSilo(silo.Services, siloOptions.SiloPort, siloOptions.GatewayPort);
        });
        foreach (var configure in Options.SiloHostConfigurationDelegates)
            configure(siloOptions, builder);
        var handle = await InProcessSiloHandle.StartAsync(siloOptions.SiloName, builder.Build(), cancellationToken).ConfigureAwait(false);
        handle.InstanceNumber = (short)siloOptions.InstanceNumber;
        return handle;
    }

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public static Task<InProcessSiloHandle> StartSiloAsync(InProcessTestCluster cluster, int instanceNumber,
        InProcessTestClusterOptions clusterOptions)
    {
        ArgumentNullException.ThrowIfNull(cluster);
        return cluster.StartSiloAsync(instanceNumber, clusterOptions);
    }

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public Task<InProcessSiloHandle> StartSiloAsync(int instanceNumber, InProcessTestClusterOptions clusterOptions) =>
        StartSiloAsync(instanceNumber, clusterOptions, CancellationToken.None);

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public Task<InProcessSiloHandle> StartSiloAsync(
        int instanceNumber, InProcessTestClusterOptions clusterOptions, CancellationToken cancellationToken) =>
        CreateSiloAsync(InProcessTestSiloSpecificOptions.Create(this, clusterOptions, instanceNumber), cancellationToken);

    /// <summary>Starts one more silo.</summary>
    public InProcessSiloHandle StartAdditionalSilo() => StartAdditionalSiloAsync().GetAwaiter().GetResult();

    /// <summary>Starts one more silo.</summary>
    public Task<InProcessSiloHandle> StartAdditionalSiloAsync() => StartAdditionalSiloAsync(startAdditionalSiloOnNewPort: false);

    /// <summary>Starts one more silo.</summary>
    public async Task<InProcessSiloHandle> StartAdditionalSiloAsync(bool startAdditionalSiloOnNewPort)
    {
        var handle = await CreateSiloAsync(InProcessTestSiloSpecificOptions.Create(
            this, Options, _instances++, startAdditionalSiloOnNewPort)).ConfigureAwait(false);
        _silos.Add(handle);
        return handle;
    }

    /// <summary>Starts more silos, all at once.</summary>
    public Task<List<InProcessSiloHandle>> StartSilosAsync(int silosToStart) => StartSilosAsync(silosToStart, CancellationToken.None);

    /// <summary>Starts more silos, all at once.</summary>
    public async Task<List<InProcessSiloHandle>> StartSilosAsync(int silosToStart, CancellationToken cancellationToken)
    {
        var starting = new List<Task<InProcessSiloHandle>>();
        for (var count = 0; count < silosToStart; count++)
            starting.Add(StartSiloAsync(_instances++, Options, cancellationToken));
        var started = await Hosts.StartedAsync(starting).ConfigureAwait(false);
        _silos.AddRange(started);
        return [.. started];
    }

    /// <summary>Stops a silo in order.</summary>
    public Task StopSiloAsync(InProcessSiloHandle instance) => StopSiloAsync(instance, CancellationToken.None);

    /// <summary>Stops a silo in order, when cancelled at once; nothing for null.</summary>
    public Task StopSiloAsync(InProcessSiloHandle instance, CancellationToken cancellationToken) =>
        EndSiloAsync(instance, gracefully: true, cancellationToken);

    /// <summary>Ends a silo as a crash would.</summary>
    public Task KillSiloAsync(InProcessSiloHandle instance) => KillSiloAsync(instance, CancellationToken.None);

    /// <summary>Ends a silo as a crash would; nothing for null.</summary>
    public Task KillSiloAsync(InProcessSiloHandle instance, CancellationToken cancellationToken) =>
        EndSiloAsync(instance, gracefully: false, cancellationToken);

    /// <summary>Stops a silo in order and starts it again with the same name and ports.</summary>
    public async Task<InProcessSiloHandle?> RestartSiloAsync(InProcessSiloHandle instance)
    {
        if (instance is null)
            return null;
        await StopSiloAsync(instance).ConfigureAwait(false);
        return await RestartStoppedSecondarySiloAsync(instance.Name).ConfigureAwait(false);
    }

    /// <summary>Starts a silo again that was stopped or killed.</summary>
    public async Task<InProcessSiloHandle> RestartStoppedSecondarySiloAsync(string siloName)
    {
        ArgumentNullException.ThrowIfNull(siloName);
        if (!_stopped.Remove(siloName, out var number))
        {
            // Its handle may have stopped it, or it has ended itself.
            var ended = _silos.Find(silo => silo.Name == siloName && !silo.IsActive)
                ?? throw new ArgumentException("No stopped silo has the name " + siloName + ".", nameof(siloName));
            _silos.Remove(ended);
            number = ended.InstanceNumber;
        }

        var handle = await StartSiloAsync(number, Options).ConfigureAwait(false);
        _silos.Add(handle);
        return handle;
    }

    /// <summary>Stops all silos in order.</summary>
    public Task StopSilosAsync() => StopSilosAsync(CancellationToken.None);

    /// <summary>Stops all silos in order, when cancelled at once.</summary>
    public async Task StopSilosAsync(CancellationToken cancellationToken)
    {
        foreach (var silo in Silos.Reverse())
            await StopSiloAsync(silo, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Stops the client and all silos in order.</summary>
    public void StopAllSilos() => StopAllSilosAsync().GetAwaiter().GetResult();

    /// <summary>Stops the client and all silos in order.</summary>
    public Task StopAllSilosAsync() => StopAllSilosAsync(CancellationToken.None);

    /// <summary>Stops the client and all silos in order, when cancelled at once.</summary>
    public async Task StopAllSilosAsync(CancellationToken cancellationToken)
    {
        await StopClusterClientAsync(cancellationToken).ConfigureAwait(false);
        await StopSilosAsync(cancellationToken).ConfigureAwait(false);
    }

    internal (int Silo, int Gateway) PortsOf(int instanceNumber, bool assignNewPort)
    {
        if (assignNewPort || instanceNumber >= PortPairs)
            return PortAllocator.AllocateConsecutivePortPairs(1);
        if (_basePorts.Silo == 0)
            _basePorts = PortAllocator.AllocateConsecutivePortPairs(PortPairs);
        return (_basePorts.Silo + instanceNumber, _basePorts.Gateway + instanceNumber);
    }

    private async Task EndSiloAsync(InProcessSiloHandle instance, bool gracefully, CancellationToken cancellationToken)
    {
        if (instance is null)
            return;
        _silos.Remove(instance);
        _stopped[instance.Name] = instance.InstanceNumber;
        await instance.StopSiloAsync(gracefully, cancellationToken).ConfigureAwait(false);
    }
}
