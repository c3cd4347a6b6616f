using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace ActOp.Runtime.Hosting;

/// <summary>Code of the application that is told or asked something beside the work, and gives no answer that the work needs.</summary>
internal enum BorderKind
{
    /// <summary>A logger: the line is lost.</summary>
    Logger,

    /// <summary>An <see cref="System.Diagnostics.ActivityListener"/>: the span is lost, or incomplete.</summary>
    TraceListener,

    /// <summary>A <see cref="System.Diagnostics.Metrics.MeterListener"/>: the measurement is lost.</summary>
    MeterListener,

    /// <summary>
    /// A <see cref="SynchronizationContext"/> or a <see cref="TaskScheduler"/> that does not take the continuation of a caller: it runs on
    /// the thread pool.
    /// </summary>
    CallerContext,
}

/// <summary>
/// Counts the failures of the code of the application that only watches: it cannot change the course of what it watches, so its exceptions
/// end here.
/// </summary>
/// <remarks>
/// Any thread. For the whole process, because listeners and loggers are. Code whose answer matters is called in a turn
/// (<see cref="Activations.RequestRun"/>), with a time limit (<see cref="Activations.TimeLimit"/>) or as background work (<see
/// cref="Background"/>).
/// </remarks>
internal static class Border
{
    private static readonly long[] Failures = new long[Enum.GetValues<BorderKind>().Length];

    /// <summary>The last failure of a kind other than <see cref="BorderKind.Logger"/>, for its log line.</summary>
    private static Exception? s_last;

    internal static void Failed(BorderKind kind, Exception exception)
    {
        Interlocked.Increment(ref Failures[(int)kind]);
        if (kind != BorderKind.Logger)
            Volatile.Write(ref s_last, exception);
    }

    /// <summary>How many calls of this kind have thrown since the process began.</summary>
    internal static long FailuresOf(BorderKind kind) => Interlocked.Read(ref Failures[(int)kind]);

    internal static string NameOf(BorderKind kind) => kind switch
    {
        BorderKind.Logger => "logger",
        BorderKind.TraceListener => "activity listener",
        BorderKind.MeterListener => "meter listener",
        _ => "synchronization context",
    };

    /// <summary>The last failure, once.</summary>
    internal static Exception? TakeLast() => Interlocked.Exchange(ref s_last, null);
}

/// <summary>Tells, one line for all, what has failed at the border since the last line. On the control stage.</summary>
internal sealed class BorderReport(Log log)
{
    /// <summary>A line on every so many ticks at most.</summary>
    private const int TicksPerLine = 40;

    private readonly long[] _told = [.. Enum.GetValues<BorderKind>().Select(Border.FailuresOf)];
    private int _tick = TicksPerLine;

    internal void Report()
    {
        if (++_tick < TicksPerLine)
            return;
        // Not of loggers: they would be told by loggers.
        for (var kind = BorderKind.TraceListener; kind <= BorderKind.CallerContext; kind++)
        {
            var count = Border.FailuresOf(kind) - _told[(int)kind];
            if (count == 0)
                continue;
            _told[(int)kind] += count;
            _tick = 0;
            BorderLog.Failed(log.Logger, count, Border.NameOf(kind), Border.TakeLast());
        }
    }
}

/// <summary>
/// The loggers of the application as the runtime uses them: an exception of a provider costs its log line, never what was logged about.
/// </summary>
internal sealed class GuardedLoggers(ILoggerFactory loggers) : ILoggerFactory
{
    /// <summary>The loggers of the services; none if there is no factory.</summary>
    internal static ILoggerFactory Of(IServiceProvider? services) =>
        Of(services?.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance);

    internal static ILoggerFactory Of(ILoggerFactory loggers) => loggers as GuardedLoggers ?? new GuardedLoggers(loggers);

    internal static ILogger Of(ILogger logger) => logger as GuardedLogger ?? new GuardedLogger(logger);

    public ILogger CreateLogger(string categoryName)
    {
        try
        {
            return Of(loggers.CreateLogger(categoryName));
        }
        catch (Exception exception)
        {
            Border.Failed(BorderKind.Logger, exception);
            return NullLogger.Instance;
        }
    }

    public void AddProvider(ILoggerProvider provider) => loggers.AddProvider(provider);

    /// <summary>Does nothing: the factory belongs to the application.</summary>
    public void Dispose()
    {
    }

    private sealed class GuardedLogger(ILogger logger) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel)
        {
            try
            {
                return logger.IsEnabled(logLevel);
            }
            catch (Exception exception)
            {
                Border.Failed(BorderKind.Logger, exception);
                return false;
            }
        }

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            try
            {
                logger.Log(logLevel, eventId, state, exception, formatter);
            }
            catch (Exception failure)
            {
                Border.Failed(BorderKind.Logger, failure);
            }
        }
    }
}

/// <summary>What the log says about the border to the application: event ids 1430 to 1439.</summary>
internal static partial class BorderLog
{
    [LoggerMessage(1430, LogLevel.Warning, "{count} calls of a {kind} of the application threw. The work that they belong to went on.")]
    internal static partial void Failed(ILogger logger, long count, string kind, Exception? exception);

    [LoggerMessage(1431, LogLevel.Error, "The directory could not perform {action}; it goes on with the next one.")]
    internal static partial void DirectoryActionFailed(ILogger logger, string action, Exception exception);
}
