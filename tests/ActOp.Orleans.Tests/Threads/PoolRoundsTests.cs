using ActOp.Orleans.Locality;
using ActOp.Orleans.Threads;
using ActOp.TestClusters;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Runtime;

namespace ActOp.Orleans.Tests.Threads;

/// <summary>Thread control of a silo at a simulated pool, in virtual time.</summary>
public sealed class PoolRoundsTests : IDisposable
{
    private static readonly PoolLimits Host = new(2, 1000);

    private readonly TestMeters _meters = new();
    private readonly FakeClock _time = new();
    private readonly SimulatedPool _pool = new(processors: 2);
    private readonly ThreadOptions _options = new();
    private readonly CountingLogger _log = new();

    public void Dispose() => _meters.Dispose();

    [Fact]
    public void A_pool_whose_items_block_gets_its_threads_within_two_periods_and_gives_them_back_at_the_stop()
    {
        var silo = Start();
        Go(2, blocked: 0.01);
        Assert.InRange(_pool.Limits.Minimum, 11, 64);
        Assert.Equal(Host.Maximum, _pool.Limits.Maximum);
        Assert.Equal(_pool.Limits.Minimum, silo.Metrics.Status!.Threads);
        Assert.InRange(silo.Metrics.Status.Sums.Wall, 1, 40);
        silo.Stop();
        Assert.Equal(Host, _pool.Limits);
        Go(2, blocked: 0.01);
        Assert.Equal(Host, _pool.Limits);
    }

    [Fact]
    public void On_request_the_maximum_is_set_to_the_same_number()
    {
        _options.SetMaximum = true;
        var silo = Start();
        Go(2, blocked: 0.01);
        Assert.InRange(_pool.Limits.Maximum, 11, 64);
        Assert.Equal(_pool.Limits.Minimum, _pool.Limits.Maximum);
        silo.Stop();
        Assert.Equal(Host, _pool.Limits);
    }

    [Fact]
    public void What_the_host_has_configured_is_never_lowered_even_if_it_changes_it_later()
    {
        _pool.Limits = new PoolLimits(50, 1000);
        var silo = Start();
        Go(2, blocked: 0.0001);
        Assert.Equal(50, _pool.Limits.Minimum);
        _pool.Limits = new PoolLimits(70, 900);
        Go(10, blocked: 0.0001);
        Assert.Equal(new PoolLimits(70, 900), _pool.Limits);
        Assert.DoesNotContain(_pool.History, static limits => limits.Minimum < 50);
        silo.Stop();
        Assert.Equal(new PoolLimits(70, 900), _pool.Limits);
    }

    [Fact]
    public void Measuring_that_throws_is_counted_logged_and_switched_off_and_the_pool_given_back()
    {
        var silo = Start();
        Go(2, blocked: 0.01);
        _pool.Failure = new IOException("no statistics");
        Go(1, blocked: 0.01);
        _pool.Failure = null;
        Go(3, blocked: 0.01);
        Assert.IsType<IOException>(silo.Rounds.Failure);
        Assert.Equal(1, _log.Count(LogLevel.Error));
        Assert.Equal(Host, _pool.Limits);
        Assert.Null(silo.Metrics.Status);
        Assert.Equal(HealthStatus.Degraded, Health(silo).Status);
        silo.Stop();
    }

    [Fact]
    public void A_logger_that_throws_ends_thread_control_and_nothing_else()
    {
        _log.Throws = true;
        var silo = Start();
        Go(2, blocked: 0.01);
        Assert.NotNull(silo.Rounds.Failure);
        Assert.Equal(Host, _pool.Limits);
    }

    [Fact]
    public void A_pool_that_refuses_new_limits_ends_thread_control()
    {
        _pool.IsFixed = true;
        var silo = Start();
        Go(2, blocked: 0.01);
        Assert.IsType<NotSupportedException>(silo.Rounds.Failure);
        silo.Stop();
    }

    [Fact]
    public void It_is_switched_off_and_on_while_the_silo_runs_and_its_sums_only_grow()
    {
        var silo = Start();
        Go(2, blocked: 0.01);
        var executed = silo.Metrics.Status!.Sums.Executed;
        _options.Enabled = false;
        Go(1, blocked: 0.01);
        Assert.Equal(Host, _pool.Limits);
        Assert.Null(silo.Metrics.Status);
        _options.Enabled = true;
        Go(3, blocked: 0.01);
        Assert.InRange(_pool.Limits.Minimum, 11, 64);
        Assert.True(silo.Metrics.Status!.Sums.Executed > executed);
    }

