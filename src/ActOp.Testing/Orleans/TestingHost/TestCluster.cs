using System.Collections.ObjectModel;
using ActOp.Runtime.Nodes;
using ActOp.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;

namespace Orleans.TestingHost;

/// <summary>A cluster of silos and a client in the process of the test, connected in memory.</summary>
/// <remarks>One thread at a time, except for <see cref="Client"/> and what it returns.</remarks>
public class TestCluster : IDisposable, IAsyncDisposable
{
    private readonly Fabric _fabric;
    private readonly TestClient _client = new();

    /// <summary>A cluster that is not deployed yet; see <see cref="TestClusterBuilder"/>.</summary>
    public TestCluster(TestClusterOptions options, IReadOnlyList<IConfigurationSource> configurationSources,
        ITestClusterPortAllocator portAllocator)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(configurationSources);
        ArgumentNullException.ThrowIfNull(portAllocator);
        Options = options;
        ConfigurationSources = configurationSources;
        PortAllocator = portAllocator;
        var file = options.ConfigureFileLogging
            ? Path.Combine(options.ApplicationBaseDirectory ?? Environment.CurrentDirectory, options.ClusterId + ".log")
            : null;
        _fabric = new Fabric(options.ClusterId, options.ServiceId, options.ConnectionTransport, options.UseTestClusterMembership, file);
        _createSilo = DefaultCreateSiloAsync;
    }

    /// <summary>The cluster's options.</summary>
    public TestClusterOptions Options { get; }

    /// <summary>Configuration of all nodes.</summary>
    public IReadOnlyList<IConfigurationSource> ConfigurationSources { get; }

    /// <summary>Where ports come from.</summary>
    public ITestClusterPortAllocator PortAllocator { get; }

    /// <summary>The client.</summary>
    /// <exception cref="InvalidOperationException">There is none: not deployed, or stopped.</exception>
    public IClusterClient Client => _client.Client;

    /// <summary>Makes references for the client.</summary>
    public IGrainFactory GrainFactory => Client;

    /// <summary>The client's services.</summary>
    public IServiceProvider ServiceProvider => Client.ServiceProvider;

    /// <summary>Starts the silos and connects the client.</summary>
    public void Deploy() => DeployAsync().GetAwaiter().GetResult();

    /// <summary>Starts the silos and connects the client.</summary>
    public Task DeployAsync() => DeployAsync(CancellationToken.None);

    /// <summary>Starts the silos and connects the client. When cancelled, ends what has started.</summary>
    public async Task DeployAsync(CancellationToken cancellationToken)
    {
        if (_silos.Count > 0)
            throw new InvalidOperationException("Cluster host already deployed.");
        await Hosts.DeployAsync(async () =>
        {
            _silos.Add(await StartSiloAsync(0, Options, null, false, cancellationToken).ConfigureAwait(false));
            if (Options.InitialSilosCount > 1)
                await StartAdditionalSilosAsync(Options.InitialSilosCount - 1, false, cancellationToken).ConfigureAwait(false);
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
        var configuration = Configuration([]);
        var builder = Hosts.NewBuilder(configuration);
        var gateways = GetActiveSilos().Select(silo => silo.GatewayAddress.Endpoint.Port).ToArray();
        builder.UseOrleansClient((_, client) => _fabric.AddClient(client.Services, Options.GatewayPerSilo ? gateways : gateways[..1]));
        Configurators.ApplyToClient(builder, configuration);
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
    public IServiceProvider GetSiloServiceProvider(SiloAddress? silo = null) => InProcess(silo).ServiceProvider;

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

    /// <summary>
    /// Waits until the views of all silos of this process have exactly the running silos as active ones. Silos in processes of their own
    /// have started when they are active, and are not asked.
    /// </summary>
    public Task WaitForLivenessToStabilizeAsync(bool didKill = false)
    {
        SiloAddress[] elsewhere =
            [.. GetActiveSilos().Where(static silo => silo is not InProcessSiloHandle).Select(static silo => silo.SiloAddress)];
        if (elsewhere.Length > 0 && !Nodes.Any())
            return Task.CompletedTask;
        var options = InProcess(null).ServiceProvider.GetRequiredService<IOptions<ClusterMembershipOptions>>().Value;
        return ClusterNodes.WaitForLivenessAsync([.. Nodes], GetLivenessStabilizationTime(options, didKill), elsewhere);
    }

    /// <summary>Waits until all silos know each other: their grain classes come with their rows in the view.</summary>
    public Task WaitForClusterManifestToStabilizeAsync(bool didKill = false) => WaitForLivenessToStabilizeAsync(didKill);

    /// <summary>What the nodes logged, from level information on.</summary>
    public string GetLog() => _fabric.Log.ToString();

    /// <summary>Ends all nodes at once.</summary>
    public void Dispose()
    {
        DisposeAsync().AsTask().GetAwaiter().GetResult();
        GC.SuppressFinalize(this);
    }

    /// <summary>Disconnects the client and ends all silos.</summary>
    public async ValueTask DisposeAsync()
    {
        SiloHandle[] silos = [.. _silos];
        _silos.Clear();
        await Hosts.EndAsync(_client, silos).ConfigureAwait(false);
        GC.SuppressFinalize(this);
    }

    private IEnumerable<Node> Nodes => GetActiveSilos().OfType<InProcessSiloHandle>().Select(silo => silo.Node);

    private InProcessSiloHandle InProcess(SiloAddress? silo) =>
        GetActiveSilos().OfType<InProcessSiloHandle>().FirstOrDefault(handle => silo is null || handle.SiloAddress.Equals(silo))
        ?? throw new ArgumentException(silo is null
            ? "No silo is active."
            : "No active silo of this process has the address " + silo + ".", nameof(silo));

    private IConfiguration Configuration(IReadOnlyList<IConfigurationSource> overrides)
    {
        var builder = new ConfigurationBuilder();
        foreach (var source in ConfigurationSources.Concat(overrides))
            builder.Add(source);
        return builder.Build();
    }

    private readonly List<SiloHandle> _silos = [];
    private readonly Dictionary<string, short> _stoppedSecondaries = [];
    private Func<string, IConfiguration, CancellationToken, Task<SiloHandle>> _createSilo;
    private int _instances = 1;

    /// <summary>How silos are made; <see cref="DefaultCreateSiloAsync(string, IConfiguration)"/> if not set.</summary>
    public Func<string, IConfiguration, Task<SiloHandle>> CreateSiloAsync
    {
        set => _createSilo = (name, configuration, _) => value(name, configuration);
    }

    /// <summary>How silos are made, by a function that can be cancelled.</summary>
    public Func<string, IConfiguration, CancellationToken, Task<SiloHandle>> CreateSiloAsyncWithCancellation
    {
        set => _createSilo = value;
    }

    /// <summary>The first silo while it runs.</summary>
    public SiloHandle? Primary => _silos.Find(silo => silo.InstanceNumber == 0);

    /// <summary>The other silos that run.</summary>
    public IReadOnlyList<SiloHandle> SecondarySilos => _silos.FindAll(silo => silo.InstanceNumber != 0);

    /// <summary>All silos that run, the first one first.</summary>
    public ReadOnlyCollection<SiloHandle> Silos => GetActiveSilos().ToList().AsReadOnly();

    /// <summary>All silos that run, the first one first.</summary>
    public IEnumerable<SiloHandle> GetActiveSilos() =>
        _silos.Where(static silo => silo.IsActive).OrderBy(static silo => silo.InstanceNumber != 0);

    /// <summary>The silo with this address, or null.</summary>
    public SiloHandle? GetSiloForAddress(SiloAddress siloAddress) => _silos.Find(silo => silo.SiloAddress.Equals(siloAddress));

    /// <summary>Whether a silo that was started and not stopped has this address.</summary>
    public bool ContainsSilo(SiloAddress siloAddress) => GetSiloForAddress(siloAddress) is not null;

    /// <summary>Starts a silo in this process.</summary>
    public Task<SiloHandle> DefaultCreateSiloAsync(string siloName, IConfiguration configuration) =>
        DefaultCreateSiloAsync(siloName, configuration, CancellationToken.None);

    /// <summary>Starts a silo in this process.</summary>
    public async Task<SiloHandle> DefaultCreateSiloAsync(
        string siloName, IConfiguration configuration, CancellationToken cancellationToken) =>
        await InProcessSiloHandle.CreateAsync(siloName, configuration, host => host.UseOrleans((_, silo) =>
            _fabric.AddSilo(silo.Services, int.Parse(configuration[nameof(TestSiloSpecificOptions.SiloPort)]!),
                int.Parse(configuration[nameof(TestSiloSpecificOptions.GatewayPort)]!))), cancellationToken).ConfigureAwait(false);

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public static Task<SiloHandle> StartSiloAsync(TestCluster cluster, int instanceNumber, TestClusterOptions clusterOptions,
        IReadOnlyList<IConfigurationSource>? configurationOverrides = null, bool startSiloOnNewPort = false)
    {
        ArgumentNullException.ThrowIfNull(cluster);
        return cluster.StartSiloAsync(instanceNumber, clusterOptions, configurationOverrides, startSiloOnNewPort);
    }

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    /// <param name="instanceNumber">Its number, from which come its name and ports.</param>
    /// <param name="clusterOptions">The cluster's options.</param>
    /// <param name="configurationOverrides">Configuration for this silo only.</param>
    /// <param name="startSiloOnNewPort">Whether it gets ports that no silo of the cluster has had.</param>
    public Task<SiloHandle> StartSiloAsync(int instanceNumber, TestClusterOptions clusterOptions,
        IReadOnlyList<IConfigurationSource>? configurationOverrides = null, bool startSiloOnNewPort = false) =>
        StartSiloAsync(instanceNumber, clusterOptions, configurationOverrides, startSiloOnNewPort, CancellationToken.None);

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public async Task<SiloHandle> StartSiloAsync(int instanceNumber, TestClusterOptions clusterOptions,
        IReadOnlyList<IConfigurationSource>? configurationOverrides, bool startSiloOnNewPort, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(clusterOptions);
        var options = TestSiloSpecificOptions.Create(this, clusterOptions, instanceNumber, startSiloOnNewPort);
        var name = options.SiloName;
        var own = new ConfigurationBuilder().AddInMemoryCollection(options.ToDictionary());
        var configuration = Configuration([.. own.Sources, .. configurationOverrides ?? []]);
        var handle = await _createSilo(name, configuration, cancellationToken).ConfigureAwait(false);
        handle.InstanceNumber = (short)instanceNumber;
        handle.ClusterOptions = clusterOptions;
        return handle;
    }

    /// <summary>Starts one more silo.</summary>
    public SiloHandle StartAdditionalSilo(bool startAdditionalSiloOnNewPort = false) =>
        StartAdditionalSiloAsync(startAdditionalSiloOnNewPort).GetAwaiter().GetResult();

    /// <summary>Starts one more silo.</summary>
    public async Task<SiloHandle> StartAdditionalSiloAsync(bool startAdditionalSiloOnNewPort = false) =>
        (await StartAdditionalSilosAsync(1, startAdditionalSiloOnNewPort).ConfigureAwait(false))[0];

    /// <summary>Starts more silos, all at once.</summary>
    public Task<List<SiloHandle>> StartAdditionalSilosAsync(int silosToStart, bool startAdditionalSiloOnNewPort = false) =>
        StartAdditionalSilosAsync(silosToStart, startAdditionalSiloOnNewPort, CancellationToken.None);

    /// <summary>Starts more silos, all at once.</summary>
    public async Task<List<SiloHandle>> StartAdditionalSilosAsync(
        int silosToStart, bool startAdditionalSiloOnNewPort, CancellationToken cancellationToken)
    {
        var starting = new List<Task<SiloHandle>>();
        for (var count = 0; count < silosToStart; count++)
            starting.Add(StartSiloAsync(_instances++, Options, null, startAdditionalSiloOnNewPort, cancellationToken));
        var started = await Hosts.StartedAsync(starting).ConfigureAwait(false);
        _silos.AddRange(started);
        return [.. started];
    }

    /// <summary>Stops a silo in order; nothing for null.</summary>
    public Task StopSiloAsync(SiloHandle instance) => StopSiloAsync(instance, CancellationToken.None);

    /// <summary>Stops a silo in order, when cancelled at once; nothing for null.</summary>
    public Task StopSiloAsync(SiloHandle instance, CancellationToken cancellationToken) =>
        EndSiloAsync(instance, gracefully: true, cancellationToken);

    /// <summary>Ends a silo as a crash would; nothing for null.</summary>
    public Task KillSiloAsync(SiloHandle instance) => KillSiloAsync(instance, CancellationToken.None);

    /// <summary>Ends a silo as a crash would; nothing for null.</summary>
    public Task KillSiloAsync(SiloHandle instance, CancellationToken cancellationToken) =>
        EndSiloAsync(instance, gracefully: false, cancellationToken);

    /// <summary>Stops a silo in order and starts it again with the same name and ports.</summary>
    public async Task<SiloHandle?> RestartSiloAsync(SiloHandle instance)
    {
        if (instance is null)
            return null;
        await StopSiloAsync(instance).ConfigureAwait(false);
        return await StartAgainAsync(instance.InstanceNumber).ConfigureAwait(false);
    }

    /// <summary>Starts a silo again that was stopped or killed.</summary>
    public Task<SiloHandle> RestartStoppedSecondarySiloAsync(string siloName)
    {
        ArgumentNullException.ThrowIfNull(siloName);
        if (_stoppedSecondaries.TryGetValue(siloName, out var number))
            return StartAgainAsync(number);
        // Its handle may have stopped it, or it has ended itself.
        var ended = _silos.Find(silo => silo.Name == siloName && !silo.IsActive)
            ?? throw new ArgumentException("No stopped silo has the name " + siloName + ".", nameof(siloName));
        _silos.Remove(ended);
        return StartAgainAsync(ended.InstanceNumber);
    }

    /// <summary>Stops the client and the first silo in order.</summary>
    /// <exception cref="InvalidOperationException">It does not run.</exception>
    public Task StopPrimarySiloAsync() => StopPrimarySiloAsync(CancellationToken.None);

    /// <summary>Stops the client and the first silo in order, when cancelled at once.</summary>
    /// <exception cref="InvalidOperationException">It does not run.</exception>
    public async Task StopPrimarySiloAsync(CancellationToken cancellationToken)
    {
        if (Primary is not { } primary)
            throw new InvalidOperationException("There is no primary silo");
        await StopClusterClientAsync(cancellationToken).ConfigureAwait(false);
        await StopSiloAsync(primary, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Stops all silos but the first one in order.</summary>
    public Task StopSecondarySilosAsync() => StopSecondarySilosAsync(CancellationToken.None);

    /// <summary>Stops all silos but the first one in order, when cancelled at once.</summary>
    public async Task StopSecondarySilosAsync(CancellationToken cancellationToken)
    {
        foreach (var silo in SecondarySilos)
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
        await StopSecondarySilosAsync(cancellationToken).ConfigureAwait(false);
        if (Primary is { } primary)
            await StopSiloAsync(primary, cancellationToken).ConfigureAwait(false);
    }

    private async Task<SiloHandle> StartAgainAsync(short instanceNumber)
    {
        var handle = await StartSiloAsync(instanceNumber, Options).ConfigureAwait(false);
        _stoppedSecondaries.Remove(handle.Name);
        _silos.Add(handle);
        return handle;
    }

    private async Task EndSiloAsync(SiloHandle instance, bool gracefully, CancellationToken cancellationToken)
    {
        if (instance is null)
            return;
        _silos.Remove(instance);
        _stoppedSecondaries[instance.Name] = instance.InstanceNumber;
        await instance.StopSiloAsync(gracefully, cancellationToken).ConfigureAwait(false);
    }
}
