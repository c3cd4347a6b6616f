using ActOp.Harness.Processes;
using ActOp.Upgrade;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Process.Tests;

/// <summary>
/// A rolling upgrade: four processes of one application are replaced one after the other by a build with one more grain class, method,
/// field, enum member and derived type, and back again. The client is of the first build all the time.
/// </summary>
public sealed class UpgradeTests
{
    private const int Silos = 4;

    [Fact]
    public async Task A_rolling_upgrade_to_another_build_and_back_costs_no_request()
    {
        List<SiloProcess> silos = [];
        try
        {
            for (var silo = 0; silo < Silos; silo++)
            {
                var ports = Ports.FindFree(2);
                silos.Add(await StartAsync(build: 1, ports[0], ports[1], silo == 0 ? ports[0] : silos[0].Port));
            }

            foreach (var silo in silos)
                await silo.Sees(Silos);
            using var host = ProcessCluster.CreateClient("dev", [.. silos.Select(silo => silo.Gateway)]);
            await host.StartAsync().WaitAsync(Limits.Step);
            await RollAsync(silos, host.Services.GetRequiredService<IClusterClient>());
            await host.StopAsync();
        }
        finally
        {
            foreach (var silo in silos)
                await silo.DisposeAsync();
        }
    }

    private static async Task RollAsync(List<SiloProcess> silos, IClusterClient client)
    {
        using var stop = new CancellationTokenSource();
        var load = Enumerable.Range(10, 4).Select(seed => Load.RunAsync(client, seed, stop.Token)).ToArray();
        await Load.SweepAsync(client);
        foreach (var build in new[] { 2, 1 })
        {
            for (var silo = 0; silo < Silos; silo++)
            {
                await ReplaceAsync(silos, silo, build);
                Assert.All(load, one => Assert.False(one.IsCompleted, one.Exception?.ToString()));
                // One silo of the new build, or the last one: most silos that this client asks do not know its interface.
                if (build == 2 && silo == 0)
                    await SweepAsync(silos[1].Gateway);
                if (build == 1 && silo == Silos - 2)
                    await SweepAsync(silos[0].Gateway);
            }

            await Load.SweepAsync(client);
        }

        await stop.CancelAsync();
        foreach (var caller in load)
            Assert.True(await caller > 0);
    }

    private static async Task ReplaceAsync(List<SiloProcess> silos, int index, int build)
    {
        var old = silos[index];
        await old.StopAsync();
        Assert.DoesNotContain("LOAD FAILED", old.Output, StringComparison.Ordinal);
        Assert.Contains("LOAD ENDED", old.Output, StringComparison.Ordinal);
        Assert.Contains("STOPPED", old.Output, StringComparison.Ordinal);
        var primary = index == 0 ? old.Port : silos[0].Port;
        silos[index] = await StartAsync(build, old.Port, old.Gateway, primary);
        await old.DisposeAsync();
        await silos[index].Sees(Silos);
        foreach (var silo in silos)
        {
            Assert.DoesNotContain("LOAD FAILED", silo.Output, StringComparison.Ordinal);
            Assert.DoesNotContain("must stop", silo.Output, StringComparison.Ordinal);
        }
    }

    /// <summary>A client of the second build makes all its calls once.</summary>
    private static async Task SweepAsync(int gateway)
    {
        await using var client = SiloProcess.StartClient(PathOf(build: 2), gateway);
        await client.Says("SWEPT");
    }

    private static async Task<SiloProcess> StartAsync(int build, int port, int gateway, int primary)
    {
        var silo = SiloProcess.Start(port, gateway, primary, program: PathOf(build));
        await silo.Ready();
        return silo;
    }

    /// <summary>The build puts the first beside the tests, like everything that they reference, and the second into a folder.</summary>
    private static string PathOf(int build) =>
        Path.Combine(AppContext.BaseDirectory, build == 1 ? "" : "upgrade", "ActOp.Upgrade.dll");
}
