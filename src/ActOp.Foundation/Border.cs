using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace ActOp.Foundation;

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
/// (<c>RequestRun</c>), with a time limit (<c>TimeLimit</c>) or as background work (<see
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

/// <summary>What the log says about the border to the application: event ids 1430 to 1439.</summary>
internal static partial class BorderLog
{
    [LoggerMessage(1430, LogLevel.Warning, "{count} calls of a {kind} of the application threw. The work that they belong to went on.")]
    internal static partial void Failed(ILogger logger, long count, string kind, Exception? exception);

    [LoggerMessage(1431, LogLevel.Error, "The directory could not perform {action}; it goes on with the next one.")]
    internal static partial void DirectoryActionFailed(ILogger logger, string action, Exception exception);
}

/// <summary>
/// The loggers of the application as the runtime uses them: an exception of a provider costs its log line, never what was logged about.
/// And peers do not fill the log nor forge its lines: see <see cref="LineLimit"/> and <see cref="LineText"/>.
/// </summary>
internal sealed class GuardedLoggers(ILoggerFactory loggers, TimeProvider time) : ILoggerFactory
{
    /// <summary>The loggers of the services; none if there is no factory.</summary>
    internal static ILoggerFactory GuardedOf(IServiceProvider? services)
    {
        var loggers = services?.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance;
        return GuardedOf(loggers, TimeOf(services));
    }

    internal static ILoggerFactory GuardedOf(ILoggerFactory loggers, TimeProvider time) =>
        loggers as GuardedLoggers ?? new GuardedLoggers(loggers, time);

    internal static ILoggerFactory GuardedOf(ILoggerFactory loggers, IServiceProvider services) => GuardedOf(loggers, TimeOf(services));

    internal static ILogger GuardedOf(ILogger logger, IServiceProvider services) =>
        logger as GuardedLogger ?? new GuardedLogger(logger, TimeOf(services));

    /// <summary>The clock of the limits: the node's, so that a node in virtual time leaves out the same lines each time.</summary>
    private static TimeProvider TimeOf(IServiceProvider? services) => services?.GetService<TimeProvider>() ?? TimeProvider.System;

    public ILogger CreateLogger(string categoryName)
    {
        try
        {
            return new GuardedLogger(loggers.CreateLogger(categoryName), time);
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

    /// <summary>One category. Any thread.</summary>
    private sealed class GuardedLogger(ILogger logger, TimeProvider time) : ILogger
    {
        /// <summary>By event id: as many as the runtime has events.</summary>
        private readonly ConcurrentDictionary<int, LineLimit> _limits = new();

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
                if (logLevel >= LogLevel.Information)
                {
                    if (!_limits.GetOrAdd(eventId.Id, static (_, time) => new LineLimit(time), time).TryPass(out var leftOut))
                        return;
                    if (leftOut > 0)
                        LineLog.LeftOut(logger, leftOut, eventId.Id);
                }

                var text = formatter(state, exception);
                var shown = eventId.Id == LineText.Settings ? text : LineText.LineOf(text);
                var shownException = LoggedException.LoggedOf(exception);
                if (ReferenceEquals(shown, text))
                    logger.Log(logLevel, eventId, state, shownException, formatter);
                else
                    logger.Log(logLevel, eventId, shown, shownException, static (shown, _) => shown);
            }
            catch (Exception failure)
            {
                Border.Failed(BorderKind.Logger, failure);
            }
        }
    }
}

/// <summary>
/// How often one event may be logged: <see cref="Burst"/> lines at once, and then one in <see cref="Pause"/>. Who connects and sends what
/// is no frame a thousand times a second gets two lines of it. Any thread.
/// </summary>
internal sealed class LineLimit(TimeProvider time)
{
    /// <summary>Enough for the start of a cluster; four events of one attack stay at 200 lines.</summary>
    internal const int Burst = 50;

    internal static readonly TimeSpan Pause = TimeSpan.FromSeconds(0.5);

    private readonly Lock _gate = new();
    private int _left = Burst;
    private long _countedAt = time.GetTimestamp();
    private long _leftOut;

