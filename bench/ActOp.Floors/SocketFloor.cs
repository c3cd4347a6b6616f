using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using ActOp.Harness.Processes;

namespace ActOp.Floors;

/// <summary>
/// The floor of a remote call: equal frames echoed between two processes over loopback with blocking sockets. A window of frames is
/// kept in flight; as many frames go into one send as replies have come in one receive (natural batching).
/// </summary>
public static class SocketFloor
{
    private const int MaxTimes = 1_000_000;

    /// <summary>The hidden argument that makes this program the echoing process.</summary>
    public const string ServerCommand = "echo-server";

    /// <summary>Measures throughput and median time there and back.</summary>
    /// <param name="frameSize">Bytes of one frame, 1 to 65536.</param>
    /// <param name="window">Frames in flight.</param>
    /// <param name="runs">Runs after one warm-up.</param>
    /// <param name="duration">Length of one run.</param>
    public static SocketResult Measure(int frameSize, int window, int runs, TimeSpan duration)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(frameSize);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(frameSize, 65536);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(window);
        // More in flight than the kernel and the echo buffer hold would block both ends in send.
        ArgumentOutOfRangeException.ThrowIfGreaterThan((long)frameSize * window, 4 << 20);
        return MeasureAsync(frameSize, window, runs, duration).GetAwaiter().GetResult();
    }

    private static async Task<SocketResult> MeasureAsync(int frameSize, int window, int runs, TimeSpan duration)
    {
        await using var connection = await EchoConnection.OpenAsync(frameSize).ConfigureAwait(false);
        return Measure(connection.Socket, frameSize, window, runs, duration);
    }

    private static SocketResult Measure(Socket socket, int frameSize, int window, int runs, TimeSpan duration)
    {
        var times = new long[MaxTimes];
        Run(socket, frameSize, window, duration / 2, times);
        var rates = new double[runs];
        var medians = new double[runs];
        for (var i = 0; i < runs; i++)
            (rates[i], medians[i]) = Run(socket, frameSize, window, duration, times);
        return new SocketResult(frameSize, window, Spread.Of(rates), Spread.Of(medians));
    }

    // The clock is read once per send and once per receive; all frames of one send share their start.
    private static (double Rate, double Median) Run(Socket socket, int frameSize, int window, TimeSpan duration, long[] times)
    {
        var sending = new byte[frameSize * window];
        var receiving = new byte[Math.Max(frameSize * window, 64 * 1024)];
        var starts = new long[window];
        long sent = 0;
        long answered = 0;
        var partial = 0;
        var begin = Stopwatch.GetTimestamp();
        var end = begin + (long)(duration.TotalSeconds * Stopwatch.Frequency);
        Send(window, begin);
        var now = begin;
        while (answered < sent)
        {
            var received = socket.Receive(receiving);
            if (received == 0)
                throw new InvalidOperationException("The echoing process closed the connection.");
            now = Stopwatch.GetTimestamp();
            partial += received;
            var frames = partial / frameSize;
            partial -= frames * frameSize;
            for (var i = 0; i < frames; i++, answered++)
                times[answered % times.Length] = now - starts[answered % window];
            if (now < end && frames > 0)
                Send(frames, now);
        }
        var measured = times.AsSpan(0, (int)Math.Min(answered, times.Length));
        measured.Sort();
        return (answered / Stopwatch.GetElapsedTime(begin, now).TotalSeconds, measured[measured.Length / 2] * 1e6 / Stopwatch.Frequency);

        void Send(int frames, long at)
        {
            for (var i = 0; i < frames; i++, sent++)
                starts[sent % window] = at;
            SocketFrames.SendAll(socket, sending.AsSpan(0, frames * frameSize));
        }
    }
}

/// <summary>The other process: accepts one connection and sends back whole frames, as many at once as have come.</summary>
public static class EchoServer
{
    private const int BufferSize = 256 * 1024;

    /// <summary>Prints its port on standard output, echoes until the connection ends.</summary>
    public static void Run(int frameSize)
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        Console.Out.WriteLine(((IPEndPoint)listener.LocalEndPoint!).Port);
        Console.Out.Flush();
        // When the parent goes away, nobody will connect any more.
        ParentWatch.Start().Register(static () => Environment.Exit(0));
        using var socket = listener.Accept();
        socket.NoDelay = true;
        Echo(socket, frameSize);
    }

    private static void Echo(Socket socket, int frameSize)
    {
        var buffer = new byte[Math.Max(BufferSize, 2 * frameSize)];
        var held = 0;
        int received;
        while ((received = socket.Receive(buffer, held, buffer.Length - held, SocketFlags.None)) > 0)
        {
            held += received;
            var whole = held - held % frameSize;
            SocketFrames.SendAll(socket, buffer.AsSpan(0, whole));
            buffer.AsSpan(whole, held - whole).CopyTo(buffer);
            held -= whole;
        }
    }
}

/// <summary>What a bare pipelined socket echo between two processes does.</summary>
/// <param name="FrameSize">Bytes of one frame.</param>
/// <param name="Window">Frames in flight.</param>
/// <param name="EchoesPerSecond">Frames there and back per second, over the runs.</param>
/// <param name="MedianMicroseconds">Median time there and back, over the runs.</param>
public sealed record SocketResult(int FrameSize, int Window, Spread EchoesPerSecond, Spread MedianMicroseconds);

/// <summary>Blocking sends of whole buffers.</summary>
public static class SocketFrames
{
    /// <summary>Sends every byte.</summary>
    public static void SendAll(Socket socket, ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
            bytes = bytes[socket.Send(bytes)..];
    }
}

/// <summary>Several runs of one measurement.</summary>
/// <param name="Min">The smallest.</param>
/// <param name="Median">The median.</param>
/// <param name="Max">The largest.</param>
public readonly record struct Spread(double Min, double Median, double Max)
{
    /// <summary>The spread of <paramref name="values"/>, at least one.</summary>
    public static Spread Of(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        return new Spread(sorted[0], sorted[sorted.Length / 2], sorted[^1]);
    }
}
