using Microsoft.Extensions.Logging;

namespace ActOp.Testing.Simulated;

/// <summary>A log line of a node that somebody must look at.</summary>
internal sealed record LogLine(long Time, string Machine, LogLevel Level, EventId Id, string Category, string Text);

/// <summary>The logs of one machine: a part of the trace; warnings and worse are kept for the checks.</summary>
internal sealed class MachineLog(Pump pump, Machine machine, List<LogLine> kept, IWorldWatcher watcher) : ILoggerFactory
{
    public ILogger CreateLogger(string categoryName) => new Lines(this, categoryName);

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public void Dispose()
    {
    }

    private void Write<TState>(
        string category, LogLevel level, EventId id, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (machine.IsDead)
            return;
        pump.AssertThread();
        pump.Mix((ulong)id.Id);
        var isKept = level >= LogLevel.Error;
        var isHeard = watcher.Hears(category, level);
        if (!isKept && !isHeard && !pump.IsTraced)
            return;
        var text = formatter(state, exception) + (exception is null ? "" : " " + exception);
        if (isKept)
            kept.Add(new LogLine(pump.Now, machine.Name, level, id, category, text));
        if (isHeard)
            watcher.Logged(machine, level, text.ReplaceLineEndings(" | "));
        if (pump.IsTraced)
            pump.Write(machine, EventKind.Log, level + " " + id.Id + " " + text.ReplaceLineEndings(" | "));
    }

    private sealed class Lines(MachineLog log, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (IsEnabled(logLevel))
                log.Write(category, logLevel, eventId, state, exception, formatter);
        }
    }
}