    /// <summary>Whether a line may be written now, and how many were not since the last one.</summary>
    internal bool TryPass(out long leftOut)
    {
        lock (_gate)
        {
            var earned = (long)(time.GetElapsedTime(_countedAt) / Pause);
            if (earned > 0)
            {
                _left = (int)Math.Min(Burst, _left + earned);
                _countedAt = time.GetTimestamp();
            }

            Invariant.Holds(_left >= 0 && _left <= Burst);
            leftOut = _leftOut;
            if (_left == 0)
            {
                _leftOut++;
                return false;
            }

            _left--;
            _leftOut = 0;
            return true;
        }
    }
}

/// <summary>Texts of log lines, in which keys and names that peers choose may stand. Holds nothing; any thread.</summary>
internal static class LineText
{
    /// <summary>The event of the options: its text has lines, and nothing of a peer.</summary>
    internal const int Settings = 1280;

    private const int MostCharacters = 4_096;

    /// <summary>The same text if it is one line of a usual length; otherwise cut off, and control characters as <c>\uXXXX</c>.</summary>
    internal static string LineOf(string text)
    {
        if (text.Length <= MostCharacters && !HasControls(text))
            return text;
        var shown = new System.Text.StringBuilder();
        Append(shown, text.AsSpan(0, Math.Min(text.Length, MostCharacters)));
        return text.Length > MostCharacters ? shown.Append("...").ToString() : shown.ToString();
    }

    internal static bool HasControls(ReadOnlySpan<char> text) =>
        text.ContainsAnyInRange('\u0000', '\u001F') || text.ContainsAnyInRange('\u007F', '\u009F');

    /// <summary>Appends a text, control characters as <c>\uXXXX</c>.</summary>
    internal static void Append(System.Text.StringBuilder shown, ReadOnlySpan<char> text)
    {
        foreach (var one in text)
        {
            if (char.IsControl(one))
                shown.Append("\\u").Append(((int)one).ToString("X4", System.Globalization.CultureInfo.InvariantCulture));
            else
                shown.Append(one);
        }
    }
}

/// <summary>
/// An exception as the log shows it, if its text could be taken for something else, or is very long: peers choose messages, names of
/// classes and stack traces of what they send. Each line of the text is one of a usual exception, so none looks like a line of the log.
/// </summary>
internal sealed class LoggedException : Exception
{
    private const int MostCharacters = 32_768;

    /// <summary>What lines after the first one begin with, as .NET writes them.</summary>
    private static readonly string[] Begins = ["   at ", " ---> ", "   --- End of ", "--- End of "];

    private readonly string _text;

    private LoggedException(string text)
        : base(LineText.LineOf(text.Split('\n')[0].TrimEnd('\r'))) => _text = text;

    /// <summary>
    /// The same exception if its text has only lines of its own; else its text, with what others have put in as <c>\uXXXX</c>.
    /// </summary>
    internal static Exception? LoggedOf(Exception? exception)
    {
        if (exception is null)
            return null;
        var text = exception.ToString();
        var head = text.AsSpan(0, Math.Min(text.Length, MostCharacters));
        var shown = new System.Text.StringBuilder(head.Length);
        var isSame = text.Length <= MostCharacters;
        var isFirst = true;
        foreach (var range in head.Split('\n'))
        {
            var line = head[range];
            if (line.EndsWith("\r") && Environment.NewLine.Length == 2)
                line = line[..^1];
            if (!isFirst)
                isSame &= AddBreak(shown, line);
            isSame &= Add(shown, line);
            isFirst = false;
        }

        return isSame ? exception : new LoggedException(text.Length > MostCharacters ? shown.Append("...").ToString() : shown.ToString());
    }

    public override string ToString() => _text;

    /// <summary>False if the line is none of an exception.</summary>
    private static bool AddBreak(System.Text.StringBuilder shown, ReadOnlySpan<char> line)
    {
        var isOwn = line.IsEmpty;
        foreach (var begin in Begins)
            isOwn |= line.StartsWith(begin);
        shown.Append(isOwn ? Environment.NewLine : @"\u000A");
        return isOwn;
    }

    /// <summary>False if the line has control characters.</summary>
    private static bool Add(System.Text.StringBuilder shown, ReadOnlySpan<char> line)
    {
        if (!LineText.HasControls(line))
        {
            shown.Append(line);
            return true;
        }

        LineText.Append(shown, line);
        return false;
    }
}

/// <summary>What the log says about itself: event id 1485.</summary>
internal static partial class LineLog
{
    [LoggerMessage(1485, LogLevel.Warning, "{count} more lines of the event {event} were left out: there were too many.")]
    internal static partial void LeftOut(ILogger logger, long count, int @event);
}
