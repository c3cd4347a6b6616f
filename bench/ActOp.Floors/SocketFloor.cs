using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;

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
    /// <param name="serverAssembly">Path of ActOp.Floors.dll, which runs the other process; this program when null.</param>
    public static SocketResult Measure(int frameSize, int window, int runs, TimeSpan duration, string? serverAssembly = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(frameSize);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(frameSize, 65536);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(window);
        // More in flight than the kernel and the echo buffer hold would block both ends in send.
        ArgumentOutOfRangeException.ThrowIfGreaterThan((long)frameSize * window, 4 << 20);
        using Process server = StartServer(frameSize, serverAssembly ?? typeof(SocketFloor).Assembly.Location);
        try
        {
            int port = int.Parse(server.StandardOutput.ReadLine() ?? throw new InvalidOperationException("The echoing process did not start."), CultureInfo.InvariantCulture);
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 10_000, SendTimeout = 10_000 };
            socket.Connect(new IPEndPoint(IPAddress.Loopback, port));
            return Measure(socket, frameSize, window, runs, duration);
        }
        finally
        {
            server.StandardInput.Close();
            if (!server.WaitForExit(5000))
                server.Kill();
        }
    }

    private static SocketResult Measure(Socket socket, int frameSize, int window, int runs, TimeSpan duration)
    {
        var times = new long[MaxTimes];
        Run(socket, frameSize, window, duration / 2, times);
        var rates = new double[runs];
        var medians = new double[runs];
        for (int i = 0; i < runs; i++)
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
        int partial = 0;
        long begin = Stopwatch.GetTimestamp();
        long end = begin + (long)(duration.TotalSeconds * Stopwatch.Frequency);
        Send(window, begin);
        long now = begin;
        while (answered < sent)
        {
            int received = socket.Receive(receiving);
            if (received == 0)
                throw new InvalidOperationException("The echoing process closed the connection.");
            now = Stopwatch.GetTimestamp();
            partial += received;
            int frames = partial / frameSize;
            partial -= frames * frameSize;
            for (int i = 0; i < frames; i++, answered++)
                times[answered % times.Length] = now - starts[answered % window];
            if (now < end && frames > 0)
                Send(frames, now);
        }
        Span<long> measured = times.AsSpan(0, (int)Math.Min(answered, times.Length));
        measured.Sort();
        return (answered / Stopwatch.GetElapsedTime(begin, now).TotalSeconds, measured[measured.Length / 2] * 1e6 / Stopwatch.Frequency);

        void Send(int frames, long at)
        {
            for (int i = 0; i < frames; i++, sent++)
                starts[sent % window] = at;
            SocketFrames.SendAll(socket, sending.AsSpan(0, frames * frameSize));
        }
    }

    private static Process StartServer(int frameSize, string assembly)
    {
        string host = Path.GetFileNameWithoutExtension(Environment.ProcessPath!) == "dotnet" ? Environment.ProcessPath! : "dotnet";
        var start = new ProcessStartInfo(host) { RedirectStandardInput = true, RedirectStandardOutput = true, UseShellExecute = false };
        start.ArgumentList.Add(assembly);
        start.ArgumentList.Add(ServerCommand);
        start.ArgumentList.Add("--frame");
        start.ArgumentList.Add(frameSize.ToString(CultureInfo.InvariantCulture));
        return Process.Start(start) ?? throw new InvalidOperationException("The echoing process could not be started.");
    }
}
