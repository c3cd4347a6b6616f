using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;

namespace ActOp.Bench.Calls;

/// <summary>Calls between grains of two silo processes, beside a bare socket.</summary>
internal static class RemoteCalls
{
    /// <summary>About what a request and its answer take on the wire on average.</summary>
    private const int FrameBytes = 50;

    /// <summary>The share of the calls per second that TLS may cost with 128 callers, in percent.</summary>
    private const double MostLoss = 35;

    private static readonly int[] Callers = [1, 8, 128, 1024];

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        using var first = SiloProcess.Start(null);
        using var second = SiloProcess.Start(first.Port);
        await using var client = await BenchHost.StartClient(first.Gateway);
        var pairs = await Split(client.Grains, Callers[^1]);
        if (settings.Tls)
        {
            using var certificate = BenchCertificate.Create();
            await MeasureBeside("TLS", new SiloLinks(certificate.Path, false), MostLoss, client.Grains, pairs, settings, report);
        }

        if (settings.Middleware)
            await MeasureBeside("middleware", new SiloLinks(null, true), null, client.Grains, pairs, settings, report);
        if (settings.Tls || settings.Middleware)
            return;

        foreach (var callers in Callers)
            await Measure(client, [first, second], pairs[..callers], settings, report);
    }

    /// <summary>The same calls between silos whose connections pass through something, each run beside one without.</summary>
    /// <param name="what">What they pass through.</param>
    /// <param name="links">The connections.</param>
    /// <param name="mostLoss">What it may cost with 128 callers, in percent; null for no bar.</param>
    private static async Task MeasureBeside(
        string what, SiloLinks links, double? mostLoss, IGrainFactory plain, (long, long)[] plainPairs, CallSettings settings,
        Action<Row> report)
    {
        using var first = SiloProcess.Start(null, links);
        using var second = SiloProcess.Start(first.Port, links);
        await using var client = await BenchHost.StartClient(first.Gateway, links.Tls);
        var pairs = await Split(client.Grains, Callers[^1]);
        foreach (var callers in Callers)
        {
            var rates = new double[settings.Runs];
            var plainRates = new double[settings.Runs];
            var losses = new double[settings.Runs];
            await Pairs.Run(plain, plainPairs[..callers], settings.Milliseconds, LoopTiming.None);
            await Pairs.Run(client.Grains, pairs[..callers], settings.Milliseconds, LoopTiming.None);
            for (var run = 0; run < settings.Runs; run++)
            {
                plainRates[run] = (await Pairs.Run(plain, plainPairs[..callers], settings.Milliseconds, LoopTiming.None)).Rate;
                rates[run] = (await Pairs.Run(client.Grains, pairs[..callers], settings.Milliseconds, LoopTiming.None)).Rate;
                losses[run] = 100 * (1 - (rates[run] / plainRates[run]));
            }

            var name = callers + (callers == 1 ? " caller" : " callers");
            var loss = Spread.Of(losses);
            report(new Row("remote, " + name, "calls/s", Spread.Of(plainRates)));
            report(new Row("remote with " + what + ", " + name, "calls/s", Spread.Of(rates)));
            var bar = callers == 128 ? mostLoss : null;
            report(new Row(what + " costs, " + name, "%", loss, null, bar is { } most ? "at most " + most : null,
                bar is null ? null : loss.Median <= bar));
        }
    }

    private static async Task Measure(
        BenchHost client, SiloProcess[] silos, (long, long)[] pairs, CallSettings settings, Action<Row> report)
    {
        var callers = pairs.Length;
        var timing = callers == 1 ? LoopTiming.Exact : LoopTiming.None;
        var rates = new double[settings.Runs];
        var floors = new double[settings.Runs];
        var ratios = new double[settings.Runs];
        var cpu = new double[settings.Runs];
        var medians = new double[settings.Runs];
        var medianRatios = new double[settings.Runs];
        await Pairs.Run(client.Grains, pairs, settings.Milliseconds, timing);
        for (var run = 0; run < settings.Runs; run++)
        {
            var floor = SocketFloor.Measure(FrameBytes, callers, 1, settings.Duration);
            var before = silos.Sum(silo => silo.Cpu.TotalMicroseconds);
            var result = await Pairs.Run(client.Grains, pairs, settings.Milliseconds, timing);
            cpu[run] = (silos.Sum(silo => silo.Cpu.TotalMicroseconds) - before) / result.Calls;
            floors[run] = floor.EchoesPerSecond.Median;
            rates[run] = result.Rate;
            ratios[run] = floors[run] / rates[run];
            medians[run] = result.MedianMicroseconds;
            medianRatios[run] = result.MedianMicroseconds / floor.MedianMicroseconds.Median;
        }

        var name = "remote, " + callers + (callers == 1 ? " caller" : " callers");
        var ratio = Spread.Of(ratios).Median;
        report(new Row("floor: socket, window " + callers, "echoes/s", Spread.Of(floors)));
        report(new Row(name, "calls/s", Spread.Of(rates), ratio, callers == 128 ? "at most 4" : null, callers == 128 ? ratio <= 4 : null));
        report(new Row(name + ", silo CPU", "us/call", Spread.Of(cpu)));
        if (callers == 1)
        {
            report(new Row(name + ", median", "us", Spread.Of(medians), Spread.Of(medianRatios).Median, "at most 1.3",
                Spread.Of(medianRatios).Median <= 1.3));
        }
    }

    /// <summary>Pairs whose caller and callee are on different silos, all callers on one.</summary>
    private static async Task<(long, long)[]> Split(IGrainFactory grains, int count)
    {
        var callers = new List<long>();
        var callees = new List<long>();
        string? home = null;
        for (long key = 0; callers.Count < count || callees.Count < count; key++)
        {
            var silo = await grains.GetGrain<IEchoGrain>(key).Where();
            home ??= silo;
            (silo == home ? callers : callees).Add(key);
        }

        return [.. callers.Zip(callees).Take(count)];
    }
}
