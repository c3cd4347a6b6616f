using System.Net;
using ActOp.Configuration;
using ActOp.Runtime.Placement;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Hosting.Tests;

/// <summary>What options of a silo change in a running one.</summary>
public class SiloOptionTests
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);

    [Fact]
    public async Task A_turn_that_takes_longer_than_the_threshold_is_logged_and_a_shorter_one_is_not()
    {
        var log = new LogCapture();
        await using var silos = await SilosInVirtualTime.Deploy(silo =>
        {
            silo.Services.AddSingleton<ILoggerProvider>(log);
            // One thread: a turn begins when the one before has ended and was judged.
            silo.Configure<StageOptions>(options => options.WorkThreads = 1);
            silo.Configure<SchedulingOptions>(options => options.TurnWarningLengthThreshold = TimeSpan.FromSeconds(3));
        }, silos: 1);
        LongGrain.Clock = silos.Clock;
        var (shorter, longer) = (silos.Grains.GetGrain<ILong>(1), silos.Grains.GetGrain<ILong>(2));
        await Task.WhenAll(shorter.Take(0), longer.Take(0));
        await shorter.Take(2);
        await longer.Take(4);
        bool IsLogged(ILong grain) =>
            log.Lines(LogLevel.Warning).Any(line => line.StartsWith("A turn of " + grain.GetGrainId(), StringComparison.Ordinal));
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(IsLogged(longer)), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.True(IsLogged(longer));
        Assert.False(IsLogged(shorter));
    }

    [Fact]
    public async Task Counted_placement_compares_as_many_silos_as_configured()
    {
        Assert.Equal(0, await SpreadAsync(chooseOutOf: 6));
        Assert.NotEqual(0, await SpreadAsync(chooseOutOf: 1));
    }

    /// <summary>Clients know it after two seconds, so a silo waits no longer.</summary>
    [Theory]
    [InlineData(777, 777)]
    [InlineData(0, 0)]
    [InlineData(7_777, 2_000)]
    public async Task A_silo_that_has_drained_waits_for_its_clients_as_long_as_configured(int configured, int milliseconds)
    {
        await using var silos = await SilosInVirtualTime.Deploy(silo => silo.Configure<SiloMessagingOptions>(options =>
            options.ClientGatewayShutdownNotificationTimeout = TimeSpan.FromMilliseconds(configured)));
        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), silos.NodeOf(1).ClientNotice);
        var began = new List<Task>();
        var drained = silos.NodeOf(1).DrainAsync(TestContext.Current.CancellationToken);
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                began.Add(silos.Clock.TimerSetAsync(TimeSpan.FromMilliseconds(milliseconds)));
                if (!drained.IsCompleted)
                    silos.Clock.Advance(Step);
                return Task.FromResult(drained.IsCompleted);
            },
            Gate.Patience, TimeSpan.FromMilliseconds(1));
        await drained;
        Assert.Equal(milliseconds > 0, began.Exists(static timer => timer.IsCompleted));
    }

    [Theory]
    [InlineData(70)]
    [InlineData(0)]
    public async Task A_silo_that_stops_waits_for_its_connections_as_long_as_configured(int milliseconds)
    {
        await using var silos = await SilosInVirtualTime.Deploy(
            silo => silo.Configure<SiloMessagingOptions>(options =>
                options.WaitForMessageToBeQueuedForOutboundTime = TimeSpan.FromMilliseconds(milliseconds)), silos: 3);
        // The other end does not close its part of a connection: its thread for that is busy with the loss of another one.
        using var arrived = new Gate();
        using var hang = new ManualResetEventSlim();
        var stopping = silos.NodeOf(0).Peers;
        silos.NodeOf(1).Peers.LinkLost += (_, _) =>
        {
            Gate.Touch(arrived.Name);
            hang.Wait(Gate.Patience);
        };
        silos.NodeOf(2).Kill();
        await arrived.ArrivedAsync();
        Assert.True(stopping.Mesh.LinkCount > 0);
        var stopped = stopping.StopAsync();
        for (var waited = 0; waited < milliseconds; waited += 10)
        {
            Assert.False(stopped.IsCompleted);
            await silos.Clock.TimerSetAsync(Step).WaitAsync(Gate.Patience);
            silos.Clock.Advance(Step);
        }

        await stopped.WaitAsync(Gate.Patience);
        hang.Set();
    }

    /// <summary>The difference between the most and the least activations of six silos.</summary>
    private static async Task<int> SpreadAsync(int chooseOutOf)
    {
        await using var silos = await SilosInVirtualTime.Deploy(
            silo => silo.Configure<ActivationCountBasedPlacementOptions>(options => options.ChooseOutOf = chooseOutOf), silos: 1);
        var node = silos.NodeOf(0);
        var director = new ActivationCountDirector(node.Local, node.ClusterView, node.Factory);
        var grain = silos.Grains.GetGrain<ILong>(0).GetGrainId();
        // It asks for the counts at its first choice, and not again before time passes.
        director.Choose(grain, [node.Address], node.Address);
        SiloAddress[] choices = [.. Enumerable.Range(1, 6).Select(static port => SiloAddress.New(IPAddress.Loopback, port, 1))];
        var seats = Enumerable.Range(0, 600).Select(_ => director.Choose(grain, choices, node.Address)).CountBy(static silo => silo)
            .ToArray();
        Assert.Equal(6, seats.Length);
        return seats.Max(static seat => seat.Value) - seats.Min(static seat => seat.Value);
    }

    public interface ILong : IGrainWithIntegerKey
    {
        Task Take(int seconds);
    }

    public sealed class LongGrain : Grain, ILong
    {
        internal static FakeClock? Clock;

        public Task Take(int seconds)
        {
            Clock?.Advance(TimeSpan.FromSeconds(seconds));
            return Task.CompletedTask;
        }
    }
}
