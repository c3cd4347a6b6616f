using System.Diagnostics;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Border.Tests;

/// <summary>Loggers and listeners of the application that throw: no call, no activation and no silo notices.</summary>
[Collection(nameof(Alone))]
public class WatcherTests(WatcherTests.Watched cluster) : IClassFixture<WatcherTests.Watched>
{
    [Theory]
    [InlineData("sample")]
    [InlineData("start")]
    [InlineData("stop")]
    [InlineData("exception")]
    public async Task A_listener_of_traces_that_throws_costs_no_call(string when)
    {
        var silo = cluster.ClientOf(0).GetGrain<IWorker>("silo " + when);
        var client = cluster.Client.GetGrain<IWorker>("client " + when);
        foreach (var grain in new[] { silo, client })
            await grain.Add(0);
        using (Listen(when))
        {
            foreach (var grain in new[] { silo, client })
            {
                Assert.Equal(1, await grain.Add(1).AsTask().WaitAsync(Gate.Patience));
                await Assert.ThrowsAsync<InvalidOperationException>(() => grain.Fail().WaitAsync(Gate.Patience));
                Assert.Equal(2, await grain.Add(2).AsTask().WaitAsync(Gate.Patience));
            }
        }

        Assert.Equal(3, await silo.Add(3));
        await cluster.NothingInFlightAsync();
    }

    [Fact]
    public async Task A_filter_under_a_listener_that_throws_still_gives_the_answer()
    {
        var grain = cluster.Client.GetGrain<IFiltered>("filtered");
        await grain.Get();
        using (Listen("stop"))
            Assert.Equal(7, await grain.Get().WaitAsync(Gate.Patience));
        await cluster.NothingInFlightAsync();
    }

    [Fact]
    public async Task A_logger_that_throws_blocks_neither_the_grain_nor_its_thread()
    {
        var grain = cluster.ClientOf(0).GetGrain<IWorker>("logged");
        await grain.Add(0);
        using (ThrowingLogger.Throw())
        {
            // Its failure is logged, because nobody waits for it.
            await grain.FailUnseen();
            Assert.Equal(1, await grain.Add(1).AsTask().WaitAsync(Gate.Patience));
            var failed = await Assert.ThrowsAsync<InvalidOperationException>(
                () => cluster.ClientOf(0).GetGrain<IUnstartable>("logged").Ask().WaitAsync(Gate.Patience));
            Assert.Equal("start", failed.Message);
            for (var other = 0; other < 20; other++)
                Assert.Equal(1, await cluster.ClientOf(0).GetGrain<IWorker>("other" + other).Add(1).AsTask().WaitAsync(Gate.Patience));
        }

        Assert.True(ThrowingLogger.Thrown > 0);
        await cluster.NothingInFlightAsync();
    }

    [Fact]
    public async Task A_context_that_a_grain_sets_on_its_thread_does_not_reach_other_grains()
    {
        var factory = cluster.ClientOf(0);
        await factory.GetGrain<IWorker>("setter").SetContext();
        for (var other = 0; other < 20; other++)
            await factory.GetGrain<IWorker>("awaiting" + other).Yield().WaitAsync(Gate.Patience);
    }

    private static ActivityListener Listen(string when)
    {
        var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "ActOp.Runtime",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) =>
                when == "sample" ? throw new FormatException(when) : ActivitySamplingResult.AllDataAndRecorded,
            ActivityStarted = _ => ThrowIf("start"),
            ActivityStopped = _ => ThrowIf("stop"),
            ExceptionRecorder = (Activity _, Exception _, ref TagList _) => ThrowIf("exception"),
        };
        ActivitySource.AddActivityListener(listener);
        return listener;

        void ThrowIf(string what)
        {
            if (when == what)
                throw new FormatException(what);
        }
    }

    /// <summary>One silo with a logger that throws when it is told to, and one thread for all turns.</summary>
    public sealed class Watched() : ClusterFixture(1)
    {
        public Task NothingInFlightAsync() => Cluster.NothingInFlightAsync();

        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.Services.AddSingleton<ILoggerProvider, ThrowingLogger>();
            silo.Configure<Configuration.StageOptions>(static options => options.WorkThreads = 1);
            silo.Configure<SiloMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromSeconds(5));
        }

        protected override void ConfigureClient(IClientBuilder client) =>
            client.Configure<ClientMessagingOptions>(static options => options.ResponseTimeout = TimeSpan.FromSeconds(5));
    }

    public interface IWorker : IGrainWithStringKey
    {
        ValueTask<int> Add(int number);

        Task Fail();

        [OneWay]
        Task FailUnseen();

        Task SetContext();

        Task Yield();
    }

    public interface IFiltered : IGrainWithStringKey
    {
        Task<int> Get();
    }

    public interface IUnstartable : IGrainWithStringKey
    {
        Task Ask();
    }

    public sealed class BorderWorker : Grain, IWorker
    {
        public ValueTask<int> Add(int number) => new(number);

        public Task Fail() => throw new InvalidOperationException("grain");

        public Task FailUnseen() => throw new InvalidOperationException("unseen");

        public Task SetContext()
        {
            SynchronizationContext.SetSynchronizationContext(new LosingContext());
            return Task.CompletedTask;
        }

        public async Task Yield() => await Task.Yield();
    }

    public sealed class BorderFiltered : Grain, IFiltered, IIncomingGrainCallFilter
    {
        public Task<int> Get() => Task.FromResult(7);

        public Task Invoke(IIncomingGrainCallContext context) => context.Invoke();
    }

    public sealed class BorderUnstartable : Grain, IUnstartable
    {
        public override Task OnActivateAsync(CancellationToken cancellationToken) => throw new InvalidOperationException("start");

        public Task Ask() => Task.CompletedTask;
    }

    /// <summary>What is posted to it never runs.</summary>
    private sealed class LosingContext : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state)
        {
        }
    }

    private sealed class ThrowingLogger : ILoggerProvider, ILogger
    {
        private static volatile bool s_throws;
        private static int s_thrown;

        internal static int Thrown => s_thrown;

        internal static IDisposable Throw()
        {
            s_throws = true;
            return new Off();
        }

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (!s_throws)
                return;
            Interlocked.Increment(ref s_thrown);
            throw new FormatException("logger");
        }

        public void Dispose()
        {
        }

        private sealed class Off : IDisposable
        {
            public void Dispose() => s_throws = false;
        }
    }
}
