using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Text.Unicode;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Runtime;
using Orleans.Serialization.Serializers;
using Orleans.Storage;

namespace ActOp.Storage;

/// <summary>What a state asks of its storage.</summary>
internal enum StateOperation
{
    /// <summary>The record replaces what is in memory.</summary>
    Read,

    /// <summary>What is in memory replaces the record.</summary>
    Write,

    /// <summary>The record is removed.</summary>
    Clear,
}

/// <summary>
/// A storage whose ETag after a change of unknown outcome names all versions that the record may have, so that the next change from it
/// succeeds in each case, on any silo.
/// </summary>
internal interface IDoubtfulETags;

/// <summary>
/// What the states of all grains of a silo share: the log, the counts and times of operations, and their spans.
/// </summary>
/// <remarks>Any thread. Owned by the container of the silo, which disposes of the meter. Nothing here throws or waits.</remarks>
internal sealed class StateDiagnostics : IDisposable
{
    private static readonly ActivitySource Source = new(CallTrace.SourceName);
    private static readonly string[] Done = ["read", "written", "cleared"];
    private static readonly string[] Spans = ["storage.read", "storage.write", "storage.clear"];
    private static readonly string[] SpansOfOrleans = ["read storage", "write storage", "clear storage"];

    private readonly Meter _meter = new(RuntimeMetrics.MeterName);
    private readonly Counter<long>[] _counts;
    private readonly Counter<long> _errors;
    private readonly Counter<long> _conflicts;
    private readonly Histogram<double> _latency;
    private readonly OrleansMeter _ofOrleans = new();
    private readonly Counter<long>[] _errorsOfOrleans;
    private readonly Histogram<double>[] _latencyOfOrleans;
    private readonly TimeProvider _time;

    public StateDiagnostics(ILoggerFactory loggers, TimeProvider time, IActivatorProvider? activators = null)
    {
        Activators = activators;
        _time = time;
        Log = new StateLog(GuardedLoggers.GuardedOf(loggers, time).CreateLogger("ActOp.Runtime"));
        _counts =
        [
            _meter.CreateCounter<long>("actop.storage.reads", null, "States that were read."),
            _meter.CreateCounter<long>("actop.storage.writes", null, "States that were written."),
            _meter.CreateCounter<long>("actop.storage.clears", null, "States that were cleared."),
        ];
        _errors = _meter.CreateCounter<long>("actop.storage.errors", null, "Operations on states that have failed.");
        _conflicts = _meter.CreateCounter<long>("actop.storage.conflicts", null, "Operations on states that found another version.");
        _latency = _meter.CreateHistogram<double>("actop.storage.duration", "s", "Time of operations on states.");
        string[] operations = ["read", "write", "clear"];
        _errorsOfOrleans =
            [.. operations.Select(operation => _ofOrleans.Meter.CreateCounter<long>("orleans-storage-" + operation + "-errors"))];
        _latencyOfOrleans =
            [.. operations.Select(name => _ofOrleans.Meter.CreateHistogram<double>("orleans-storage-" + name + "-latency", "ms"))];
    }

    internal StateLog Log { get; }

    internal IActivatorProvider? Activators { get; }

    /// <summary>The parts of the silo of an activation; parts of their own for a context that a test has made.</summary>
    internal static StateDiagnostics FromServices(IServiceProvider services) =>
        services.GetService<StateDiagnostics>()
            ?? new StateDiagnostics(services.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance, TimeProvider.System);

    /// <summary>The services of the silo, which are not those of the scope of the activation: a scope costs memory.</summary>
    internal static IServiceProvider ServicesOf(IGrainContext context) =>
        context is Activation activation ? activation.Parts.Local.Services : context.ActivationServices;

    internal long Now => _time.GetTimestamp();

