using System.CommandLine;
using System.Diagnostics;
using ActOp.Bench.Calls;
using ActOp.Bench.Hosting;
using ActOp.Floors;
using ActOp.Harness.Processes;
using Orleans.Runtime.Placement;

namespace ActOp.Bench.Fanout;

/// <summary>One message to many observers, over silos in processes of their own, or over one client.</summary>
internal static class FanoutCommand
{
    private const int Batch = 4_000;
    private const double MostMilliseconds = 300;
    private const int MostBytes = 100;

    internal static Command Build()
    {
        var observers = new Option<int>("--observers") { Description = "Observers of all nodes.", DefaultValueFactory = _ => 1_000_000 };
        var silos = new Option<int>("--silos")
        {
            Description = "Silos that have them, beside that of the sender.",
            DefaultValueFactory = _ => 4,
        };
        var grains = new Option<int>("--grains") { Description = "Calls so many grains by a broadcast instead, beside single calls." };
        var client = new Option<bool>("--client") { Description = "One client has them instead of the silos." };
        var runs = new Option<int>("--runs") { Description = "Messages that are measured.", DefaultValueFactory = _ => 3 };
        var bars = new Option<bool>("--ignore-bars") { Description = "Succeed when a bar is missed too." };
        var command = new Command("fanout", "One message to many observers: how long until the last has heard it, and in how many frames.")
        {
            observers, grains, silos, client, runs, bars,
        };
        command.SetAction(async (parsed, _) =>
        {
            var (count, hosts) = (parsed.GetValue(observers), parsed.GetValue(silos));
            if (count is < 1 or > 10_000_000 || hosts is < 0 or > 16 || parsed.GetValue(runs) is < 1 or > 100
                || parsed.GetValue(grains) is < 0 or > 1_000_000)
            {
                Console.Error.WriteLine("--observers must be 1 to 10000000, --grains 1 to 1000000, --silos 1 to 16, --runs 1 to 100.");
                return 2;
            }

            return await Run(count, parsed.GetValue(grains), hosts, parsed.GetValue(client), parsed.GetValue(runs))
                || parsed.GetValue(bars) ? 0 : 1;
        });
        return command;
    }

    /// <summary>True if no bar was missed. Frames are those of this process, whose few others are not told apart.</summary>
    private static async Task<bool> Run(int observers, int grains, int silos, bool isOnClient, int runs)
    {
        var ports = Ports.FindFree(2);
        await using var desk = await BenchHost.StartSilo(ports[0], ports[1], null, locality: false);
        var others = new List<SiloProcess>();
        try
        {
            for (var index = 0; index < silos; index++)
                others.Add(SiloProcess.Start(ports[0]));
            if (grains > 0)
            {
                await FindHosts(desk, silos);
                await BroadcastRun.Measure(desk, [.. desk.Node.ClusterView.Active.Where(silo => !silo.Equals(desk.Node.Address))], others,
                    grains, runs);
                return true;
            }

            await using var client = isOnClient ? await BenchHost.StartClient(ports[1]) : null;
            var hosts = isOnClient ? [] : await FindHosts(desk, silos);
            return await Measure(desk, client, hosts, others, observers, runs);
        }
        finally
        {
            others.ForEach(static other => other.Dispose());
        }
    }

