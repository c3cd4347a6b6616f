using ActOp.Hosting;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Shutdown.Tests;

/// <summary>After its stop nothing of a node is left, however it stops.</summary>
public class StopTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly string[] _before = Census.Begin();

    [Fact]
    public async Task A_stopped_silo_leaves_nothing()
    {
        using var host = Nodes.Silo(Nodes.Ports());
        await host.StartAsync();
        await Nodes.UseAsync(host);
        Assert.NotEqual(_before, Census.Take());
        await host.StopAsync().WaitAsync(Patience);
        Census.Is(_before);
    }

    [Fact]
    public async Task A_stopped_client_leaves_nothing()
    {
        var ports = Nodes.Ports();
        using var silo = Nodes.Silo(ports);
        await silo.StartAsync();
        using var client = Nodes.Client(ports);
        await client.StartAsync();
        await Nodes.UseAsync(client);
        await client.StopAsync().WaitAsync(Patience);
        await silo.StopAsync().WaitAsync(Patience);
        Census.Is(_before);
    }

    [Fact]
    public async Task A_stop_whose_token_is_cancelled_leaves_nothing()
    {
        using var host = Nodes.Silo(Nodes.Ports());
        await host.StartAsync();
        await Nodes.UseAsync(host);
        await Record.ExceptionAsync(() => host.StopAsync(new CancellationToken(canceled: true)).WaitAsync(Patience));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_stop_does_not_wait_for_ever_for_a_grain_that_does_not_end()
    {
        using var host = Nodes.Silo(
            Nodes.Ports(), static silo =>
                silo.Configure<GrainCollectionOptions>(static options => options.DeactivationTimeout = TimeSpan.FromMilliseconds(200)));
        await host.StartAsync();
        await Nodes.UseAsync(host);
        await host.Services.GetRequiredService<IGrainFactory>().GetGrain<IBusyGrain>(1).Hang();
        await host.StopAsync().WaitAsync(Patience);
        Census.Is(_before);
    }

    [Fact]
    public async Task A_silo_that_was_declared_dead_does_not_wait_for_turns_that_never_come()
    {
        var log = new LogCapture();
        using var host = Nodes.Silo(Nodes.Ports(), silo => silo.ConfigureLogging(logging => logging.AddProvider(log)));
        await host.StartAsync();
        var grain = host.Services.GetRequiredService<IGrainFactory>().GetGrain<IBusyGrain>(1);
        await grain.Hang();
        var hangs = BusyGrain.HangsInItsEnd = new TaskCompletionSource();
        await grain.End();
        await hangs.Task.WaitAsync(Patience);
        var node = host.Services.GetRequiredService<Node>();
        node.Die("The test says so.");
        await host.StopAsync().WaitAsync(Patience);
        Assert.DoesNotContain(
            log.Lines(LogLevel.Warning), static line => line.Contains("ends while background work has not", StringComparison.Ordinal));
        Census.Is(_before);
    }

    [Fact]
    public async Task A_killed_silo_leaves_nothing()
    {
        using var host = Nodes.Silo(Nodes.Ports());
        await host.StartAsync();
        await Nodes.UseAsync(host);
        host.Services.GetRequiredService<Node>().Kill();
        Census.Is(_before);
    }

    [Fact]
    public async Task A_second_stop_waits_for_the_first_and_does_nothing_else()
    {
        using var host = Nodes.Silo(Nodes.Ports());
        await host.StartAsync();
        await Nodes.UseAsync(host);
        var service = host.Services.GetRequiredService<SiloHost>();
        var first = service.StopAsync(CancellationToken.None);
        var second = service.StopAsync(CancellationToken.None);
        await Task.WhenAll(first, second).WaitAsync(Patience);
        await service.StopAsync(CancellationToken.None).WaitAsync(Patience);
        Census.Is(_before);
    }

    [Fact]
    public async Task A_client_that_is_stopped_twice_leaves_nothing()
    {
        var ports = Nodes.Ports();
        using var silo = Nodes.Silo(ports);
        await silo.StartAsync();
        using var client = Nodes.Client(ports);
        await client.StartAsync();
        var service = client.Services.GetRequiredService<ClientHost>();
        await Task.WhenAll(service.StopAsync(CancellationToken.None), service.StopAsync(CancellationToken.None)).WaitAsync(Patience);
        await silo.StopAsync().WaitAsync(Patience);
        Census.Is(_before);
    }

    [Fact]
    public async Task A_host_that_is_disposed_without_a_stop_leaves_nothing()
    {
        var ports = Nodes.Ports();
        var silo = Nodes.Silo(ports);
        await silo.StartAsync();
        var client = Nodes.Client(ports);
        await client.StartAsync();
        await Nodes.UseAsync(client);
        client.Dispose();
        silo.Dispose();
        Census.Is(_before);
    }

    [Fact]
    public void A_node_that_was_made_and_never_started_leaves_nothing()
    {
        var host = Nodes.Silo(Nodes.Ports());
        Assert.NotNull(host.Services.GetRequiredService<ILocalSiloDetails>().SiloAddress);
        host.Dispose();
        Census.Is(_before);
    }

    [Fact]
    public async Task What_awaits_a_start_or_a_stop_goes_on_on_a_thread_of_its_own()
    {
        var names = await ThreadsAfterAsync();
        Assert.DoesNotContain(names, static name => name is not null && name.StartsWith("actop-", StringComparison.Ordinal));
    }

    private static async Task<List<string?>> ThreadsAfterAsync()
    {
        var ports = Nodes.Ports();
        using var silo = Nodes.Silo(ports);
        var names = new List<string?>();
        await silo.StartAsync().ConfigureAwait(false);
        names.Add(Thread.CurrentThread.Name);
        using var client = Nodes.Client(ports);
        await client.StartAsync().ConfigureAwait(false);
        names.Add(Thread.CurrentThread.Name);
        await client.StopAsync().ConfigureAwait(false);
        names.Add(Thread.CurrentThread.Name);
        await silo.StopAsync().ConfigureAwait(false);
        names.Add(Thread.CurrentThread.Name);
        return names;
    }
}
