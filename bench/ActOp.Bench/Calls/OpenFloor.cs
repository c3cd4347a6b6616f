using System.Net.Sockets;
using ActOp.Floors;
using ActOp.Harness.Load;

namespace ActOp.Bench.Calls;

/// <summary>
/// The floor of an open loop: frames that are echoed by another process, sent at the times of a Poisson process by one thread, all that are
/// due in one write, and read by another. Latency counts from the intended start. What the machine itself adds to the tail is in it too:
/// a host that interrupts it, and timers.
/// </summary>
internal static class OpenFloor
{
    /// <summary>Frames in flight at most.</summary>
    private const int Starts = 1 << 20;

    /// <summary>Frames of one write at most: more would block both ends in send.</summary>
    private const int MostDue = 4096;

    internal static LatencyHistogram Measure(Socket socket, int frameBytes, double rate, int seed, TimeSpan duration)
    {
        var clock = new MonotonicClock();
        var arrivals = new PoissonArrivals(rate, clock.Now, seed);
        var until = clock.Now + duration;
        var (starts, sending, latency) = (new TimeSpan[Starts], new byte[MostDue * frameBytes], new LatencyHistogram());
        long sent = 0;
        // The number of frames when it is known: the reader ends with the last one.
        var last = long.MaxValue;
        var reader = Task.Factory.StartNew(
            () => Read(socket, frameBytes, clock, starts, latency, ref last), TaskCreationOptions.LongRunning);
        while (arrivals.Next < until)
        {
            clock.WaitUntil(arrivals.Next);
            var (now, due) = (clock.Now, 0);
            for (; arrivals.Next <= now && arrivals.Next < until && due < MostDue; due++, arrivals.Pass())
                starts[sent++ % Starts] = arrivals.Next;
            if (arrivals.Next >= until)
                Volatile.Write(ref last, sent);
            SocketFrames.SendAll(socket, sending.AsSpan(0, due * frameBytes));
        }

        reader.Wait();
        return latency;
    }

    private static void Read(
        Socket socket, int frameBytes, MonotonicClock clock, TimeSpan[] starts, LatencyHistogram latency, ref long last)
    {
        var buffer = new byte[64 * 1024];
        var partial = 0;
        for (long answered = 0; answered < Volatile.Read(ref last);)
        {
            partial += socket.Receive(buffer);
            var now = clock.Now;
            for (; partial >= frameBytes; partial -= frameBytes)
                latency.Record(now - starts[answered++ % Starts]);
        }
    }
}
