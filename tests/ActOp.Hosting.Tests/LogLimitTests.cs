using ActOp.Foundation;
using ActOp.Storage;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Hosting.Tests;

/// <summary>What peers can make the runtime write into the log of the application.</summary>
public class LogLimitTests
{
    private readonly FakeClock _clock = new();
    private readonly Lines _lines = new();

    [Fact]
    public void A_flood_of_one_event_is_a_few_lines_and_their_count()
    {
        var logger = Guarded();
        for (var number = 0; number < 1_000; number++)
            logger.Log(LogLevel.Warning, new EventId(1006), "flood", null, static (text, _) => text);
        logger.Log(LogLevel.Warning, new EventId(1005), "another", null, static (text, _) => text);
        Assert.Equal(LineLimit.Burst + 1, _lines.Texts.Count);
        Assert.Equal("another", _lines.Texts[^1]);
        _clock.Advance(LineLimit.Pause);
        logger.Log(LogLevel.Warning, new EventId(1006), "flood", null, static (text, _) => text);
        logger.Log(LogLevel.Warning, new EventId(1006), "flood", null, static (text, _) => text);
        Assert.Equal(["950 more lines of the event 1006 were left out: there were too many.", "flood"], _lines.Texts[(LineLimit.Burst + 1)..]);
    }

    /// <summary>By the clock of the machine, a silo in virtual time left out other lines each time.</summary>
    [Fact]
    public void The_lines_of_states_are_limited_by_the_clock_of_their_silo()
    {
        using var states = new StateDiagnostics(_lines, _clock);
        for (var number = 0; number < 1_000; number++)
            Fail();
        Assert.Equal(LineLimit.Burst, _lines.Texts.Count);
        _clock.Advance(LineLimit.Pause);
        Fail();
        Assert.Equal(LineLimit.Burst + 2, _lines.Texts.Count);
        void Fail() => states.Log.OperationFailed("cart", GrainId.Create("shop", "1"), "read", "files", new IOException("No space left."));
    }

    [Fact]
    public async Task A_client_that_comes_and_is_killed_writes_two_lines()
    {
        var log = new LogCapture();
        await using var cluster = await TestSilos.StartAsync(1, silo => silo.Services.AddSingleton<ILoggerProvider>(log));
        await cluster.StopClusterClientAsync();
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Count("Disconnected from C") == 1), Gate.Patience);
        var before = log.Lines(LogLevel.Information).Length;
        await cluster.InitializeClientAsync();
        await cluster.KillClientAsync();
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Count("Disconnected from C") == 2), Gate.Patience);
        Assert.Equal(["Connected to", "Disconnected from"], log.Lines(LogLevel.Information)[before..].Select(
            static line => line[..line.IndexOf(" C", StringComparison.Ordinal)]));
        int Count(string text) => log.Lines(LogLevel.Information).Count(line => line.StartsWith(text, StringComparison.Ordinal));
    }

    [Fact]
    public void Lines_that_somebody_has_switched_on_to_see_all_are_not_limited()
    {
        var logger = Guarded();
        for (var number = 0; number < 1_000; number++)
            logger.Log(LogLevel.Debug, new EventId(1), "detail", null, static (text, _) => text);
        Assert.Equal(1_000, _lines.Texts.Count);
    }

    [Fact]
    public void A_key_does_not_forge_a_line()
    {
        var logger = Guarded();
        var grain = GrainId.Create("account", "1\n2026-11-24 Critical: \u001b[31mall is lost\0");
        logger.LogWarning("{grain} could not be activated.", grain);
        Assert.Equal(
            @"account/1\u000A2026-11-24 Critical: \u001B[31mall is lost\u0000 could not be activated.", Assert.Single(_lines.Texts));
    }

    [Fact]
    public void A_long_key_does_not_fill_the_log()
    {
        Guarded().LogWarning("{grain} could not be activated.", GrainId.Create("account", new string('x', 100_000)));
        Assert.InRange(Assert.Single(_lines.Texts).Length, 4_000, 4_200);
    }

    [Theory]
    [InlineData("a\n2026-11-24 Critical: all is lost", @"a\u000A2026-11-24 Critical: all is lost")]
    [InlineData("a\r\nb", @"a\u000D\u000Ab")]
    [InlineData("\u001b[31mred\0", @"\u001B[31mred\u0000")]
    public void The_text_of_an_exception_does_not_forge_a_line(string message, string shown)
    {
        Guarded().LogWarning(new InvalidOperationException("outer", new TimeoutException(message)), "It failed.");
        var text = Assert.Single(_lines.Exceptions)!.ToString();
        Assert.Contains(shown, text, StringComparison.Ordinal);
        Assert.All(text.Split(Environment.NewLine).Skip(1), static line => Assert.StartsWith(" ", line, StringComparison.Ordinal));
    }

    [Fact]
    public void A_stack_trace_of_a_peer_does_not_forge_a_line()
    {
        var exception = System.Runtime.ExceptionServices.ExceptionDispatchInfo.SetRemoteStackTrace(
            new TimeoutException("t"), "   at There.Is()\n2026-11-24 Critical: all is lost");
        Guarded().LogWarning(exception, "It failed.");
        Assert.Contains(@"There.Is()\u000A2026-11-24", Assert.Single(_lines.Exceptions)!.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_long_exception_does_not_fill_the_log()
    {
        Guarded().LogWarning(new TimeoutException(new string('x', 1_000_000)), "It failed.");
        Assert.InRange(Assert.Single(_lines.Exceptions)!.ToString().Length, 30_000, 33_000);
    }

    [Fact]
    public void A_usual_exception_is_logged_as_it_is()
    {
        Exception? thrown = null;
        try
        {
            throw new AggregateException("several", new TimeoutException("t"), new InvalidOperationException("i", new ArgumentException("a")));
        }
        catch (AggregateException exception)
        {
            thrown = exception;
        }

        Guarded().LogWarning(thrown, "It failed.");
        Assert.Same(thrown, Assert.Single(_lines.Exceptions));
    }

    private ILogger Guarded() => new GuardedLoggers(_lines, _clock).CreateLogger("category");

    private sealed class Lines : ILoggerFactory, ILogger
    {
        public List<string> Texts { get; } = [];

        public List<Exception?> Exceptions { get; } = [];

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public void Dispose()
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            Texts.Add(formatter(state, exception));
            if (exception is not null)
                Exceptions.Add(exception);
        }
    }
}
