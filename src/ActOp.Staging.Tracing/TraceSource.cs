#pragma warning disable RS0030 // The reader of the trace is a sanctioned owner of a thread.
using System.Diagnostics.Tracing;
using ActOp.Staging.Measuring;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

namespace ActOp.Staging.Tracing;

/// <summary>
/// Traces this process. The .NET runtime reports waits and lock contention, the stages report their busy times (provider
/// <c>ActOp-Stages</c>). The waits inside a busy time are its blocked time. Waits on .NET's own primitives are included, sleeps and
/// blocking system calls are not.
/// </summary>
/// <remarks>A dedicated thread reads the trace; a lock guards the sums.</remarks>
public sealed class TraceSource : SampledSource
{
    private const string Runtime = "Microsoft-Windows-DotNETRuntime";
    private const long ContentionKeyword = 0x4000;
    private const long WaitKeyword = 0x40000000000;
    private const int ContentionStart = 81;
    private const int ContentionStop = 91;
    private const int WaitStart = 301;
    private const int WaitStop = 302;
    private const int BufferMegabytes = 16;
    private const double NanosecondsPerMillisecond = 1e6;

    private readonly EventPipeSession _session;
    private readonly Thread _reader;
    private readonly Lock _gate = new();
    private readonly Dictionary<string, int> _stages = [];
    private readonly double[] _blocked;
    private readonly long[] _items;
    private readonly Dictionary<int, TracedThread> _threads = [];

    /// <summary>Starts the trace session.</summary>
    /// <param name="stages">Names of the stages, in the order of <see cref="IDemandSource.Estimate"/>.</param>
    /// <exception cref="ServerNotAvailableException">The process has no diagnostics port (DOTNET_EnableDiagnostics=0).</exception>
    public TraceSource(IReadOnlyList<string> stages)
    {
        for (var i = 0; i < stages.Count; i++)
            _stages.Add(stages[i], i);
        _blocked = new double[stages.Count];
        _items = new long[stages.Count];
        EventPipeProvider[] providers =
        [
            new(StageEvents.ProviderName, EventLevel.Informational),
            new(Runtime, EventLevel.Verbose, ContentionKeyword | WaitKeyword),
        ];
        _session = new DiagnosticsClient(Environment.ProcessId).StartEventPipeSession(
            providers, requestRundown: false, circularBufferMB: BufferMegabytes);
        _reader = new Thread(Read) { IsBackground = true, Name = "actop-trace" };
        _reader.UnsafeStart();
    }

    /// <inheritdoc/>
    public override string Name => "trace";

    /// <inheritdoc/>
    protected override double[] Blocked(BusyTime[] busy)
    {
        lock (_gate)
        {
            double[] blocked = [.. busy.Select((stage, i) => _items[i] == 0 ? 0 : _blocked[i] / _items[i] * stage.Items)];
            Array.Clear(_blocked);
            Array.Clear(_items);
            return blocked;
        }
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (!disposing)
            return;
        _session.Stop();
        _reader.Join();
        _session.Dispose();
    }

    private void Read()
    {
        using var source = new EventPipeEventSource(_session.EventStream);
        source.Dynamic.All += On;
        source.Process();
    }

    private void On(TraceEvent traced)
    {
        if (!_threads.TryGetValue(traced.ThreadID, out var thread))
            _threads.Add(traced.ThreadID, thread = new TracedThread());
        var now = traced.TimeStampRelativeMSec;
        if (traced.ProviderName == StageEvents.ProviderName)
        {
            if (traced.EventName == "BusyBegin")
                thread.Begin(now);
            else if (traced.EventName == "BusyEnd" && _stages.TryGetValue((string)traced.PayloadByName("stage"), out var stage))
                Add(stage, (int)traced.PayloadByName("items"), thread.End(now));
        }
        else if (traced.ProviderName == Runtime)
        {
            switch ((int)traced.ID)
            {
                case ContentionStart or WaitStart:
                    thread.BeginWait(now);
                    break;
                case ContentionStop or WaitStop:
                    thread.EndWait(now);
                    break;
            }
        }
    }

    private void Add(int stage, int items, double milliseconds)
    {
        lock (_gate)
        {
            _items[stage] += items;
            _blocked[stage] += milliseconds * NanosecondsPerMillisecond;
        }
    }
}

/// <summary>What a trace has reported about one thread so far. Times in milliseconds.</summary>
internal sealed class TracedThread
{
    private bool _isBusy;
    private double _waited;
    private double _waitBegan = double.NaN;

    internal void Begin(double now)
    {
        _isBusy = true;
        _waited = 0;
        // A wait that began before it is the wait for work.
        _waitBegan = double.NaN;
    }

    internal void BeginWait(double now) => _waitBegan = now;

    internal void EndWait(double now)
    {
        if (_isBusy && !double.IsNaN(_waitBegan))
            _waited += now - _waitBegan;
        _waitBegan = double.NaN;
    }

    /// <summary>The time that the thread waited in its busy time.</summary>
    internal double End(double now)
    {
        _isBusy = false;
        return double.IsNaN(_waitBegan) ? _waited : _waited + (now - _waitBegan);
    }
}
