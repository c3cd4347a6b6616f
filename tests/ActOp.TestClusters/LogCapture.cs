using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace ActOp.TestClusters;

/// <summary>Keeps the log lines of a silo.</summary>
internal sealed class LogCapture : ILoggerProvider, ILogger
{
    private readonly ConcurrentQueue<(LogLevel Level, string Line)> _lines = new();

    internal string[] Lines(LogLevel least) => [.. _lines.Where(line => line.Level >= least).Select(line => line.Line)];

    public ILogger CreateLogger(string categoryName) => this;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _lines.Enqueue((logLevel, formatter(state, exception)));

    public void Dispose()
    {
    }
}