    private static async Task<bool> Measure(
        BenchHost desk, BenchHost? client, List<IReaders> hosts, List<SiloProcess> others, int observers, int runs)
    {
        var grain = desk.Grains.GetGrain<IDesk>(0);
        await At(desk.Node.Address, () => grain.Subscribe([]));
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var own = await Subscribe(grain, client, hosts, observers);
        var held = GC.GetTotalMemory(forceFullCollection: true) - before - own;
        await Task.Delay(TimeSpan.FromSeconds(1));
        List<double> times = [], calls = [], frames = [], bytes = [], cpu = [];
        for (var run = 0; run < runs + 2; run++)
        {
            var (sent, size, used) = (desk.Node.Peers.Mesh.FramesSent, desk.Node.Peers.Mesh.BytesSent, Cpu(others));
            var ended = client is null
                ? hosts.ConvertAll(host => host.WaitForAsync(Messages(observers, hosts.Count, run)))
                : [Reader.WaitForAsync((long)observers * (run + 1))];
            var (began, took) = await grain.Tell("the news of the hour");
            var last = (await Task.WhenAll(ended)).Max();
            // The first ones compile the code.
            if (run < 2)
                continue;
            times.Add(Stopwatch.GetElapsedTime(began, last).TotalMilliseconds);
            calls.Add(Stopwatch.GetElapsedTime(0, took).TotalMilliseconds);
            frames.Add(desk.Node.Peers.Mesh.FramesSent - sent);
            bytes.Add(desk.Node.Peers.Mesh.BytesSent - size);
            cpu.Add((Cpu(others) - used).TotalMilliseconds);
        }

        var time = Spread.Of([.. times]);
        Row[] rows =
        [
            new("until the last observer has heard", "ms", time, null, "at most " + MostMilliseconds, time.Median <= MostMilliseconds),
            new("the notification, at the sender", "ms", Spread.Of([.. calls])),
            new("frames of the sender, with others", "", Spread.Of([.. frames])),
            new("bytes of the sender", "B", Spread.Of([.. bytes])),
            new("processor time of all processes", "ms", Spread.Of([.. cpu])),
            new("held for a subscription", "B", Spread.Of([(double)held / observers]), null, "at most " + MostBytes,
                held <= (long)MostBytes * observers),
        ];
        foreach (var row in rows)
            Console.WriteLine(row);
        return Array.TrueForAll(rows, static row => row.Met != false);
    }

    /// <summary>One grain on each silo, when all have joined.</summary>
    private static async Task<List<IReaders>> FindHosts(BenchHost desk, int silos)
    {
        var found = new List<IReaders>();
        while (desk.Node.ClusterView.Active.Length < silos + 1)
            await Task.Delay(TimeSpan.FromMilliseconds(100));
        foreach (var silo in desk.Node.ClusterView.Active.Where(silo => !silo.Equals(desk.Node.Address)).Take(silos))
        {
            var host = desk.Grains.GetGrain<IReaders>(found.Count);
            await At(silo, () => host.Make(0));
            found.Add(host);
        }

        return found;
    }

    /// <summary>Returns the bytes that the observers of this process itself take, which are no part of the subscriptions.</summary>
    private static async Task<long> Subscribe(IDesk desk, BenchHost? client, List<IReaders> hosts, int observers)
    {
        long own = 0;
        for (var host = 0; host < Math.Max(1, hosts.Count); host++)
        {
            var count = client is null ? (int)Messages(observers, hosts.Count, 0, host) : observers;
            for (var made = 0; made < count; made += Batch)
            {
                var size = Math.Min(Batch, count - made);
                List<IReader> readers;
                if (client is null)
                {
                    readers = await hosts[host].Make(size);
                }
                else
                {
                    readers = [];
                    for (var index = 0; index < size; index++)
                        readers.Add(client.Grains.CreateObjectReference<IReader>(Reader.New()));
                }

                // Through the node that has them: references of a node in this process would else be its own.
                await (client is null ? desk : client.Grains.GetGrain<IDesk>(0)).Subscribe(readers);
            }
        }

        return own;
    }

    private static long Messages(int observers, int hosts, int run, int host = 0) => (observers / hosts) * (run + 1L);

    internal static TimeSpan Cpu(List<SiloProcess> others) =>
        others.Aggregate(Process.GetCurrentProcess().TotalProcessorTime, static (sum, other) => sum + other.Cpu);

    /// <summary>New grains of the call begin on the silo.</summary>
    internal static async Task At(SiloAddress silo, Func<Task> call)
    {
        RequestContext.Set(IPlacementDirector.PlacementHintKey, silo);
        await call();
        RequestContext.Remove(IPlacementDirector.PlacementHintKey);
    }
}
