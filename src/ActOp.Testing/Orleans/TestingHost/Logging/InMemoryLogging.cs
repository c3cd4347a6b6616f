using System.Globalization;
using System.Text;
using Microsoft.Extensions.Logging;

namespace Orleans.TestingHost.Logging;

/// <summary>A line of a log.</summary>
/// <param name="Timestamp">When it was written.</param>
/// <param name="LogLevel">Its level.</param>
/// <param name="Category">Who has written it.</param>
/// <param name="EventId">Its event.</param>
/// <param name="Message">What it says.</param>
/// <param name="Exception">The exception, or null.</param>
public readonly record struct LogEntry(
    DateTimeOffset Timestamp, LogLevel LogLevel, string Category, EventId EventId, string Message, Exception? Exception);

/// <summary>The lines of all loggers that share it, until they are cleared. Any thread. For tests: it grows with what is logged.</summary>
public sealed class InMemoryLogBuffer(TimeProvider? timeProvider = null)
{
    private const int MostReported = 10;

    private readonly Lock _gate = new();
    private readonly List<LogEntry> _entries = [];
    private readonly TimeProvider _time = timeProvider ?? TimeProvider.System;

    /// <summary>All lines, in order.</summary>
    public IReadOnlyList<LogEntry> AllEntries
    {
        get
        {
            lock (_gate)
                return [.. _entries];
        }
    }

    /// <summary>Whether there is a warning or an error.</summary>
    public bool HasWarningsOrErrors => HasEntriesAtOrAbove(LogLevel.Warning);

    /// <summary>The bytes of all lines as text in UTF-16, about.</summary>
    public long ApproximateSizeBytes => 2L * FormatAllEntries().Length;

    /// <summary>The lines of that level and above.</summary>
    public IEnumerable<LogEntry> GetEntries(LogLevel minimumLevel) => AllEntries.Where(one => one.LogLevel >= minimumLevel);

    /// <summary>Whether there is a line of that level or above.</summary>
    public bool HasEntriesAtOrAbove(LogLevel level) => GetEntries(level).Any();

    /// <summary>Adds a line.</summary>
    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter, string category)
    {
        ArgumentNullException.ThrowIfNull(formatter);
        var entry = new LogEntry(_time.GetUtcNow(), logLevel, category, eventId, formatter(state, exception), exception);
        lock (_gate)
            _entries.Add(entry);
    }

    /// <summary>Removes all lines.</summary>
    public void Clear()
    {
        lock (_gate)
            _entries.Clear();
    }

    /// <summary>All lines as text.</summary>
    public string FormatAllEntries() => FormatEntries(LogLevel.Trace);

    /// <summary>The lines of that level and above as text.</summary>
    public string FormatEntries(LogLevel minimumLevel)
    {
        var text = new StringBuilder();
        foreach (var entry in GetEntries(minimumLevel))
            text.AppendLine(Format(entry));
        return text.ToString();
    }

    /// <summary>All lines as text, and its length in UTF-8.</summary>
    public (string Content, long SizeBytes) FormatAllEntriesWithSize() => FormatEntriesWithSize(LogLevel.Trace);

    /// <summary>The lines of that level and above as text, and its length in UTF-8.</summary>
    public (string Content, long SizeBytes) FormatEntriesWithSize(LogLevel minimumLevel)
    {
        var content = FormatEntries(minimumLevel);
        return (content, Encoding.UTF8.GetByteCount(content));
    }

    /// <summary>Fails if there is a warning or an error.</summary>
    /// <exception cref="InvalidOperationException">There are; the message has the first ones.</exception>
    public void AssertNoWarningsOrErrors()
    {
        LogEntry[] found = [.. GetEntries(LogLevel.Warning)];
        if (found.Length == 0)
            return;
        var shown = string.Join(Environment.NewLine, found.Take(MostReported).Select(Format));
        throw new InvalidOperationException(
            found.Length + " warnings and errors were logged, the first are:" + Environment.NewLine + shown);
    }

    private static string Format(LogEntry entry)
    {
        var line = string.Create(CultureInfo.InvariantCulture,
            $"[{entry.Timestamp:yyyy-MM-dd HH:mm:ss.fff} {entry.LogLevel} {entry.EventId} {entry.Category}] {entry.Message}");
        return entry.Exception is null ? line : line + Environment.NewLine + entry.Exception;
    }
}

/// <summary>Loggers that write into a buffer.</summary>
public sealed class InMemoryLoggerProvider : ILoggerProvider
{
    private readonly bool _isOwner;

    /// <summary>With a buffer of its own, which is cleared when the provider is disposed.</summary>
    public InMemoryLoggerProvider(TimeProvider? timeProvider = null)
    {
        Buffer = new InMemoryLogBuffer(timeProvider);
        _isOwner = true;
    }

    /// <summary>With a buffer that others may use too.</summary>
    public InMemoryLoggerProvider(InMemoryLogBuffer sharedBuffer)
    {
        ArgumentNullException.ThrowIfNull(sharedBuffer);
        Buffer = sharedBuffer;
    }

    /// <summary>What was logged.</summary>
    public InMemoryLogBuffer Buffer { get; }

    /// <inheritdoc/>
    public ILogger CreateLogger(string categoryName) => new InMemoryLogger(categoryName, Buffer);

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_isOwner)
            Buffer.Clear();
    }
}

/// <summary>Writes every line into a buffer.</summary>
public sealed class InMemoryLogger(string categoryName, InMemoryLogBuffer buffer) : ILogger
{
    /// <inheritdoc/>
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    /// <inheritdoc/>
    public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None;

    /// <inheritdoc/>
    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (IsEnabled(logLevel))
            buffer.Log(logLevel, eventId, state, exception, formatter, categoryName);
    }
}
