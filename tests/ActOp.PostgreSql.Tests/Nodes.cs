using ActOp.Harness.Processes;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;
using Orleans.Placement;

namespace ActOp.PostgreSql.Tests;

/// <summary>Says on which silo it is.</summary>
public interface IPlaceGrain : IGrainWithIntegerKey
{
    Task<string> Silo();
}

[RandomPlacement]
public sealed class PlaceGrain(ILocalSiloDetails silo) : Grain, IPlaceGrain
{
    public Task<string> Silo() => Task.FromResult(silo.SiloAddress.ToParsableString());
}

/// <summary>Silos and clients of one cluster on a database, in this process over TCP.</summary>
internal sealed class Nodes(string connectionString) : IAsyncDisposable
{
    private readonly List<IHost> _hosts = [];

    public async Task<IHost> StartSiloAsync(Action<ISiloBuilder>? configure = null)
    {
        var ports = Ports.FindFree(2);
        return await StartAsync(builder => builder.UseOrleans(silo =>
        {
            silo.UseAdoNetClustering(options =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = connectionString;
            });
            silo.Configure<EndpointOptions>(options =>
            {
                options.AdvertisedIPAddress = System.Net.IPAddress.Loopback;
                options.SiloPort = ports[0];
                options.GatewayPort = ports[1];
            });
            configure?.Invoke(silo);
        }));
    }

    public Task<IHost> StartClientAsync() => StartAsync(builder => builder.UseOrleansClient(client => client
        .UseAdoNetClustering(options =>
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = connectionString;
        })));

    /// <summary>A host without arguments, files and environment; <paramref name="settings"/> are of the section Orleans.</summary>
    public async Task<IHost> StartAsync(Action<HostApplicationBuilder> use, params (string Key, string Value)[] settings)
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Configuration.AddInMemoryCollection(
            settings.Select(static setting => KeyValuePair.Create("Orleans:" + setting.Key, (string?)setting.Value)));
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        use(builder);
        var host = builder.Build();
        _hosts.Add(host);
        await host.StartAsync().WaitAsync(PostgresFixture.Limit);
        return host;
    }

    public async Task StopAsync(IHost host)
    {
        _hosts.Remove(host);
        await host.StopAsync().WaitAsync(PostgresFixture.Limit);
        await ((IAsyncDisposable)host).DisposeAsync();
    }

    public static View ViewOf(IHost host) => host.Services.GetRequiredService<Node>().ClusterView.View;

    /// <summary>Waits until the view of a node has this many active silos.</summary>
    public static async Task SeesAsync(IHost host, int active)
    {
        var cluster = host.Services.GetRequiredService<Node>().ClusterView;
        using var limit = new CancellationTokenSource(PostgresFixture.Limit);
        while (true)
        {
            var changed = cluster.Changed;
            if (cluster.View.ActiveSilos.Length == active)
                return;
            await changed.WaitAsync(limit.Token);
        }
    }

    /// <summary>Calls grains with new keys until one answers; returns the silos on which the next ones are.</summary>
    public static async Task<HashSet<string>> PlacesAsync(IHost client, int first, int count)
    {
        HashSet<string> silos = [];
        for (var key = first; key < first + count; key++)
        {
            silos.Add(await client.Services.GetRequiredService<IGrainFactory>().GetGrain<IPlaceGrain>(key).Silo()
                .WaitAsync(PostgresFixture.Limit));
        }

        return silos;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var host in _hosts.ToArray().Reverse())
            await StopAsync(host);
    }
}
