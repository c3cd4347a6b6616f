using System.Diagnostics;
using ActOp.Bench.Calls;
using ActOp.Bench.Hosting;
using ActOp.Channels;
using ActOp.Floors;
using ActOp.Harness.Processes;

namespace ActOp.Bench.Fanout;

/// <summary>A grain of the experiment that is called with many others.</summary>
public interface IMember : IGrainWithIntegerKey
{
    /// <summary>Answers when it has heard.</summary>
    Task Hear(string text);
}

/// <summary>Calls the members, and returns how long it took until all had answered, in ticks of the stopwatch.</summary>
public interface ITeller : IGrainWithIntegerKey
{
    /// <summary>By one broadcast.</summary>
    Task<long> Broadcast(int members, string text);

    /// <summary>By one call for each.</summary>
    Task<long> Call(int members, string text);
}

/// <summary>See <see cref="IMember"/>.</summary>
internal sealed class MemberGrain : Grain, IMember
{
    public Task Hear(string text) => Task.CompletedTask;
}

/// <summary>See <see cref="ITeller"/>.</summary>
internal sealed class TellerGrain : Grain, ITeller
{
    public async Task<long> Broadcast(int members, string text)
    {
        var began = Stopwatch.GetTimestamp();
        await GrainFactory.Broadcast<IMember>(Keys(members), member => member.Hear(text));
        return Stopwatch.GetTimestamp() - began;
    }

    public async Task<long> Call(int members, string text)
    {
        var began = Stopwatch.GetTimestamp();
        await Task.WhenAll(Keys(members).Select(key => GrainFactory.GetGrain<IMember>(key).Hear(text)));
        return Stopwatch.GetTimestamp() - began;
    }

    private static IEnumerable<long> Keys(int members) => Enumerable.Range(0, members).Select(static number => (long)number);
}

/// <summary>One call of many grains on silos in processes of their own, beside a call for each.</summary>
internal static class BroadcastRun
{
    private const int Batch = 4_000;

    /// <summary>Pairs that are not measured: they compile the code. Both kinds take turns.</summary>
    private const int WarmUp = 10;

    internal static async Task Measure(BenchHost desk, IReadOnlyList<SiloAddress> silos, List<SiloProcess> others, int members, int runs)
    {
        var teller = desk.Grains.GetGrain<ITeller>(0);
        await FanoutCommand.At(desk.Node.Address, () => teller.Call(0, ""));
        for (var first = 0; first < members; first += Batch)
        {
            var keys = Enumerable.Range(first, Math.Min(Batch, members - first));
            await FanoutCommand.At(silos[first / Batch % silos.Count], () =>
                Task.WhenAll(keys.Select(key => desk.Grains.GetGrain<IMember>(key).Hear(""))));
        }

        var (broadcast, single) = (new Samples(), new Samples());
        for (var run = 0; run < runs + WarmUp; run++)
        {
            await MeasureAsync(broadcast, run >= WarmUp, text => teller.Broadcast(members, text));
            await MeasureAsync(single, run >= WarmUp, text => teller.Call(members, text));
        }

        broadcast.Write("a broadcast");
        single.Write("single calls");

        async Task MeasureAsync(Samples to, bool counts, Func<string, Task<long>> tell)
        {
            var (sent, size, used) = (desk.Node.Peers.Mesh.FramesSent, desk.Node.Peers.Mesh.BytesSent, FanoutCommand.Cpu(others));
            var took = await tell("the news of the hour");
            if (!counts)
                return;
            to.Times.Add(Stopwatch.GetElapsedTime(0, took).TotalMilliseconds);
            to.Frames.Add(desk.Node.Peers.Mesh.FramesSent - sent);
            to.Bytes.Add(desk.Node.Peers.Mesh.BytesSent - size);
            to.Cpu.Add((FanoutCommand.Cpu(others) - used).TotalMilliseconds);
        }
    }

    private sealed class Samples
    {
        internal List<double> Times { get; } = [];

        internal List<double> Frames { get; } = [];

        internal List<double> Bytes { get; } = [];

        internal List<double> Cpu { get; } = [];

        internal void Write(string name)
        {
            Console.WriteLine(new Row(name + ", until all have answered", "ms", Spread.Of([.. Times])));
            Console.WriteLine(new Row(name + ", frames of the sender", "", Spread.Of([.. Frames])));
            Console.WriteLine(new Row(name + ", bytes of the sender", "B", Spread.Of([.. Bytes])));
            Console.WriteLine(new Row(name + ", processor time", "ms", Spread.Of([.. Cpu])));
        }
    }
}
