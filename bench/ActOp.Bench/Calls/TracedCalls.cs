using System.Diagnostics;
using ActOp.Bench.Hosting;
using ActOp.Floors;
using OpenTelemetry;
using OpenTelemetry.Trace;

namespace ActOp.Bench.Calls;

/// <summary>
/// What tracing costs when one trace in a hundred is recorded: calls between grains within traces, and calls each of which begins one.
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

    /// <summary>Pairs of slices in one run.</summary>
    private const int PairsPerRun = 5;

    private const int FloorCalls = 200_000;

    private static readonly ActivitySource Floor = new("ActOp.Bench.Floor");

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        // Before the silo: its threads look for work now and then.
        var floor = MeasureFloor(settings, report);
        await using var silo = await BenchHost.StartSilo(locality: false);
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

        await Compare("calls within traces, 1 %", InTraces, Share, settings.Runs, null, report);
        await Compare("calls within traces, none", InTraces, 0, settings.Runs, null, report);
        await Compare("calls that begin a trace, in grains, 1 %", Roots, Share, settings.Runs, floor, report);
        await Compare("calls that begin a trace, " + Hosted + " hosted, 1 %", HostedRoots, Share, settings.Runs, floor, report);
    }

    /// <summary>What .NET and the sampler take for one trace that begins, nobody records, and ends; nanoseconds.</summary>
    private static double MeasureFloor(CallSettings settings, Action<Row> report)
    {
        var times = new double[settings.Runs];
        using var tracing = new Tracing(Share);
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
        string name, Func<Action, Task<long>> play, double sampled, int runs, double? floor, Action<Row> report)
    {
        var (plain, traced, lost, added) = (new List<double>(), new List<double>(), new List<double>(), new List<double>());
        long calls = 0;
        long recorded = 0;
        for (var pair = -1; pair < runs * PairsPerRun; pair++)
        {
            var tracedFirst = pair % 2 == 0;
            var one = await Play(play, tracedFirst ? sampled : null);
            var other = await Play(play, tracedFirst ? null : sampled);
            if (pair < 0)
                continue;
            var (off, on) = tracedFirst ? (other, one) : (one, other);
            plain.Add(off.Rate);
            traced.Add(on.Rate);
            lost.Add(100 * (1 - (on.Rate / off.Rate)));
            added.Add(on.Nanoseconds - off.Nanoseconds);
            calls += on.Calls;
            recorded += on.Recorded;
        }

        var loss = Spread.Of([.. lost]);
        var cost = Spread.Of([.. added]);
        report(new Row(name + ", no tracing", "calls/s", Spread.Of([.. plain])));
        report(new Row(name + ", traced", "calls/s", Spread.Of([.. traced])));
        report(new Row(name + ", lost", "%", loss, null, "at most 5", loss.Median <= 5));
        report(new Row(name + ", added", "ns of processor time/call", cost, cost.Median / floor));
        // A recorded call has two spans.
        var share = 50.0 * recorded / calls;
        report(new Row(name + ", recorded", "% of the calls", new Spread(share, share, share)));
    }

    private static async Task<Slice> Play(Func<Action, Task<long>> play, double? sampled)
    {
        Tracing? tracing = null;
        var busy = Environment.CpuUsage.TotalTime;
        var start = Stopwatch.GetTimestamp();
        var calls = await play(() => tracing = sampled is { } share ? new Tracing(share) : null);
        var seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        var used = (Environment.CpuUsage.TotalTime - busy).TotalNanoseconds;
        tracing?.Dispose();
        return new Slice(calls, calls / seconds, used / calls, tracing?.Ended ?? 0);
    }

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

        internal Tracing(double share) => _provider = Sdk.CreateTracerProviderBuilder()
            .SetSampler(new ParentBasedSampler(new TraceIdRatioBasedSampler(share)))
            .AddSource(Runtime)
            .AddSource(Floor.Name)
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
