using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;
using ActOp.Harness.Load;

namespace ActOp.Bench.Calls;

/// <summary>Calls from an external client to a silo in another process.</summary>
internal static class ClientCalls
{
    private const int FrameBytes = 50;
    private const int Many = 128;

    /// <summary>The rate of the open loop as a share of the closed loop's: a load that a service would run at.</summary>
    private const double OpenShare = 0.3;

    private const int OpenWarmUps = 5;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        using var silo = SiloProcess.Start(null);
        await using var client = await BenchHost.StartClient(silo.Gateway);
        await Closed(client.Grains, 1, settings, report);
        var peak = await Closed(client.Grains, Many, settings, report);
        await Open(client.Grains, OpenShare * peak, settings, report);
    }

    /// <summary>Callers that each have one call in flight. Returns the median of the rates.</summary>
    private static async Task<double> Closed(IGrainFactory grains, int callers, CallSettings settings, Action<Row> report)
    {
        await Run(grains, callers, settings.Milliseconds);
        var rates = new double[settings.Runs];
        var ratios = new double[settings.Runs];
        var cpu = new double[settings.Runs];
        for (var run = 0; run < settings.Runs; run++)
        {
            var floor = SocketFloor.Measure(FrameBytes, callers, 1, settings.Duration).EchoesPerSecond.Median;
            var busy = Environment.CpuUsage.TotalTime;
            var (calls, seconds) = await Run(grains, callers, settings.Milliseconds);
            cpu[run] = (Environment.CpuUsage.TotalTime - busy).TotalMicroseconds / calls;
            rates[run] = calls / seconds;
            ratios[run] = floor / rates[run];
        }

        var (isMany, name) = (callers == Many, "client to silo, " + callers + (callers == 1 ? " caller" : " callers"));
        var (rate, cost) = (Spread.Of(rates), Spread.Of(cpu));
        var spread = rate.Max / rate.Min;
        report(new Row(name, "calls/s", rate, Spread.Of(ratios).Median, isMany
            ? "at least 700,000" : null, isMany ? rate.Median >= 700_000 : null));
        report(new Row(name + ", client CPU", "us/call", cost, null, isMany ? "at most 1.5" : null, isMany ? cost.Median <= 1.5 : null));
        if (isMany)
            report(new Row(name + ", largest over smallest", "", new Spread(spread, spread, spread), null, "at most 1.3", spread <= 1.3));
        return rate.Median;
    }

    /// <summary>
    /// Calls that begin at the times of a Poisson process, however long others take; latency counts from there. Beside them, frames of bare
    /// sockets at such times, before each run.
    /// </summary>
    private static async Task Open(IGrainFactory grains, double rate, CallSettings settings, Action<Row> report)
    {
        var echoes = Enumerable.Range(0, Many).Select(index => grains.GetGrain<IEchoGrain>(index)).ToArray();
        var clock = new MonotonicClock();
        await using var floor = await EchoConnection.OpenAsync(FrameBytes);
        double[] medians = [], tails = [], floorMedians = [], floorTails = [];
        // The first runs compile this way of calling, while the calls pile up.
        for (var run = -OpenWarmUps; run < settings.Runs; run++)
        {
            var bare = OpenFloor.Measure(floor.Socket, FrameBytes, rate, run + OpenWarmUps, settings.Duration);
            var (latency, tally, next) = (new LatencyHistogram(), new RequestTally(), 0);
            var loop = new OpenLoop(clock, () => echoes[next++ % Many].Next(0), maxOutstanding: 1_000_000);
            // A thread of its own: the pool belongs to the callers that go on there.
            await Task.Factory.StartNew(
                () => Pace(loop, clock, rate, run + OpenWarmUps, settings.Duration, latency, tally), TaskCreationOptions.LongRunning);
            if (tally.Errors > 0)
                throw new InvalidOperationException("Calls of the open loop failed: " + string.Join("; ", tally.ErrorTexts));
            if (run < 0)
                continue;
            medians = [.. medians, latency.Quantile(0.5).TotalMicroseconds];
            tails = [.. tails, latency.Quantile(0.99).TotalMicroseconds];
            floorMedians = [.. floorMedians, bare.Quantile(0.5).TotalMicroseconds];
            floorTails = [.. floorTails, bare.Quantile(0.99).TotalMicroseconds];
        }

        var name = string.Create(System.Globalization.CultureInfo.InvariantCulture, $"client to silo, open loop, {OpenShare:0%} of that");
        report(new Row(name + ", offered", "calls/s", new Spread(rate, rate, rate)));
        report(new Row(name + ", p50", "us", Spread.Of(medians), Spread.Of(medians).Median / Spread.Of(floorMedians).Median));
        report(new Row("its floor, bare sockets, p50", "us", Spread.Of(floorMedians)));
        var (tail, floorTail) = (Spread.Of(tails), Spread.Of(floorTails));
        report(new Row(name + ", p99", "us", tail, tail.Median / floorTail.Median, "at most 833", tail.Median <= 833));
        report(new Row("its floor, bare sockets, p99", "us", floorTail));
    }

    private static void Pace(
        OpenLoop loop, MonotonicClock clock, double rate, int seed, TimeSpan duration, LatencyHistogram latency, RequestTally tally)
    {
        var start = clock.Now;
        var until = start + duration;
        var arrivals = new PoissonArrivals(rate, start, seed + 1);
        while (arrivals.Next < until)
        {
            clock.WaitUntil(arrivals.Next);
            loop.SendDue(arrivals, clock.Now, until, latency, tally);
        }

        loop.Drain(TimeSpan.FromSeconds(10), tally, CancellationToken.None);
    }

    private static async Task<(long Calls, double Seconds)> Run(IGrainFactory grains, int callers, int milliseconds)
    {
        var start = Stopwatch.GetTimestamp();
        var end = Environment.TickCount64 + milliseconds;
        var loops = new Task<long>[callers];
        for (var index = 0; index < callers; index++)
            loops[index] = Loop(grains.GetGrain<IEchoGrain>(index), end);
        var calls = (await Task.WhenAll(loops)).Sum();
        return (calls, Stopwatch.GetElapsedTime(start).TotalSeconds);
    }

    private static async Task<long> Loop(IEchoGrain grain, long end)
    {
        long calls = 0;
        for (var value = 0; Environment.TickCount64 < end; calls++)
            value = await grain.Next(value).ConfigureAwait(false);
        return calls;
    }
}
