using System.Diagnostics;
using System.Globalization;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;
using OpenTelemetry;
using OpenTelemetry.Trace;

namespace ActOp.Bench.Calls;

/// <summary>
/// What tracing costs when one trace in a hundred is recorded: calls between grains within traces, and calls each of which begins one. The
/// choice is made by the runtime (<see cref="CallTracingOptions.RootShare"/>), or by the sampler of .NET, without a bar where each call asks
/// it: what .NET needs for that is measured beside it. What the runtime adds has a bar of 5 %; what .NET itself takes for the spans of the
/// recorded calls is measured in the same run and added to the bar.
/// </summary>
/// <remarks>
/// With and without take turns in slices, and each slice is compared with its neighbour: what the machine does meanwhile hits both.
/// </remarks>
internal static class TracedCalls
{
    private const double Share = 0.01;
    private const string Runtime = "ActOp.Runtime";
    private const int Pairs = 100;
    private const int Hosted = 16;

    /// <summary>Per cent of the calls that tracing may cost, where the runtime chooses or a trace exists.</summary>
    private const double Bar = 5;

    /// <summary>Pairs of slices in one run.</summary>
    private const int PairsPerRun = 5;

    private const int FloorCalls = 200_000;

    private static readonly ActivitySource Floor = new("ActOp.Bench.Floor");

    /// <summary>A span with the attributes that one of a call has, if anybody listens.</summary>
    internal static Activity? Begin(ActivityKind kind) =>
        Floor.StartActivity("floor", kind)?.SetTag("rpc.system", "actop").SetTag("actop.grain", "floor");

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        // Before the silo: its threads look for work now and then.
        var floor = MeasureFloor(settings, report);
        var spans = MeasureSpans(settings, report);
        foreach (var (root, name) in new[] { (0.0, ", none by RootShare"), (Share, ", 1 % by RootShare") })
        {
            await using var chosen = await BenchHost.StartSilo(
                locality: false, configure: silo => silo.Configure<CallTracingOptions>(options => options.RootShare = root));
            var way = new Way(name, 1, root * spans, Bar, null);
            if (root == 0)
                await MeasureInPlace(chosen, settings, report);
            await Measure(chosen, settings, way, report);
        }

