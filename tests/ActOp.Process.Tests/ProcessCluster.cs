using ActOp.Harness.Processes;
using ActOp.Process.Silo;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace ActOp.Process.Tests;

/// <summary>Silo processes on loopback and a client in this process.</summary>
internal sealed class ProcessCluster : IAsyncDisposable
{
    private readonly List<SiloProcess> _silos = [];
    private IHost? _host;
    private int? _descriptors;

    public IReadOnlyList<SiloProcess> Silos => _silos;

    public IClusterClient Client => _host!.Services.GetRequiredService<IClusterClient>();

    public static async Task<ProcessCluster> StartAsync(int silos, int? descriptors = null)
    {
        var cluster = new ProcessCluster { _descriptors = descriptors };
        try
        {
            for (var i = 0; i < silos; i++)
                await cluster.AddAsync();
            foreach (var silo in cluster._silos)
                await silo.Sees(silos);
            cluster._host = CreateClient("dev", [.. cluster._silos.Select(silo => silo.Gateway)]);
            await cluster._host.StartAsync().WaitAsync(Limits.Patience);
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    public static IHost CreateClient(string clusterId, int[] gateways)
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.UseOrleansClient(client => client.UseLocalhostClustering(gateways, clusterId: clusterId));
        return builder.Build();
    }

    public IPlaceGrain Grain(long key) => Client.GetGrain<IPlaceGrain>(key);

    public async Task<SiloProcess> AddAsync()
    {
        var ports = Ports.FindFree(2);
        var silo = SiloProcess.Start(ports[0], ports[1], _silos.Count == 0 ? ports[0] : _silos[0].Port, _descriptors);
        _silos.Add(silo);
        await silo.Ready();
        return silo;
    }

    /// <summary>Starts a silo again whose process is over, on the same ports; it has no memory of what was.</summary>
    public async Task<SiloProcess> RestartAsync(SiloProcess ended)
    {
        var silo = SiloProcess.Start(ended.Port, ended.Gateway, _silos[0].Port, _descriptors);
        _silos[_silos.IndexOf(ended)] = silo;
        await ended.DisposeAsync();
        await silo.Ready();
        return silo;
    }

    /// <summary>
    /// Calls a grain until it answers: what was under way, and what comes before the client knows of the restart, may fail.
    /// </summary>
    public async Task<int> PortSoon(long key)
    {
        using var limit = new CancellationTokenSource(Limits.Patience);
        while (true)
        {
            try
            {
                return await Grain(key).Port();
            }
            catch (SiloUnavailableException) when (!limit.IsCancellationRequested)
            {
                // As an application would try again.
                await Task.Yield();
            }
        }
    }

    /// <summary>
    /// The first <paramref name="count"/> keys from <paramref name="first"/> on whose grains are on a silo; activates grains to find out,
    /// also while the others are about to hear of the silo.
    /// </summary>
    public async Task<long[]> KeysOn(SiloProcess silo, long first, int count)
    {
        var found = new List<long>();
        using var limit = new CancellationTokenSource(Limits.Patience);
        for (var key = first; found.Count < count && !limit.IsCancellationRequested; key++)
        {
            if (await Grain(key).Port() == silo.Port)
                found.Add(key);
        }

        Assert.Equal(count, found.Count);
        return [.. found];
    }

    public async ValueTask DisposeAsync()
    {
        if (_host is not null)
        {
            await _host.StopAsync();
            _host.Dispose();
        }

        foreach (var silo in _silos)
            await silo.DisposeAsync();
    }
}