    /// <summary>
    /// The span of an operation: under the source of Orleans for whoever listens to it, else, within a recorded trace, under that of calls.
    /// </summary>
    internal static GrainSpan Begin(StateOperation operation, string state, Type type, IGrainContext grain, IGrainStorage provider)
    {
        if (grain is Activation { Class.IsOfRuntime: true })
            return default;
        if (GrainSpans.StorageIsOn)
            return new GrainSpan(GrainSpans.Storing(SpansOfOrleans[(int)operation], grain.GrainId, state, type, provider));
        if (Activity.Current is not { Recorded: true } current || !Source.HasListeners()
            || CallTrace.Create(Source, Spans[(int)operation], ActivityKind.Client, current) is not { } span)
        {
            return default;
        }

        CallTrace.Start(span).SetTag("actop.grain", grain.GrainId.ToString()).SetTag("actop.state", state)
            .SetTag("actop.storage.provider", provider.GetType().Name);
        return new GrainSpan(span);
    }

    internal void Succeeded(StateOperation operation, IGrainStorage provider, long began)
    {
        var tag = new KeyValuePair<string, object?>("provider", provider.GetType().Name);
        try
        {
            _counts[(int)operation].Add(1, tag);
            if (!_latency.Enabled && !_latencyOfOrleans[(int)operation].Enabled)
                return;
            var time = _time.GetElapsedTime(began);
            _latency.Record(time.TotalSeconds, tag, new KeyValuePair<string, object?>("operation", NameOf(operation)));
            _latencyOfOrleans[(int)operation].Record(time.TotalMilliseconds, tag);
        }
        catch (Exception exception)
        {
            // A listener is code of the application. The operation has succeeded, whatever it does.
            Log.ListenerFailed(exception);
        }
    }

    internal void Failed(StateOperation operation, string state, GrainId grain, IGrainStorage provider, Exception exception)
    {
        Count(operation, provider, exception is InconsistentStateException);
        if (exception is InconsistentStateException)
            Log.Inconsistent(state, grain, exception);
        else
            Log.OperationFailed(state, grain, Done[(int)operation], provider.GetType().Name, exception);
    }

    private void Count(StateOperation operation, IGrainStorage provider, bool isConflict)
    {
        var tag = new KeyValuePair<string, object?>("provider", provider.GetType().Name);
        var what = new KeyValuePair<string, object?>("operation", NameOf(operation));
        try
        {
            _errors.Add(1, tag, what);
            _errorsOfOrleans[(int)operation].Add(1, tag);
            if (isConflict)
                _conflicts.Add(1, tag, what);
        }
        catch (Exception exception)
        {
            Log.ListenerFailed(exception);
        }
    }

    public void Dispose()
    {
        _meter.Dispose();
        _ofOrleans.Dispose();
    }

    private static string NameOf(StateOperation operation) => operation switch
    {
        StateOperation.Read => "read",
        StateOperation.Write => "write",
        _ => "clear",
    };
}

/// <summary>
/// Grain ids as keys of records, so that different grains have different ones. A key is any bytes, and clients choose it; as text, all
/// bytes that are not UTF-8 look the same. Holds nothing; any thread.
/// </summary>
internal static class GrainBytes
{
    /// <summary>The bytes of the type, a slash and those of the key. If they are UTF-8: as the id is written everywhere.</summary>
    internal static byte[] BytesOf(GrainId grain) => [.. grain.Type.AsSpan(), (byte)'/', .. grain.Key.AsSpan()];

    /// <summary>
    /// As the id is written everywhere, if it is UTF-8. Otherwise a zero and its bytes as hexadecimal digits: no type of grains begins with
    /// a zero.
    /// </summary>
    internal static string TextOf(GrainId grain) => Utf8.IsValid(grain.Type.AsSpan()) && Utf8.IsValid(grain.Key.AsSpan())
        ? grain.ToString()
        : "\0" + Convert.ToHexString(grain.Type.AsSpan()) + "/" + Convert.ToHexString(grain.Key.AsSpan());
}
