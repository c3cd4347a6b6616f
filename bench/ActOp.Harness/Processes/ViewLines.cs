using ActOp.Harness.Load;
using Microsoft.Extensions.Logging;

namespace ActOp.Harness.Processes;

/// <summary>Turns the runtime's log entry of a new view into a <see cref="ViewLine"/> on standard output.</summary>
public sealed class ViewLines : ILoggerProvider, ILogger
{
    private const int ViewChanged = 501;
    private readonly MonotonicClock _clock = new();

    /// <inheritdoc/>
    public ILogger CreateLogger(string categoryName) => this;

    /// <inheritdoc/>
    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    /// <inheritdoc/>
    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

    /// <inheritdoc/>
    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (eventId.Id != ViewChanged || state is not IReadOnlyList<KeyValuePair<string, object?>> values)
            return;
        JsonLines.Write(Console.Out, new ViewLine
        {
            T = _clock.Now.TotalSeconds,
            View = Convert.ToInt64(Value(values, "number")),
            Active = Convert.ToInt32(Value(values, "active")),
            Joined = Value(values, "joined") as string ?? "",
            Left = Value(values, "left") as string ?? "",
        });
    }

    /// <inheritdoc/>
    public void Dispose()
    {
    }

    private static object? Value(IReadOnlyList<KeyValuePair<string, object?>> values, string name) =>
        values.FirstOrDefault(pair => pair.Key == name).Value;
}

/// <summary>A silo process says that it has adopted a view.</summary>
public sealed record ViewLine
{
    /// <summary>The view's number.</summary>
    public required long View { get; init; }

    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>Active silos.</summary>
    public int Active { get; init; }

    /// <summary>Silos that became active, as text.</summary>
    public string Joined { get; init; } = "";

    /// <summary>Silos that no longer are, as text.</summary>
    public string Left { get; init; } = "";
}
