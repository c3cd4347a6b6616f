using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.Runtime.Messaging;
using Orleans.Runtime.Utilities;
using Orleans.Statistics;
using Orleans.Timers.Internal;

namespace ActOp.Surface.Tests.InnerParts;

/// <summary>Small services of silos and clients under the names of Orleans.</summary>
public class ServicePartTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_moments_of_a_silo_come_in_their_order_and_wait_for_their_callbacks()
    {
        var told = new ConcurrentQueue<string>();
        await using var cluster = await TestSilos.StartAsync();
        var lifecycle = cluster.Silos[0].ServiceProvider.GetRequiredService<IServiceLifecycle>();
        await lifecycle.Started.WaitAsync(Token);
        Assert.True(lifecycle.Started.Token.IsCancellationRequested);
        Assert.False(lifecycle.Stopping.Token.IsCancellationRequested);
        lifecycle.Started.Register((state, _) => Tell((string)state!), "late").Dispose();
        lifecycle.Stopping.Register(async (_, _) =>
        {
            await Task.Yield();
            told.Enqueue("stopping");
        });
        lifecycle.Stopping.Register((_, _) => Tell("taken back")).Dispose();
        lifecycle.Stopping.Register((_, _) => throw new InvalidOperationException("on purpose"), null, terminateOnError: false);
        lifecycle.Stopped.Register((_, _) => Tell("stopped"));
        await cluster.StopAllSilosAsync();
        Assert.Equal(["late", "stopping", "stopped"], told);
        Assert.True(lifecycle.Stopped.Token.IsCancellationRequested);

        Task Tell(string what)
        {
            told.Enqueue(what);
            return Task.CompletedTask;
        }
    }

    [Fact]
    public async Task A_callback_that_must_succeed_fails_the_start_and_another_one_does_not()
    {
        await using var cluster = await TestSilos.StartAsync(1, static silo => Fail(silo, terminates: false));
        var failed = new TaskCompletionSource<IServiceLifecycle>(TaskCreationOptions.RunContinuationsAsynchronously);
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => TestSilos.StartAsync(1, silo => Fail(silo, terminates: true, failed)));
        Assert.Contains("on purpose", failure.ToString(), StringComparison.Ordinal);
        var lifecycle = await failed.Task;
        Assert.True(lifecycle.Stopping.Token.IsCancellationRequested);
        Assert.True(lifecycle.Stopped.Token.IsCancellationRequested);

        static void Fail(ISiloBuilder silo, bool terminates, TaskCompletionSource<IServiceLifecycle>? seen = null) =>
            silo.AddStartupTask((services, _) =>
            {
                var lifecycle = services.GetRequiredService<IServiceLifecycle>();
                lifecycle.Started.Register(static (_, _) => throw new InvalidOperationException("on purpose"), null, terminates);
                seen?.TrySetResult(lifecycle);
                return Task.CompletedTask;
            });
    }

    [Fact]
    public async Task Measurements_have_their_older_names_on_silos_and_clients()
    {
        await using var cluster = await TestSilos.StartAsync();
        IServiceProvider[] nodes = [cluster.Silos[0].ServiceProvider, cluster.Client.ServiceProvider];
        foreach (var services in nodes)
        {
            var measured = services.GetRequiredService<IEnvironmentStatisticsProvider>().GetEnvironmentStatistics();
            var host = services.GetRequiredService<IHostEnvironmentStatistics>();
            Assert.Equal(measured.MaximumAvailableMemoryBytes, host.TotalPhysicalMemory);
            Assert.InRange(host.AvailableMemory!.Value, 0, measured.MaximumAvailableMemoryBytes);
            Assert.InRange(host.CpuUsage!.Value, 0, 100);
            Assert.True(services.GetRequiredService<IAppEnvironmentStatistics>().MemoryUsage > 0);
        }
    }

    [Fact]
    public async Task A_detector_of_the_application_decides_when_clients_are_refused()
    {
        var detector = new Switch();
        await using var cluster = await TestSilos.StartAsync(1, silo => silo.Services.AddSingleton<IOverloadDetector>(detector));
        var grain = cluster.Client.GetGrain<IPlainPart>("overload");
        await grain.Touch();
        detector.IsOverloaded = true;
        // It is asked from time to time, beside the calls.
        await UntilAsync(refused: true);
        await cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IPlainPart>("overload").Touch();
        detector.Throws = true;
        await UntilAsync(refused: false);

        Task UntilAsync(bool refused) => TestingUtils.WaitUntilAsync(
            async _ => await Record.ExceptionAsync(grain.Touch) is GatewayTooBusyException == refused, Gate.Patience,
            TimeSpan.FromMilliseconds(20));
    }

    [Fact]
    public async Task A_silo_without_load_shedding_is_not_overloaded()
    {
        await using var cluster = await TestSilos.StartAsync();
        Assert.False(cluster.Silos[0].ServiceProvider.GetRequiredService<IOverloadDetector>().IsOverloaded);
    }

    [Fact]
    public async Task A_wait_by_the_clock_of_the_silo_ends_with_its_time_or_its_token()
    {
        await using var cluster = await TestSilos.StartAsync();
        var timers = cluster.Silos[0].ServiceProvider.GetRequiredService<ITimerManager>();
        Assert.True(await timers.Delay(TimeSpan.FromMilliseconds(1), Token));
        using var ended = new CancellationTokenSource();
        var wait = timers.Delay(Timeout.InfiniteTimeSpan, ended.Token);
        Assert.False(wait.IsCompleted);
        await ended.CancelAsync();
        Assert.False(await wait);
    }

    [Fact]
    public async Task A_debugger_finds_the_object_of_a_grain_on_the_same_silo()
    {
        await using var cluster = await TestSilos.StartAsync();
        Assert.Null(OrleansDebuggerHelper.GetGrainInstance(null));
        Assert.Null(OrleansDebuggerHelper.GetGrainInstance("no grain"));
        var factory = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
        var grain = factory.GetGrain<IPlainPart>("debugged");
        Assert.Null(OrleansDebuggerHelper.GetGrainInstance(grain));
        await grain.Touch();
        var found = Assert.IsType<PlainPartGrain>(OrleansDebuggerHelper.GetGrainInstance(grain));
        Assert.Same(found, OrleansDebuggerHelper.GetGrainInstance(found));
        Assert.Null(OrleansDebuggerHelper.GetGrainInstance(cluster.Client.GetGrain<IPlainPart>("debugged")));
    }

    [Fact]
    public void The_prefixes_of_grain_types_tell_what_is_no_grain()
    {
        Assert.True(GrainTypePrefix.ClientGrainType.IsClient());
        Assert.True(GrainId.Create("sys.svc.user.abc", "1").Type.IsGrainService());
        Assert.True(GrainId.Create("sys.svc.abc", "1").IsSystemTarget());
        Assert.True(GrainId.Create("sys.cluster", "1").IsSystemTarget());
        Assert.False(GrainTypePrefix.ClientGrainType.IsSystemTarget());
        Assert.False(GrainType.Create("user").IsSystemTarget());
        Assert.True(GrainType.Create(GrainTypePrefix.LegacyGrainPrefix + "x").IsLegacyGrain());
        Assert.Equal(GrainTypePrefix.SystemTargetPrefix, System.Text.Encoding.UTF8.GetString(GrainTypePrefix.SystemTargetPrefixBytes.Span));
    }

    [Fact]
    public void Logs_have_dates_that_can_be_read_and_exceptions_as_the_application_writes_them()
    {
        var date = new DateTime(2026, 1, 2, 3, 4, 5, 678, DateTimeKind.Utc);
        Assert.Equal("2026-01-02 03:04:05.678 GMT", LogFormatter.PrintDate(date));
        Assert.Equal(date, LogFormatter.ParseDate(LogFormatter.PrintDate(date)));
        Assert.Equal("03:04:05.678 GMT", LogFormatter.PrintTime(date));
        Assert.Equal("", LogFormatter.PrintException(null));
        LogFormatter.SetExceptionDecoder(typeof(DecodedException), static _ => "decoded text");
        var text = LogFormatter.PrintException(
            new AggregateException(new DecodedException(), new InvalidOperationException("outer", new FormatException("inner"))));
        Assert.Contains("Exc level 1: decoded text", text, StringComparison.Ordinal);
        Assert.Contains("Exc level 2: System.FormatException: inner", text, StringComparison.Ordinal);
    }

    private sealed class DecodedException : Exception;

    private sealed class Switch : IOverloadDetector
    {
        private volatile bool _isOn;

        public bool IsOverloaded
        {
            get => Throws ? throw new InvalidOperationException("on purpose") : _isOn;
            set => _isOn = value;
        }

        public bool Throws { get; set; }
    }
}

/// <summary>A grain that does nothing.</summary>
public interface IPlainPart : IGrainWithStringKey
{
    Task Touch();

    Task<SiloAddress> Seat();
}

public sealed class PlainPartGrain(ILocalSiloDetails silo) : Grain, IPlainPart
{
    public Task Touch() => Task.CompletedTask;

    public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);
}