        await using var sampled = await BenchHost.StartSilo(locality: false);
        await Measure(sampled, settings, new Way(", 1 % by the sampler", Share, Share * spans, null, floor), report);
    }

    /// <summary>All measurements with one way to choose traces.</summary>
    /// <param name="silo">The silo.</param>
    /// <param name="settings">Runs and times.</param>
    /// <param name="way">The way.</param>
    /// <param name="report">Takes the rows.</param>
    private static async Task Measure(BenchHost silo, CallSettings settings, Way way, Action<Row> report)
    {
        var pairs = Calls.Pairs.Numbered(Pairs);
        var slice = Math.Max(10, settings.Milliseconds / 2 / PairsPerRun);

        async Task<long> InTraces(Action began)
        {
            began();
            return (await Calls.Pairs.Run(silo.Grains, pairs, slice, Grains.LoopTiming.None)).Calls;
        }

        // Turns that began before anybody listened belong to no trace.
        async Task<long> Roots(Action began)
        {
            var run = Calls.Pairs.Run(silo.Grains, pairs, slice, Grains.LoopTiming.None);
            began();
            return (await run).Calls;
        }

        async Task<long> HostedRoots(Action began)
        {
            began();
            return await HostedCalls.Loop(silo.Grains, Hosted, slice);
        }

        await Compare("calls within traces" + way.Name, InTraces, way with { Bar = Bar, Floor = null }, settings.Runs, report);
        await Compare("calls that begin a trace, in grains" + way.Name, Roots, way, settings.Runs, report);
        await Compare("calls that begin a trace, " + Hosted + " hosted" + way.Name, HostedRoots, way, settings.Runs, report);
    }

    /// <summary>
    /// One pair of a hundred puts each call into two spans of its own. In loops alone these are measured with warm caches, among other calls
    /// as they are when one trace in a hundred is recorded.
    /// </summary>
    private static async Task MeasureInPlace(BenchHost silo, CallSettings settings, Action<Row> report)
    {
        var pairs = Calls.Pairs.Numbered(Pairs);
        var slice = Math.Max(10, settings.Milliseconds / 2 / PairsPerRun);

        async Task<long> ByHand(Action began)
        {
            began();
            var first = Calls.Pairs.Run(silo.Grains, pairs[..1], slice, Grains.LoopTiming.Spans);
            var others = Calls.Pairs.Run(silo.Grains, pairs[1..], slice, Grains.LoopTiming.None);
            return (await first).Calls + (await others).Calls;
        }

        var way = new Way(", by .NET alone", 1, 0, null, null, Floor.Name);
        await Compare("floor: two spans around 1 % of the calls" + way.Name, ByHand, way, settings.Runs, report);
    }

    /// <summary>What .NET takes for the two spans of a recorded call, with the attributes that a call has; nanoseconds.</summary>
    private static double MeasureSpans(CallSettings settings, Action<Row> report)
    {
        var times = new double[settings.Runs];
        using var tracing = new Tracing(1, Floor.Name);
        for (var run = -1; run < settings.Runs; run++)
        {
            var start = Stopwatch.GetTimestamp();
            for (var call = 0; call < FloorCalls; call++)
            {
                using var client = Begin(ActivityKind.Client);
                using var server = Begin(ActivityKind.Server);
            }

            if (run >= 0)
                times[run] = Stopwatch.GetElapsedTime(start).TotalNanoseconds / FloorCalls;
        }

        report(new Row("floor: .NET records the two spans of a call", "ns", Spread.Of(times)));
        return Spread.Of(times).Median;
    }

    /// <summary>What .NET and the sampler take for one trace that begins, nobody records, and ends; nanoseconds.</summary>
    private static double MeasureFloor(CallSettings settings, Action<Row> report)
    {
        var times = new double[settings.Runs];
        using var tracing = new Tracing(Share, Floor.Name);
        for (var run = -1; run < settings.Runs; run++)
        {
            var start = Stopwatch.GetTimestamp();
            for (var call = 0; call < FloorCalls; call++)
                Floor.StartActivity("floor", ActivityKind.Client)?.Dispose();
            if (run >= 0)
                times[run] = Stopwatch.GetElapsedTime(start).TotalNanoseconds / FloorCalls;
        }

        report(new Row("floor: .NET begins a trace", "ns", Spread.Of(times)));
        return Spread.Of(times).Median;
    }

    private static async Task Compare(
        string name, Func<Action, Task<long>> play, Way way, int runs, Action<Row> report)
    {
        var (plain, traced, lost, added) = (new List<double>(), new List<double>(), new List<double>(), new List<double>());
        var needed = new List<double>();
        long calls = 0;
        long recorded = 0;
        for (var pair = -1; pair < runs * PairsPerRun; pair++)
        {
            var tracedFirst = pair % 2 == 0;
            var one = await Play(play, tracedFirst ? way : null);
            var other = await Play(play, tracedFirst ? null : way);
            if (pair < 0)
                continue;
            var (off, on) = tracedFirst ? (other, one) : (one, other);
            plain.Add(off.Rate);
            traced.Add(on.Rate);
            lost.Add(100 * (1 - (on.Rate / off.Rate)));
            added.Add(on.Nanoseconds - off.Nanoseconds);
            needed.Add(100 * way.Spans / off.Nanoseconds);
            calls += on.Calls;
            recorded += on.Recorded;
        }

        var loss = Spread.Of([.. lost]);
        var cost = Spread.Of([.. added]);
        report(new Row(name + ", no tracing", "calls/s", Spread.Of([.. plain])));
        report(new Row(name + ", traced", "calls/s", Spread.Of([.. traced])));
        var most = way.Bar + Spread.Of([.. needed]).Median;
        report(most is { } bar
            ? new Row(name + ", lost", "%", loss, null, "at most " + bar.ToString("F1", CultureInfo.InvariantCulture), loss.Median <= bar)
            : new Row(name + ", lost", "%", loss));
        report(new Row(name + ", added", "ns of processor time/call", cost, cost.Median / way.Floor));
        // A recorded call has two spans.
        var share = 50.0 * recorded / calls;
        report(new Row(name + ", recorded", "% of the calls", new Spread(share, share, share)));
    }

    private static async Task<Slice> Play(Func<Action, Task<long>> play, Way? way)
    {
        Tracing? tracing = null;
        var busy = Environment.CpuUsage.TotalTime;
        var start = Stopwatch.GetTimestamp();
        var calls = await play(() => tracing = way is null ? null : new Tracing(way.Sampled, way.Source));
        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        var used = (Environment.CpuUsage.TotalTime - busy).TotalNanoseconds;
        tracing?.Dispose();
        return new Slice(calls, calls / seconds, used / calls, tracing?.Ended ?? 0);
    }

    /// <summary>A way to choose the traces that are recorded.</summary>
    /// <param name="Name">For the names of the rows.</param>
    /// <param name="Sampled">What the sampler records of what it is asked for.</param>
    /// <param name="Spans">What .NET takes for the spans of the recorded calls, in ns for each call.</param>
    /// <param name="Bar">What calls may lose beside that, in per cent; null for no limit.</param>
    /// <param name="Floor">What .NET takes for a trace that begins, in ns; null if it is not asked.</param>
    /// <param name="Source">The source that is listened to.</param>
    private sealed record Way(string Name, double Sampled, double Spans, double? Bar, double? Floor, string Source = Runtime);

    /// <summary>What one slice of time has shown.</summary>
    /// <param name="Calls">Calls answered.</param>
    /// <param name="Rate">Calls per second.</param>
    /// <param name="Nanoseconds">Processor time of the process per call.</param>
    /// <param name="Recorded">Spans recorded.</param>
    private sealed record Slice(long Calls, double Rate, double Nanoseconds, long Recorded);

    /// <summary>OpenTelemetry as an application sets it up, with an exporter that only counts.</summary>
    private sealed class Tracing : BaseProcessor<Activity>
    {
        private readonly TracerProvider _provider;
        private long _ended;
        private int _disposed;

        internal Tracing(double share, string source) => _provider = Sdk.CreateTracerProviderBuilder()
            .SetSampler(new ParentBasedSampler(new TraceIdRatioBasedSampler(share)))
            .AddSource(source)
            .AddProcessor(this)
            .Build();

        internal long Ended => Volatile.Read(ref _ended);

        public override void OnEnd(Activity data) => Interlocked.Increment(ref _ended);

        protected override void Dispose(bool disposing)
        {
            // The provider disposes its processors.
            if (Interlocked.Exchange(ref _disposed, 1) == 0)
                _provider.Dispose();
            base.Dispose(disposing);
        }
    }
}
