using System.Diagnostics.Metrics;
using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Calls.Tests;

/// <summary>A one-way call has nobody to tell when it cannot run, so the silo says it.</summary>
public class OneWayTests
{
    [Fact]
    public async Task One_way_calls_that_a_full_mailbox_refuses_are_counted_and_logged()
    {
        var log = new LogCapture();
        var clock = new FakeClock();
        var builder = new InProcessTestClusterBuilder(1);
        builder.Options.InitializeClientOnDeploy = false;
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<ILoggerProvider>(log);
            silo.Services.AddSingleton<TimeProvider>(clock);
            silo.Configure<StageOptions>(options => options.MailboxLimit = 10);
        });
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var node = cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();
        using var gate = new Gate();
        var grain = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<ITold>(1);
        var running = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        for (var call = 0; call < 30; call++)
            await grain.Tell(call);
        await Assert.ThrowsAsync<LimitExceededException>(() => grain.Hold(null));
        // Calls that are in the mailbox may still be refused, on the turn that takes them.
        Assert.True(node.Activations.TryGet(grain.GetGrainId(), out var activation));
        var looked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        activation.Enqueue(new ActionItem(static state => ((TaskCompletionSource)state!).SetResult(), looked));
        await looked.Task.WaitAsync(Gate.Patience);
        var refused = Read(node.Metrics.Meter, "actop.calls.lost");
        // 10 wait for the running request, and up to 10 more in the mailbox until the next turn.
        Assert.InRange(refused, 10, 30);
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                // In steps: a look at the clock that runs meanwhile may set the next one later.
                clock.Advance(TimeSpan.FromSeconds(1));
                return Task.FromResult(log.Lines(LogLevel.Warning).Any(line => line.Contains(
                    refused + " one-way calls", StringComparison.Ordinal) && line.Contains("ITold/Tell", StringComparison.Ordinal)));
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(5));
        gate.Open();
        await running;
    }

    internal static long Read(Meter meter, string name)
    {
        long value = -1;
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, self) =>
        {
            if (ReferenceEquals(instrument.Meter, meter) && instrument.Name == name)
                self.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((_, measured, _, _) => value = measured);
        listener.Start();
        listener.RecordObservableInstruments();
        return value;
    }

    public interface ITold : IGrainWithIntegerKey
    {
        Task Hold(string? gate);

        [OneWay]
        Task Tell(int value);
    }

    public sealed class ToldGrain : Grain, ITold
    {
        public Task Hold(string? gate) => Gate.PassAsync(gate);

        public Task Tell(int value) => Task.CompletedTask;
    }
}
