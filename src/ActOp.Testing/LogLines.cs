using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace ActOp.Testing;

/// <summary>The last lines that the nodes of a cluster logged; what a failed test prints. Any thread.</summary>
internal sealed class LogLines(string? file) : ILoggerProvider
{
    /// <summary>Lines kept; older ones are forgotten.</summary>
    private const int Limit = 10_000;

    private readonly ConcurrentQueue<string> _lines = new();
    private readonly Lock _gate = new();

    public ILogger CreateLogger(string categoryName) => new Writer(this, categoryName);

    public void Dispose()
    {
    }

    public override string ToString() => string.Join(Environment.NewLine, _lines);

    private void Add(string line)
    {
        _lines.Enqueue(line);
        while (_lines.Count > Limit && _lines.TryDequeue(out _))
        {
        }

        if (file is null)
            return;
        lock (_gate)
            File.AppendAllText(file, line + Environment.NewLine);
    }

    private sealed class Writer(LogLines lines, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?,
            string> formatter)
        {
            if (IsEnabled(logLevel))
            {
                lines.Add(TimeProvider.System.GetUtcNow().ToString("HH:mm:ss.fff") + " " + logLevel + " " + category + ": "
                    + formatter(state, exception) + (exception is null ? "" : Environment.NewLine + exception));
            }
        }
    }
}
