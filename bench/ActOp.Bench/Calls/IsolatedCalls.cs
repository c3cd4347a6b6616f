using System.Diagnostics;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Floors;
using Orleans.Concurrency;

namespace ActOp.Bench.Calls;

/// <summary>
/// What it costs that grains do not share objects (Orleans report, section 5.1, table 1): a client calls a grain, which calls a second one
/// with the same argument, copied or marked as immutable. Half of the second calls go to the other silo. The report does not give the sizes
/// of its arguments: here 1,000 bytes and 100 entries.
/// </summary>
internal static class IsolatedCalls
{
    private const int Callers = 64;
    private const int Entries = 100;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        using var first = SiloProcess.Start(null);
        using var second = SiloProcess.Start(first.Port);
        await using var client = await BenchHost.StartClient(first.Gateway);
        await Measure(client.Grains, "byte[]", new byte[1000], settings, report);
        await Measure(client.Grains, "dictionary", Enumerable.Range(0, Entries).ToDictionary(static key => key, Text), settings, report);
        await Measure(
            client.Grains, "dictionary of objects", Enumerable.Range(0, Entries).ToDictionary(static key => key, NewItem), settings, report);
    }

    private static string Text(int key) => $"entry {key}";

    private static Item NewItem(int key) => new() { Name = Text(key), Count = key, Places = [key, key + 1, key + 2] };

    private static async Task Measure<T>(IGrainFactory factory, string name, T value, CallSettings settings, Action<Row> report)
    {
        var pairs = await Split<T>(factory);
        var immutable = value.AsImmutable();
        List<double> copied = [], same = [], prices = [];
        for (var run = -1; run < settings.Runs; run++)
        {
            var with = await Rate(pairs, settings.Duration, pair => pair.First.Pass(pair.Second, value));
            var without = await Rate(pairs, settings.Duration, pair => pair.First.PassAsItIs(pair.Second, immutable));
            // The first one compiles the code.
            if (run < 0)
                continue;
            copied.Add(with);
            same.Add(without);
            prices.Add(100 * (1 - (with / without)));
        }

        report(new Row(name + ", copied", "requests/s", Spread.Of(copied), Line: "copied"));
        report(new Row(name + ", immutable", "requests/s", Spread.Of(same), Line: "immutable"));
        report(new Row(name + ", price of the copy", "%", Spread.Of(prices), Line: "price"));
    }

    private static async Task<double> Rate<T>(
        (IPassGrain<T> First, long Second)[] pairs, TimeSpan length, Func<(IPassGrain<T> First, long Second), ValueTask> call)
    {
        var (begin, counted) = (Stopwatch.GetTimestamp(), 0L);
        await Task.WhenAll(pairs.Select(async pair =>
        {
            for (; Stopwatch.GetElapsedTime(begin) < length; Interlocked.Increment(ref counted))
                await call(pair).ConfigureAwait(false);
        }));
        return counted / Stopwatch.GetElapsedTime(begin).TotalSeconds;
    }

    /// <summary>A first grain for each caller; its second one is on the same silo for every other caller.</summary>
    private static async Task<(IPassGrain<T>, long)[]> Split<T>(IGrainFactory factory)
    {
        var places = new List<string>();
        for (var key = 0; key < Callers; key++)
            places.Add(await factory.GetGrain<IPassGrain<T>>(key).Where());
        var pairs = new (IPassGrain<T>, long)[Callers];
        long next = Callers;
        for (var caller = 0; caller < Callers; caller++, next++)
        {
            var isFar = caller % 2 == 0;
            while ((await factory.GetGrain<IPassGrain<T>>(next).Where() != places[caller]) != isFar)
                next++;
            pairs[caller] = (factory.GetGrain<IPassGrain<T>>(caller), next);
        }

        return pairs;
    }
}
