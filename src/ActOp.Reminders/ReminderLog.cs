using System.Diagnostics.Metrics;
using ActOp.Foundation;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace ActOp.Reminders;

/// <summary>The log lines of reminders. Ids 1100 to 1119, and 1474.</summary>
internal sealed partial class ReminderLog(ILogger logger)
{
    internal void TickFailed(string name, GrainId grain, Exception exception) => TickFailed(logger, name, grain, exception);

    internal void TickLeftOut(string name, GrainId grain) => TickLeftOut(logger, name, grain);

    internal void ReadFailed(TimeSpan pause, Exception exception) => ReadFailed(logger, pause, exception);

    internal void RowLeftOut(GrainId grain, string name, long count) => RowLeftOut(logger, name, grain, count);

    [LoggerMessage(1474, LogLevel.Warning,
        "The table of reminders has returned a row that cannot be: {name} of {grain}. It is left out, as {count} such rows.")]
    private static partial void RowLeftOut(ILogger logger, string name, GrainId grain, long count);

    [LoggerMessage(1100, LogLevel.Error, "A tick of the reminder {name} of {grain} failed; the next one comes when it is due.")]
    private static partial void TickFailed(ILogger logger, string name, GrainId grain, Exception exception);

    [LoggerMessage(1101, LogLevel.Warning,
        "A tick of the reminder {name} of {grain} was left out: the grain has not answered the one before.")]
    private static partial void TickLeftOut(ILogger logger, string name, GrainId grain);

    [LoggerMessage(1102, LogLevel.Error, "The reminders could not be read from their table; the next attempt is in {pause}.")]
    private static partial void ReadFailed(ILogger logger, TimeSpan pause, Exception exception);
}

/// <summary>The metrics of reminders, on the meter of the runtime. Any thread.</summary>
internal sealed class ReminderMetrics
{
    private static readonly KeyValuePair<string, object?> OutcomeOk = new("outcome", "ok");
    private static readonly KeyValuePair<string, object?> OutcomeFailed = new("outcome", "failed");
    private static readonly KeyValuePair<string, object?> OutcomeLeftOut = new("outcome", "left_out");
    private readonly Meter _meter;
    private readonly Meter _ofOrleans;
    private readonly Counter<long> _delivered;
    private readonly Histogram<double> _tardiness;
    private readonly Counter<long> _ticks;
    private readonly Histogram<double> _lateness;
    private readonly Counter<long> _readFailures;

    internal ReminderMetrics(Meter meter, Meter ofOrleans)
    {
        _meter = meter;
        _ofOrleans = ofOrleans;
        _delivered = ofOrleans.CreateCounter<long>("orleans-reminders-ticks-delivered");
        _tardiness = ofOrleans.CreateHistogram<double>("orleans-reminders-tardiness", "s");
        _ticks = meter.CreateCounter<long>("actop.reminders.ticks", "{tick}", "Ticks that were due, by outcome.");
        _lateness = meter.CreateHistogram<double>("actop.reminders.lateness", "s", "Time from when a tick was due to when it was sent.");
        _readFailures = meter.CreateCounter<long>("actop.reminders.read_failures", "{read}", "Reads of the table that failed.");
    }

    internal void Observe(Func<int> count)
    {
        _meter.CreateObservableUpDownCounter("actop.reminders", count, "{reminder}", "Reminders in memory: due soon.");
        _ofOrleans.CreateObservableGauge("orleans-reminders-active", count);
    }

    internal void Sent() => Guarded(this, static (self, _) =>
    {
        self._ticks.Add(1, OutcomeOk);
        self._delivered.Add(1);
    });

    internal void Failed() => Guarded(this, static (self, _) => self._ticks.Add(1, OutcomeFailed));

    internal void Skipped() => Guarded(this, static (self, _) => self._ticks.Add(1, OutcomeLeftOut));

    internal void Late(TimeSpan time) => Guarded(this, static (self, seconds) =>
    {
        self._lateness.Record(seconds);
        self._tardiness.Record(seconds);
    }, time.TotalSeconds);

    internal void ReadFailed() => Guarded(this, static (self, _) => self._readFailures.Add(1));

    /// <summary>A listener of the application that throws loses its measurement, and nobody a tick.</summary>
    private static void Guarded(ReminderMetrics self, Action<ReminderMetrics, double> record, double value = 0)
    {
        try
        {
            record(self, value);
        }
        catch (Exception exception)
        {
            Border.Failed(BorderKind.MeterListener, exception);
        }
    }
}
