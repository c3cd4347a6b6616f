using System.Net;
using ActOp.Configuration;
using ActOp.Harness.Processes;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Placement;

namespace ActOp.Dashboard.Tests;

public interface IGameGrain : IGrainWithIntegerKey
{
    Task<int> Join(string player);
}

public interface IPlayerGrain : IGrainWithStringKey
{
    Task<int> Play(long game);

    Task Fail();
}

[RandomPlacement]
public sealed class GameGrain : Grain, IGameGrain
{
    private int _joins;

    public Task<int> Join(string player) => Task.FromResult(++_joins);
}

[RandomPlacement]
public sealed class PlayerGrain : Grain, IPlayerGrain
{
    public Task<int> Play(long game) => GrainFactory.GetGrain<IGameGrain>(game).Join(this.GetPrimaryKeyString());

    public Task Fail() => throw new InvalidOperationException("as asked");
}

/// <summary>Two silos in this process, with the dashboard in the web host of the first one, and calls between grains.</summary>
public sealed class TwoSilos : IAsyncLifetime
{
    private readonly List<WebApplication> _hosts = [];
    private readonly CancellationTokenSource _stopping = new();
    private Task _calls = Task.CompletedTask;

    /// <summary>The address of the first silo's web host.</summary>
    public Uri Address { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        var ports = Ports.FindFree(6);
        await StartAsync("silo-a", ports[0], ports[1], ports[2], null);
        await StartAsync("silo-b", ports[3], ports[4], ports[5], new IPEndPoint(IPAddress.Loopback, ports[1]));
        Address = new Uri($"http://localhost:{ports[0]}");
        _calls = CallAsync(_hosts[0].Services.GetRequiredService<IGrainFactory>());
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _calls;
        foreach (var host in Enumerable.Reverse(_hosts))
        {
            await host.StopAsync();
            await host.DisposeAsync();
        }

        _stopping.Dispose();
    }

    private async Task StartAsync(string name, int web, int silo, int gateway, IPEndPoint? primary)
    {
        var builder = WebApplication.CreateBuilder(new WebApplicationOptions { EnvironmentName = "Production" });
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls($"http://localhost:{web}");
        builder.UseOrleans(orleans => orleans.UseLocalhostClustering(silo, gateway, primary)
            .Configure<SiloOptions>(options => options.SiloName = name)
            .Configure<LocalityOptions>(static options =>
            {
                options.Enabled = true;
                // Counted, but nothing moves: both kinds of edges stay.
                options.MinRoundPeriod = options.MaxRoundPeriod = TimeSpan.FromHours(1);
            }));
        var app = builder.Build();
        app.MapActOpDashboard("/actop");
        app.MapActOpDashboard("/open").AllowAnonymous();
        _hosts.Add(app);
        await app.StartAsync();
    }

    /// <summary>As many calls as there is time for, one after the other.</summary>
    private async Task CallAsync(IGrainFactory grains)
    {
        for (var call = 0; !_stopping.IsCancellationRequested; call++)
        {
            var player = grains.GetGrain<IPlayerGrain>("player-" + (call % 40));
            await player.Play(call % 40);
            if (call % 100 == 0)
                await Record.ExceptionAsync(player.Fail);
            // Half of the time, so that the browser beside it gets a processor.
            if (call % 20 == 0)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System);
        }
    }
}
