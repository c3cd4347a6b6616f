using System.Net;
using ActOp.Configuration;
using ActOp.Harness.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Placement;

namespace ActOp.Tool.Tests;

public interface ICartGrain : IGrainWithStringKey
{
    Task<string> Add();
}

/// <summary>A grain of one silo until somebody moves it.</summary>
[PreferLocalPlacement]
public sealed class CartGrain(ILocalSiloDetails silo) : Grain, ICartGrain
{
    private int _items;

    public Task<string> Add()
    {
        _items++;
        return Task.FromResult(silo.Name);
    }
}

/// <summary>Silos of this process, with secrets of clients and operators, and hosts that stop when they are asked to.</summary>
public sealed class OperatedSilos : IAsyncLifetime
{
    internal const string Secret = "the secret of the silos, random";
    internal const string ClientSecret = "the secret of the clients, random";
    internal const string OperatorSecret = "the secret of the operators, random";

    private readonly List<IHost> _hosts = [];
    private readonly List<Task> _runs = [];
    private readonly int[] _ports = Ports.FindFree(6);
    private int _started;

    /// <summary>The gateway of the first silo.</summary>
    public int Gateway => _ports[1];

    public async ValueTask InitializeAsync()
    {
        await StartAsync();
        await StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var host in Enumerable.Reverse(_hosts))
            await host.StopAsync();
        await Task.WhenAll(_runs);
        _hosts.ForEach(static host => host.Dispose());
    }

    internal IGrainFactory GrainsOf(int silo) => _hosts[silo].Services.GetRequiredService<IGrainFactory>();

    /// <summary>Ends when the host of a silo has ended.</summary>
    internal Task RunOf(int silo) => _runs[silo];

    /// <summary>Starts the next silo: silo-0, silo-1 and so on.</summary>
    internal async Task StartAsync(Action<ISiloBuilder>? configure = null)
    {
        var number = _started++;
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Logging.ClearProviders();
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(_ports[2 * number], _ports[(2 * number) + 1],
                    number == 0 ? null : new IPEndPoint(IPAddress.Loopback, _ports[0]))
                .UseClusterSecret(Secret, ClientSecret)
                .Configure<ClusterSecurityOptions>(static options => options.OperatorSecret = OperatorSecret)
                .Configure<SiloOptions>(options => options.SiloName = "silo-" + number);
            configure?.Invoke(silo);
        });
        var host = builder.Build();
        _hosts.Add(host);
        await host.StartAsync();
        _runs.Add(host.WaitForShutdownAsync());
    }
}
