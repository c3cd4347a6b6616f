using Harness.Hosting;

namespace HaloPresence.Cluster;

/// <summary>Reads the runtime's metrics of this process: grain messages that stayed and that crossed, activations, migrations.</summary>
public sealed class RuntimeMeter : IDisposable
{
    private const string MeterPrefix = "ActOp";
    private const string LocalName = "actop.grain.messages.local";
    private const string RemoteName = "actop.grain.messages.remote";
    private const string ActivationsName = "actop.activations";
    private const string MovesName = "actop.migrations";

    private readonly MeterReader _meter = new(MeterPrefix, null, LocalName, RemoteName, ActivationsName, MovesName);

    /// <summary>Grain messages between activations of this silo.</summary>
    public long LocalMessages => (long)_meter.Sum(LocalName);

    /// <summary>Grain messages sent to other silos (not to clients).</summary>
    public long RemoteMessages => (long)_meter.Sum(RemoteName);

    /// <summary>Activations now.</summary>
    public long Activations => (long)_meter.Sum(ActivationsName);

    /// <summary>Migrations away from this silo.</summary>
    public long Moves => (long)_meter.Sum(MovesName);

    /// <summary>Asks the observable instruments for their values.</summary>
    public void Observe() => _meter.Observe();

    /// <inheritdoc/>
    public void Dispose() => _meter.Dispose();
}
