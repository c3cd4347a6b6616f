using ActOp.Reminders;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Reminders.Tests;

/// <summary>Reminders outlive their silos. In real time, with short periods; only numbers of ticks count.</summary>
public class ReminderLossTests
{
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(200);

    [Fact]
    public async Task Reminders_go_on_when_a_silo_is_killed_and_another_one_joins_and_leaves()
    {
        await using var cluster = await TestSilos.StartAsync(3, static silo => silo.UseInMemoryReminderService()
            .Configure<ReminderOptions>(static options => options.MinimumReminderPeriod = Period));
        var grains = Enumerable.Range(0, 60).Select(_ => cluster.Client.GetGrain<IReminded>(Guid.NewGuid())).ToArray();
        await Task.WhenAll(grains.Select(static grain => grain.Register("r", TimeSpan.Zero, Period)));
        await TickAsync(grains);
        // The oldest silo leads the table in memory, and owns a third of the reminders.
        var oldest = cluster.Silos.OrderBy(static silo => silo.SiloAddress.Generation).First();
        await cluster.KillSiloAsync(oldest);
        await TickAsync(grains);
        var joined = await cluster.StartAdditionalSiloAsync();
        await TickAsync(grains);
        // The others go on with its share until they hear of it.
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(ServiceOf(joined).Count > 0), 2 * Gate.Patience, TimeSpan.FromMilliseconds(20));
        await TickAsync(grains);
        await cluster.StopSiloAsync(joined);
        await TickAsync(grains);
        Assert.Equal(["r"], await grains[0].Names());
        foreach (var grain in grains)
        {
            var indexes = grain.Ticks().Select(static tick => (tick.CurrentTickTime - tick.FirstTickTime).Ticks / tick.Period.Ticks)
                .ToArray();
            Assert.Equal(indexes.Distinct(), indexes);
        }
    }

    /// <summary>Each grain gets some more ticks.</summary>
    private static async Task TickAsync(IReminded[] grains)
    {
        var before = grains.Select(static grain => grain.Ticks().Length).ToArray();
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(grains.Index().All(entry => entry.Item.Ticks().Length >= before[entry.Index] + 3)), 2 * Gate.Patience,
            TimeSpan.FromMilliseconds(20));
    }

    private static ReminderService ServiceOf(InProcessSiloHandle silo) =>
        silo.ServiceProvider.GetRequiredService<Node>().Local.Services.GetRequiredService<ReminderSilo>().Service!;
}
