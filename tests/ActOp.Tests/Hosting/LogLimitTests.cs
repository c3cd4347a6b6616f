using ActOp.Runtime.Hosting;
using ActOp.Tests.Clusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Tests.Hosting;

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
        Assert.Equal(["900 more lines of the event 1006 were left out: there were too many.", "flood"], _lines.Texts[(LineLimit.Burst + 1)..]);
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

    private ILogger Guarded() => new GuardedLoggers(_lines, _clock).CreateLogger("category");

    private sealed class Lines : ILoggerFactory, ILogger
    {
        public List<string> Texts { get; } = [];

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
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            Texts.Add(formatter(state, exception));
    }
}
