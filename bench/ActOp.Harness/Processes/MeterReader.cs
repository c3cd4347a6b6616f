using System.Diagnostics.Metrics;

namespace ActOp.Harness.Processes;

/// <summary>
/// Reads metrics of this process by the names of their instruments, and by one tag. An instrument that does not exist counts as 0.
/// </summary>
public sealed class MeterReader : IDisposable
{
    private readonly MeterListener _listener = new();
    private readonly Dictionary<string, Reading> _readings;
    private readonly string? _tag;

    /// <summary>
    /// Starts listening to the meters whose names begin with <paramref name="meterPrefix"/>. Create it before what is measured, so that no
    /// instrument is missed.
    /// </summary>
    public MeterReader(string meterPrefix, string? tag, params IEnumerable<string> names)
    {
        _tag = tag;
        _readings = names.ToDictionary(name => name, _ => new Reading(), StringComparer.Ordinal);
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name.StartsWith(meterPrefix, StringComparison.Ordinal)
                && _readings.TryGetValue(instrument.Name, out var reading))
            {
                listener.EnableMeasurementEvents(instrument, reading);
            }
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, tags, state) => Take(instrument, value, tags, state));
        _listener.SetMeasurementEventCallback<int>((instrument, value, tags, state) => Take(instrument, value, tags, state));
        _listener.SetMeasurementEventCallback<double>((instrument, value, tags, state) => Take(instrument, value, tags, state));
        _listener.Start();
    }

    /// <summary>Asks the observable instruments for their values.</summary>
    public void Observe()
    {
        foreach (var reading in _readings.Values)
            reading.Begin();
        _listener.RecordObservableInstruments();
    }

    /// <summary>The value of an instrument, over all tags.</summary>
    public double Sum(string name) => _readings[name].Sum();

    /// <summary>The value of an instrument for one value of the tag.</summary>
    public double Of(string name, string tagged) => _readings[name].Of(tagged);

    /// <inheritdoc/>
    public void Dispose() => _listener.Dispose();

    private void Take(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? state)
    {
        var tagged = "";
        foreach (var pair in tags)
        {
            if (pair.Key == _tag)
                tagged = pair.Value?.ToString() ?? "";
        }
        ((Reading)state!).Take(instrument.IsObservable, tagged, value);
    }

    /// <summary>Adds up increments of plain counters, and the values of one round of observable ones.</summary>
    private sealed class Reading
    {
        private readonly Dictionary<string, double> _added = [];
        private readonly Dictionary<string, double> _observed = [];

        public void Begin()
        {
            lock (_added)
                _observed.Clear();
        }

        public void Take(bool isObservable, string tagged, double value)
        {
            lock (_added)
            {
                var values = isObservable ? _observed : _added;
                values[tagged] = values.GetValueOrDefault(tagged) + value;
            }
        }

        public double Sum()
        {
            lock (_added)
                return _added.Values.Sum() + _observed.Values.Sum();
        }

        public double Of(string tagged)
        {
            lock (_added)
                return _added.GetValueOrDefault(tagged) + _observed.GetValueOrDefault(tagged);
        }
    }
}
