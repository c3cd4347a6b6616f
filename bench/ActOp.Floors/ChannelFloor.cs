using System.Diagnostics;
using System.Threading.Channels;

namespace ActOp.Floors;

/// <summary>The floor of a local call: two tasks that ping-pong over a pair of channels on the thread pool.</summary>
public static class ChannelFloor
{
    // The clock is read once per batch, so that reading it does not count.
    private const int Batch = 256;

    /// <summary>Measures round trips per second.</summary>
    /// <param name="pairs">Pairs of tasks at the same time.</param>
    /// <param name="oneCore">Pins the whole process to one core meanwhile (Linux and Windows).</param>
    /// <param name="runs">Runs after one warm-up.</param>
    /// <param name="duration">Length of one run.</param>
    public static async Task<ChannelResult> MeasureAsync(int pairs, bool oneCore, int runs, TimeSpan duration)
    {
        using Affinity affinity = oneCore ? Affinity.OneCore() : Affinity.Unchanged();
        await RunAsync(pairs, duration / 2).ConfigureAwait(false);
        var rates = new double[runs];
        for (int i = 0; i < runs; i++)
            rates[i] = await RunAsync(pairs, duration).ConfigureAwait(false);
        return new ChannelResult(pairs, oneCore, Spread.Of(rates));
    }

    private static async Task<double> RunAsync(int pairs, TimeSpan duration)
    {
        long start = Stopwatch.GetTimestamp();
        var counts = new Task<long>[pairs];
        for (int i = 0; i < pairs; i++)
        {
            Channel<int> to = Create();
            Channel<int> from = Create();
            _ = Task.Run(() => EchoAsync(to.Reader, from.Writer));
            counts[i] = Task.Run(() => AskAsync(to.Writer, from.Reader, start, duration));
        }
        long sum = (await Task.WhenAll(counts).ConfigureAwait(false)).Sum();
        return sum / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }

    private static Channel<int> Create() =>
        Channel.CreateBounded<int>(new BoundedChannelOptions(16) { SingleReader = true, SingleWriter = true });

    private static async Task<long> AskAsync(ChannelWriter<int> to, ChannelReader<int> from, long start, TimeSpan duration)
    {
        long count = 0;
        while (Stopwatch.GetElapsedTime(start) < duration)
        {
            for (int i = 0; i < Batch; i++)
            {
                await to.WriteAsync(i).ConfigureAwait(false);
                await from.ReadAsync().ConfigureAwait(false);
            }
            count += Batch;
        }
        to.Complete();
        return count;
    }

    private static async Task EchoAsync(ChannelReader<int> from, ChannelWriter<int> to)
    {
        while (await from.WaitToReadAsync().ConfigureAwait(false))
        {
            while (from.TryRead(out int value))
                await to.WriteAsync(value).ConfigureAwait(false);
        }
    }
}
