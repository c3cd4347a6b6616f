using System.Collections.ObjectModel;
using ActOp.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;
using Orleans.Runtime;

namespace Orleans.TestingHost;

/// <content>Starting, stopping and killing silos.</content>
public sealed partial class InProcessTestCluster
{
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

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public async Task<InProcessSiloHandle> CreateSiloAsync(InProcessTestSiloSpecificOptions siloOptions)
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
        var handle = await InProcessSiloHandle.StartAsync(siloOptions.SiloName, builder.Build()).ConfigureAwait(false);
        handle.InstanceNumber = (short)siloOptions.InstanceNumber;
        return handle;
    }

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public static Task<InProcessSiloHandle> StartSiloAsync(InProcessTestCluster cluster, int instanceNumber, InProcessTestClusterOptions clusterOptions)
    {
        ArgumentNullException.ThrowIfNull(cluster);
        return cluster.StartSiloAsync(instanceNumber, clusterOptions);
    }

    /// <summary>Starts a silo without adding it to <see cref="Silos"/>.</summary>
    public Task<InProcessSiloHandle> StartSiloAsync(int instanceNumber, InProcessTestClusterOptions clusterOptions) =>
        CreateSiloAsync(InProcessTestSiloSpecificOptions.Create(this, clusterOptions, instanceNumber));

    /// <summary>Starts one more silo.</summary>
    public InProcessSiloHandle StartAdditionalSilo() => StartAdditionalSiloAsync().GetAwaiter().GetResult();

    /// <summary>Starts one more silo.</summary>
    public Task<InProcessSiloHandle> StartAdditionalSiloAsync() => StartAdditionalSiloAsync(startAdditionalSiloOnNewPort: false);

    /// <summary>Starts one more silo.</summary>
    public async Task<InProcessSiloHandle> StartAdditionalSiloAsync(bool startAdditionalSiloOnNewPort)
    {
        var handle = await CreateSiloAsync(InProcessTestSiloSpecificOptions.Create(this, Options, _instances++, startAdditionalSiloOnNewPort)).ConfigureAwait(false);
        _silos.Add(handle);
        return handle;
    }

    /// <summary>Starts more silos, all at once.</summary>
    public async Task<List<InProcessSiloHandle>> StartSilosAsync(int silosToStart)
    {
        var starting = new List<Task<InProcessSiloHandle>>();
        for (var count = 0; count < silosToStart; count++)
            starting.Add(StartSiloAsync(_instances++, Options));
        var started = await Hosts.StartedAsync(starting).ConfigureAwait(false);
        _silos.AddRange(started);
        return [.. started];
    }

    /// <summary>Stops a silo in order.</summary>
    public Task StopSiloAsync(InProcessSiloHandle instance) => EndSiloAsync(instance, gracefully: true);

    /// <summary>Ends a silo as a crash would.</summary>
    public Task KillSiloAsync(InProcessSiloHandle instance) => EndSiloAsync(instance, gracefully: false);

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
            throw new ArgumentException("No silo called " + siloName + " was stopped.", nameof(siloName));
        var handle = await StartSiloAsync(number, Options).ConfigureAwait(false);
        _silos.Add(handle);
        return handle;
    }

    /// <summary>Stops all silos in order.</summary>
    public async Task StopSilosAsync()
    {
        foreach (var silo in Silos.Reverse())
            await StopSiloAsync(silo).ConfigureAwait(false);
    }

    /// <summary>Stops the client and all silos in order.</summary>
    public void StopAllSilos() => StopAllSilosAsync().GetAwaiter().GetResult();

    /// <summary>Stops the client and all silos in order.</summary>
    public async Task StopAllSilosAsync()
    {
        await StopClusterClientAsync().ConfigureAwait(false);
        await StopSilosAsync().ConfigureAwait(false);
    }

    internal (int Silo, int Gateway) PortsOf(int instanceNumber, bool assignNewPort)
    {
        if (assignNewPort || instanceNumber >= PortPairs)
            return PortAllocator.AllocateConsecutivePortPairs(1);
        if (_basePorts.Silo == 0)
            _basePorts = PortAllocator.AllocateConsecutivePortPairs(PortPairs);
        return (_basePorts.Silo + instanceNumber, _basePorts.Gateway + instanceNumber);
    }

    private async Task EndSiloAsync(InProcessSiloHandle instance, bool gracefully)
    {
        ArgumentNullException.ThrowIfNull(instance);
        _silos.Remove(instance);
        _stopped[instance.Name] = instance.InstanceNumber;
        await instance.StopSiloAsync(gracefully).ConfigureAwait(false);
    }
}
