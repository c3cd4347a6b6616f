using System.Runtime.CompilerServices;

namespace ActOp.Shutdown.Tests;

/// <summary>Nothing keeps a node that has ended, its host and its services from the collector.</summary>
public class CollectionTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly string[] _before = Census.Begin();

    [Fact]
    public async Task A_stopped_silo_and_its_client_are_collected()
    {
        var traces = await RunAsync();
        await Census.CollectedAsync(traces);
    }

    [Fact]
    public async Task Twenty_starts_and_stops_leave_no_growth()
    {
        for (var round = 0; round < 3; round++)
            await RunAsync();
        // A silo has some hundred kilobytes; what the process keeps for each stop may be a few hundred bytes at most. Pools of the
        // framework grow with the most threads that ever ran at once, and then no more: what stops leave grows each time.
        var grown = long.MaxValue;
        for (var turn = 0; turn < 5 && grown > 20 * 20_000; turn++)
        {
            Census.Collect();
            var before = GC.GetTotalMemory(forceFullCollection: true);
            var traces = new List<(string, WeakReference)>();
            for (var round = 0; round < 20; round++)
                traces.AddRange(await RunAsync(round + " "));
            Census.Is(_before);
            await Census.CollectedAsync([.. traces]);
            grown = GC.GetTotalMemory(forceFullCollection: true) - before;
        }

        Assert.InRange(grown, long.MinValue, 20 * 20_000);
    }

    [Fact]
    public async Task A_silo_whose_start_failed_is_collected()
    {
        await Census.CollectedAsync(await FailAsync());

        static async Task<(string, WeakReference)[]> FailAsync()
        {
            using var host = Nodes.Silo(Nodes.Ports(), static silo =>
            {
                silo.Services.AddSingleton<Nodes.Mark>();
                silo.AddStartupTask(static (_, _) => throw new FormatException());
            });
            await Assert.ThrowsAsync<FormatException>(() => host.StartAsync().WaitAsync(Patience));
            return Nodes.Traces(host);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<(string, WeakReference)[]> RunAsync(string name = "")
    {
        var ports = Nodes.Ports();
        using var silo = Nodes.Silo(ports, static silo => silo.Services.AddSingleton<Nodes.Mark>());
        await silo.StartAsync();
        using var client = Nodes.Client(ports, static client => client.Services.AddSingleton<Nodes.Mark>());
        await client.StartAsync();
        await Nodes.UseAsync(client);
        await Nodes.UseAsync(silo);
        (string, WeakReference)[] traces = [.. Nodes.Traces(silo, name + "silo "), .. Nodes.Traces(client, name + "client ")];
        await client.StopAsync();
        await silo.StopAsync();
        return traces;
    }
}
