using System.Diagnostics.Metrics;

namespace HaloPresence.Cluster;

/// <summary>Reads the runtime's metrics of this process: grain messages that stayed and that crossed, activations, migrations.</summary>
public sealed class RuntimeMeter : IDisposable
{
    /// <summary>Prefix of the names of the runtime's meters.</summary>
    public const string MeterPrefix = "ActOp";

    /// <summary>Counter of grain messages between activations of this silo.</summary>
    public const string LocalName = "actop.grain.messages.local";

    /// <summary>Counter of grain messages sent to other silos (not to clients).</summary>
    public const string RemoteName = "actop.grain.messages.remote";

    /// <summary>Current number of activations.</summary>
    public const string ActivationsName = "actop.activations";

    /// <summary>Counter of migrations away from this silo.</summary>
    public const string MovesName = "actop.migrations";

    private readonly MeterListener _listener = new();
    private readonly Reading _local = new();
    private readonly Reading _remote = new();
    private readonly Reading _activations = new();
    private readonly Reading _moves = new();

    /// <summary>Starts listening.</summary>
    public RuntimeMeter()
    {
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name.StartsWith(MeterPrefix, StringComparison.Ordinal) && Find(instrument.Name) is { } reading)
                listener.EnableMeasurementEvents(instrument, reading);
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, _, state) => ((Reading)state!).Take(instrument, value));
        _listener.SetMeasurementEventCallback<int>((instrument, value, _, state) => ((Reading)state!).Take(instrument, value));
        _listener.Start();
    }

    /// <summary>Grain messages that stayed on this silo.</summary>
    public long LocalMessages => _local.Value;

    /// <summary>Grain messages to other silos.</summary>
    public long RemoteMessages => _remote.Value;

    /// <summary>Activations now.</summary>
    public long Activations => _activations.Value;

    /// <summary>Migrations away from this silo.</summary>
    public long Moves => _moves.Value;

    /// <summary>Asks the observable instruments for their values.</summary>
    public void Observe()
    {
        _local.Begin();
        _remote.Begin();
        _activations.Begin();
        _moves.Begin();
        _listener.RecordObservableInstruments();
    }

    /// <inheritdoc/>
    public void Dispose() => _listener.Dispose();

    private Reading? Find(string name) => name switch
    {
        LocalName => _local,
        RemoteName => _remote,
        ActivationsName => _activations,
        MovesName => _moves,
        _ => null,
    };

    /// <summary>Adds up increments of plain counters, and the values of one round of observable ones (one per tag set).</summary>
    private sealed class Reading
    {
        private long _added;
        private long _observed;

        public long Value => Volatile.Read(ref _added) + Volatile.Read(ref _observed);

        public void Begin() => _observed = 0;

        public void Take(Instrument instrument, long value)
        {
            if (instrument.IsObservable)
                Interlocked.Add(ref _observed, value);
            else
                Interlocked.Add(ref _added, value);
        }
    }
}
