using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Internal;

namespace ActOp.Surface.Tests;

/// <summary>Lifecycles, executors and small tools for libraries.</summary>
public class HelperTests
{
    [Fact]
    public async Task A_lifecycle_starts_in_ascending_order_and_stops_in_descending_order_what_it_reached()
    {
        List<string> steps = [];
        var lifecycle = new Plain();
        Add(lifecycle, 2, steps);
        Add(lifecycle, 1, steps);
        Add(lifecycle, 3, steps).Dispose();
        await lifecycle.OnStart();
        Assert.Throws<InvalidOperationException>(() => Add(lifecycle, 1, steps));
        await lifecycle.OnStop();
        Assert.Equal(["start 1", "start 2", "stop 2", "stop 1"], steps);
    }

    [Fact]
    public async Task A_start_that_fails_ends_and_the_stop_reaches_what_had_begun()
    {
        List<string> steps = [];
        var lifecycle = new Plain();
        Add(lifecycle, 1, steps);
        lifecycle.Subscribe("bad", 2, _ => throw new InvalidOperationException("on purpose"), _ => throw new InvalidOperationException());
        Add(lifecycle, 3, steps);
        await Assert.ThrowsAsync<InvalidOperationException>(() => lifecycle.OnStart());
        await lifecycle.OnStop();
        Assert.Equal(["start 1", "stop 1"], steps);
    }

    [Fact]
    public async Task Functions_of_a_serial_executor_run_one_after_the_other_and_fail_alone()
    {
        var executor = new AsyncSerialExecutor();
        var gate = new TaskCompletionSource();
        List<int> order = [];
        var first = executor.AddNext(async () =>
        {
            await gate.Task;
            order.Add(1);
            throw new InvalidOperationException("on purpose");
        });
        var second = executor.AddNext(() =>
        {
            order.Add(2);
            return Task.CompletedTask;
        });
        gate.SetResult();
        await Assert.ThrowsAsync<InvalidOperationException>(() => first);
        await second;
        Assert.Equal([1, 2], order);
    }

    [Fact]
    public async Task A_batch_worker_serves_all_requests_that_come_meanwhile_in_one_round()
    {
        var rounds = 0;
        var gate = new TaskCompletionSource();
        var worker = new BatchWorkerFromDelegate(() =>
        {
            rounds++;
            return gate.Task;
        });
        var first = worker.NotifyAndWaitForWorkToBeServiced();
        var later = Enumerable.Range(0, 5).Select(_ => worker.NotifyAndWaitForWorkToBeServiced()).ToArray();
        Assert.False(worker.IsIdle());
        gate.SetResult();
        await first;
        await Task.WhenAll(later);
        Assert.Equal(2, rounds);
        Assert.True(worker.IsIdle());
    }

    [Fact]
    public async Task A_function_is_repeated_while_the_filter_asks_for_it()
    {
        List<int> attempts = [];
        var result = await AsyncExecutorWithRetries.ExecuteWithRetries(
            attempt =>
            {
                attempts.Add(attempt);
                return attempt < 2 ? throw new InvalidOperationException() : Task.FromResult("done");
            },
            5, static (exception, _) => exception is InvalidOperationException, default, new FixedBackoff(TimeSpan.Zero));
        Assert.Equal("done", result);
        Assert.Equal([0, 1, 2], attempts);
        await Assert.ThrowsAsync<FormatException>(() => AsyncExecutorWithRetries.ExecuteWithRetries(
            static _ => throw new FormatException(), AsyncExecutorWithRetries.INFINITE_RETRIES,
            static (exception, attempt) => attempt < 3, default, null));
    }

    [Fact]
    public void An_ignored_task_is_observed()
    {
        Task.FromException(new InvalidOperationException("nobody looks")).Ignore();
        Task.CompletedTask.Ignore();
    }

    [Fact]
    public void Gateways_are_written_as_addresses_and_read_back()
    {
        var silo = SiloAddress.New(System.Net.IPAddress.Loopback, 30000, 7);
        Assert.Equal("gwy.tcp://127.0.0.1:30000/7", silo.ToGatewayUri().ToString());
        Assert.Equal(silo, silo.ToGatewayUri().ToGatewayAddress());
        Assert.Equal(silo.Endpoint, silo.Endpoint.ToGatewayUri().ToIPEndPoint());
    }

    [Fact]
    public async Task A_lifecycle_with_the_stages_of_a_silo_starts_parts_without_one()
    {
        var steps = new List<string>();
        ISiloLifecycleSubject lifecycle = new SiloLifecycleSubject(NullLogger<SiloLifecycleSubject>.Instance);
        Add(lifecycle, ServiceLifecycleStage.Active, steps);
        Add(lifecycle, ServiceLifecycleStage.First, steps);
        Assert.Equal(int.MinValue, lifecycle.HighestCompletedStage);
        await lifecycle.OnStart(default);
        Assert.Equal(ServiceLifecycleStage.Active, lifecycle.HighestCompletedStage);
        var late = Assert.Throws<InvalidOperationException>(() => Add(lifecycle, ServiceLifecycleStage.First, steps));
        Assert.Contains(nameof(ServiceLifecycleStage.Active), late.Message, StringComparison.Ordinal);
        Assert.Equal(int.MaxValue, lifecycle.LowestStoppedStage);
        await lifecycle.OnStop(default);
        Assert.Equal(ServiceLifecycleStage.First, lifecycle.LowestStoppedStage);
        string[] stages = ["start " + ServiceLifecycleStage.First, "start " + ServiceLifecycleStage.Active];
        var stops = stages.Reverse().Select(static step => step.Replace("start", "stop", StringComparison.Ordinal));
        Assert.Equal([.. stages, .. stops], steps);
    }

    private static IDisposable Add(ILifecycleObservable lifecycle, int stage, List<string> steps) => lifecycle.Subscribe(
        "stage " + stage, stage,
        _ =>
        {
            steps.Add("start " + stage);
            return Task.CompletedTask;
        },
        _ =>
        {
            steps.Add("stop " + stage);
            return Task.CompletedTask;
        });

    private sealed class Plain() : LifecycleSubject(NullLogger.Instance);
}
