using System.Net;
using System.Net.Sockets;

namespace ActOp.Harness.Processes;

/// <summary>Finds free ports on loopback.</summary>
/// <remarks>
/// Whoever is given a port binds it only later, perhaps in another process that still has to start. So the ports are none of those that the
/// system chooses itself for connections and listeners, and none that another process of this kind gives away: each process has a range,
/// by the lock of a file that the system takes back with the process. Without a range it takes what the system chooses. Any thread.
/// </remarks>
public static class Ports
{
    private const int First = 12_000;
    private const int RangeSize = 400;
    private const int Ranges = 25;

    private static readonly Lock Gate = new();
    private static FileStream? s_lock;
    private static int s_range = -1;
    private static int s_next;
    private static (int First, int Count)? s_only;

    /// <summary>From now on, ports are those of a range: two numbers with a hyphen, of which both belong to it.</summary>
    /// <exception cref="FormatException">That is no range.</exception>
    public static void Restrict(string range)
    {
        var bounds = range.Split('-');
        if (bounds.Length != 2 || !ushort.TryParse(bounds[0], out var first) || !ushort.TryParse(bounds[1], out var last)
            || first == 0 || last < first)
        {
            throw new FormatException("Ports are a range like 20000-20100, not " + range + ".");
        }

        lock (Gate)
            s_only = (first, last - first + 1);
    }

    /// <summary><paramref name="count"/> distinct ports that were free just now.</summary>
    public static int[] FindFree(int count)
    {
        var listeners = new List<TcpListener>();
        try
        {
            lock (Gate)
            {
                var (first, size) = s_only ?? OwnRange();
                for (var tries = 0; tries < size && listeners.Count < count; tries++)
                {
                    if (TryListen(first + (s_next++ % size)) is { } listener)
                        listeners.Add(listener);
                }

                if (s_only is not null && listeners.Count < count)
                    throw new InvalidOperationException($"Of {size} ports from {first} on, {count} are not free.");
            }

            while (listeners.Count < count)
                listeners.Add(TryListen(0)!);
            return [.. listeners.Select(static listener => ((IPEndPoint)listener.LocalEndpoint).Port)];
        }
        finally
        {
            foreach (var listener in listeners)
                listener.Dispose();
        }
    }

    /// <summary>The range of this process; no ports if there is none.</summary>
    private static (int First, int Count) OwnRange()
    {
        if (s_range < 0)
            s_range = TakeRange();
        return s_range < Ranges ? (First + (s_range * RangeSize), RangeSize) : (0, 0);
    }

    /// <summary>The first range that no other process has; <see cref="Ranges"/> if there is none.</summary>
    private static int TakeRange()
    {
        for (var range = 0; range < Ranges; range++)
        {
            try
            {
                var path = Path.Combine(Path.GetTempPath(), "actop-ports-" + range);
                s_lock = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None, bufferSize: 1);
                return range;
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
            {
                // Another process has it, or another user has made the file.
            }
        }

        return Ranges;
    }

    private static TcpListener? TryListen(int port)
    {
        var listener = new TcpListener(IPAddress.Loopback, port);
        try
        {
            listener.Start();
            return listener;
        }
        catch (SocketException) when (port != 0)
        {
            listener.Dispose();
            return null;
        }
    }
}
