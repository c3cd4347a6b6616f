using System.Collections.ObjectModel;
using ActOp.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Orleans.Runtime;

namespace Orleans.TestingHost;

/// <content>Starting, stopping and killing silos.</content>
public partial class TestCluster
{
    private const string SiloNameKey = "SiloName";
    private const string SiloPortKey = "SiloPort";
    private const string GatewayPortKey = "GatewayPort";

    private readonly List<SiloHandle> _silos = [];
    private readonly Dictionary<string, short> _stoppedSecondaries = [];
    private Func<string, IConfiguration, Task<SiloHandle>> _createSilo;
    private int _instances = 1;

    /// <summary>How silos are made; <see cref="DefaultCreateSiloAsync"/> if not set.</summary>
    public Func<string, IConfiguration, Task<SiloHandle>> CreateSiloAsync
    {
        set => _createSilo = value;
    }

    /// <summary>The first silo while it runs.</summary>
    public SiloHandle? Primary => _silos.Find(silo => silo.InstanceNumber == 0);

    /// <summary>The other silos that run.</summary>
    public IReadOnlyList<SiloHandle> SecondarySilos => _silos.FindAll(silo => silo.InstanceNumber != 0);

    /// <summary>All silos that run.</summary>
    public ReadOnlyCollection<SiloHandle> Silos => _silos.ToList().AsReadOnly();

    /// <summary>All silos that run.</summary>
    public IEnumerable<SiloHandle> GetActiveSilos() => _silos.FindAll(silo => silo.IsActive);

    /// <summary>The silo with this address, or null.</summary>
    public SiloHandle? GetSiloForAddress(SiloAddress siloAddress) => _silos.Find(silo => silo.SiloAddress.Equals(siloAddress));

    /// <summary>Starts a silo in this process.</summary>
    public async Task<SiloHandle> DefaultCreateSiloAsync(string siloName, IConfiguration configuration) =>
        await InProcessSiloHandle.CreateAsync(siloName, configuration, host => host.UseOrleans((_, silo) =>
            _fabric.AddSilo(silo.Services, int.Parse(configuration[SiloPortKey]!), int.Parse(configuration[GatewayPortKey]!)))).ConfigureAwait(false);

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public static Task<SiloHandle> StartSiloAsync(TestCluster cluster, int instanceNumber, TestClusterOptions clusterOptions, IReadOnlyList<IConfigurationSource>? configurationOverrides = null, bool startSiloOnNewPort = false)
    {
        ArgumentNullException.ThrowIfNull(cluster);
        return cluster.StartSiloAsync(instanceNumber, clusterOptions, configurationOverrides, startSiloOnNewPort);
    }

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    /// <param name="instanceNumber">Its number, from which come its name and ports.</param>
    /// <param name="clusterOptions">The cluster's options.</param>
    /// <param name="configurationOverrides">Configuration for this silo only.</param>
    /// <param name="startSiloOnNewPort">Whether it gets ports that no silo of the cluster has had.</param>
    public async Task<SiloHandle> StartSiloAsync(int instanceNumber, TestClusterOptions clusterOptions, IReadOnlyList<IConfigurationSource>? configurationOverrides = null, bool startSiloOnNewPort = false)
    {
        ArgumentNullException.ThrowIfNull(clusterOptions);
        var name = instanceNumber == 0 ? "Primary" : "Secondary_" + instanceNumber;
        var (siloPort, gatewayPort) = startSiloOnNewPort
            ? PortAllocator.AllocateConsecutivePortPairs(1)
            : (clusterOptions.BaseSiloPort + instanceNumber, clusterOptions.BaseGatewayPort + instanceNumber);
        var own = new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?>
        {
            [SiloNameKey] = name,
            [SiloPortKey] = siloPort.ToString(),
            [GatewayPortKey] = clusterOptions.GatewayPerSilo || instanceNumber == 0 ? gatewayPort.ToString() : "0",
        });
        var handle = await _createSilo(name, Configuration([.. own.Sources, .. configurationOverrides ?? []])).ConfigureAwait(false);
        handle.InstanceNumber = (short)instanceNumber;
        handle.ClusterOptions = clusterOptions;
        return handle;
    }

    /// <summary>Starts one more silo.</summary>
    public SiloHandle StartAdditionalSilo(bool startAdditionalSiloOnNewPort = false) => StartAdditionalSiloAsync(startAdditionalSiloOnNewPort).GetAwaiter().GetResult();

    /// <summary>Starts one more silo.</summary>
    public async Task<SiloHandle> StartAdditionalSiloAsync(bool startAdditionalSiloOnNewPort = false) =>
        (await StartAdditionalSilosAsync(1, startAdditionalSiloOnNewPort).ConfigureAwait(false))[0];

    /// <summary>Starts more silos, all at once.</summary>
    public async Task<List<SiloHandle>> StartAdditionalSilosAsync(int silosToStart, bool startAdditionalSiloOnNewPort = false)
    {
        var starting = new List<Task<SiloHandle>>();
        for (var count = 0; count < silosToStart; count++)
            starting.Add(StartSiloAsync(_instances++, Options, null, startAdditionalSiloOnNewPort));
        var started = await Hosts.StartedAsync(starting).ConfigureAwait(false);
        _silos.AddRange(started);
        return [.. started];
    }

    /// <summary>Stops a silo in order.</summary>
    public Task StopSiloAsync(SiloHandle instance) => EndSiloAsync(instance, gracefully: true);

    /// <summary>Ends a silo as a crash would.</summary>
    public Task KillSiloAsync(SiloHandle instance) => EndSiloAsync(instance, gracefully: false);

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
        return _stoppedSecondaries.TryGetValue(siloName, out var number)
            ? StartAgainAsync(number)
            : throw new ArgumentException("No silo called " + siloName + " was stopped.", nameof(siloName));
    }

    /// <summary>Stops the first silo in order.</summary>
    /// <exception cref="InvalidOperationException">It does not run.</exception>
    public Task StopPrimarySiloAsync() => StopSiloAsync(Primary ?? throw new InvalidOperationException("The first silo does not run."));

    /// <summary>Stops all silos but the first one in order.</summary>
    public async Task StopSecondarySilosAsync()
    {
        foreach (var silo in SecondarySilos)
            await StopSiloAsync(silo).ConfigureAwait(false);
    }

    /// <summary>Stops the client and all silos in order.</summary>
    public void StopAllSilos() => StopAllSilosAsync().GetAwaiter().GetResult();

    /// <summary>Stops the client and all silos in order.</summary>
    public async Task StopAllSilosAsync()
    {
        await StopClusterClientAsync().ConfigureAwait(false);
        await StopSecondarySilosAsync().ConfigureAwait(false);
        if (Primary is { } primary)
            await StopSiloAsync(primary).ConfigureAwait(false);
    }

    private async Task<SiloHandle> StartAgainAsync(short instanceNumber)
    {
        var handle = await StartSiloAsync(instanceNumber, Options).ConfigureAwait(false);
        _stoppedSecondaries.Remove(handle.Name);
        _silos.Add(handle);
        return handle;
    }

    private async Task EndSiloAsync(SiloHandle instance, bool gracefully)
    {
        ArgumentNullException.ThrowIfNull(instance);
        _silos.Remove(instance);
        _stoppedSecondaries[instance.Name] = instance.InstanceNumber;
        await instance.StopSiloAsync(gracefully).ConfigureAwait(false);
    }
}