    [Fact]
    public void Of_two_silos_of_a_process_one_sets_the_threads_and_the_other_one_takes_over_when_it_stops()
    {
        var first = Start();
        var second = Start();
        Go(2, blocked: 0.01);
        Assert.NotNull(first.Metrics.Status);
        Assert.Null(second.Metrics.Status);
        Assert.Equal(0, second.Rounds.Rounds);
        first.Stop();
        Go(2, blocked: 0.01);
        Assert.NotNull(second.Metrics.Status);
        second.Stop();
        Assert.Equal(Host, _pool.Limits);
    }

    [Fact]
    public void Rounds_that_stand_still_are_told_by_the_health_check()
    {
        var silo = Start();
        Go(1, blocked: 0);
        Assert.Equal(HealthStatus.Healthy, Health(silo).Status);
        _log.Hangs = () => _time.Advance(TimeSpan.FromSeconds(11));
        Assert.Equal(HealthStatus.Healthy, Health(silo).Status);
        HealthCheckResult? during = null;
        _log.Hangs = () =>
        {
            _log.Hangs = null;
            _time.Advance(TimeSpan.FromSeconds(11));
            during = Health(silo);
        };
        Go(2, blocked: 0);
        Assert.Equal(HealthStatus.Degraded, during!.Value.Status);
        Assert.Equal(HealthStatus.Healthy, Health(silo).Status);
        silo.Stop();
        _time.Advance(TimeSpan.FromSeconds(11));
        Assert.Equal(HealthStatus.Healthy, Health(silo).Status);
    }

    [Fact]
    public void A_limit_of_spinning_that_comes_too_late_changes_nothing_and_is_logged()
    {
        // The pool of this process runs the tests.
        Assert.Equal(new PoolSpin(null, IsLate: true), PoolSpin.Set(_options));
        Assert.Equal(new PoolSpin(null, IsLate: false), PoolSpin.Set(new ThreadOptions { SpinLimit = null }));
        Assert.Equal(new PoolSpin(null, IsLate: false), PoolSpin.Set(new ThreadOptions { Enabled = false }));
        Assert.Null(AppContext.GetData("System.Threading.ThreadPool.UnfairSemaphoreSpinLimit"));
        Start(isLate: true);
        Assert.True(_log.Said("runtimeconfig.template.json"));
    }

    private static HealthCheckResult Health(StartedSilo silo) =>
        new ActOpHealthCheck(null, silo.Rounds).CheckHealthAsync(new HealthCheckContext()).Result;

    /// <summary>One item in each millisecond.</summary>
    private void Go(double seconds, double blocked)
    {
        for (var step = 0; step < seconds * 1000; step++)
        {
            _pool.Add(0.0001, blocked);
            _pool.Run(0.001);
            _time.Advance(TimeSpan.FromMilliseconds(1));
        }
    }

    private StartedSilo Start(bool isLate = false)
    {
        var metrics = new ThreadMetrics(_meters);
        var lifecycle = new Stages();
        var rounds = new PoolRounds(_pool, new Monitor(_options), metrics, new PoolClock(_time), new PoolSpin(null, isLate), _log);
        rounds.Participate(lifecycle);
        lifecycle.Observer!.OnStart(default);
        return new StartedSilo(rounds, metrics, lifecycle);
    }

    private sealed record StartedSilo(PoolRounds Rounds, ThreadMetrics Metrics, Stages Lifecycle)
    {
        internal void Stop() => Lifecycle.Observer!.OnStop(default);
    }

    private sealed class Monitor(ThreadOptions options) : IOptionsMonitor<ThreadOptions>
    {
        public ThreadOptions CurrentValue => options;

        public ThreadOptions Get(string? name) => options;

        public IDisposable? OnChange(Action<ThreadOptions, string?> listener) => null;
    }

    private sealed class Stages : ISiloLifecycle
    {
        public ILifecycleObserver? Observer { get; private set; }

        public int HighestCompletedStage => 0;

        public int LowestStoppedStage => 0;

        public IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer)
        {
            Observer = observer;
            return new MemoryStream();
        }
    }

    private sealed class CountingLogger : ILogger<PoolRounds>
    {
        private readonly List<(LogLevel Level, string Text)> _lines = [];

        internal bool Throws { get; set; }

        internal Action? Hangs { get; set; }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            _lines.Add((logLevel, formatter(state, exception)));
            Hangs?.Invoke();
            if (Throws)
                throw new InvalidOperationException("a logger");
        }

        internal int Count(LogLevel level) => _lines.Count(line => line.Level == level);

        internal bool Said(string text) => _lines.Exists(line => line.Text.Contains(text, StringComparison.Ordinal));
    }
}
