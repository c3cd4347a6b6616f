using System.ComponentModel;
using System.Runtime.InteropServices;
using ActOp.Harness.Load;

namespace ActOp.Outages.Networks;

/// <summary>
/// The network between namespaces: each has a TUN device whose packets this object reads, and passes on, late or never, as the
/// <see cref="Cables"/> say. So it needs of the kernel neither a packet filter nor netem, and the devices go with the process.
/// </summary>
/// <remarks>Owns the devices and one thread, which does all; the cables are changed under the lock. Any thread.</remarks>
internal sealed partial class Switch : IDisposable
{
    private const string Device = "tun0";
    private const int Mtu = 1400;
    private const int MostWaiting = 50_000;
    private const int LongestWait = 50;

    private readonly MonotonicClock _clock = new();
    private readonly Lock _lock = new();
    private readonly PriorityQueue<(int To, byte[] Packet), (TimeSpan At, long Number)> _waiting = new();
    private readonly int[] _devices;
    private readonly PollItem[] _items;
    private readonly Cables _cables;
    private readonly Thread _thread;
    private volatile bool _ended;
    private volatile Exception? _failure;
    private long _number;

    private Switch(int[] devices, int seed)
    {
        _devices = devices;
        _items = [.. devices.Select(static device => new PollItem { File = device, Events = PollIn })];
        _cables = new Cables(devices.Length, seed);
        _thread = new Thread(Run) { IsBackground = true, Name = "switch" };
        _thread.Start();
    }

    /// <summary>The network of the addresses.</summary>
    internal const string Network = "10.213.0.0/24";

    /// <summary>What ended the thread; null while all is well.</summary>
    internal Exception? Failure => _failure;

    /// <summary>The address of a port.</summary>
    internal static string AddressOf(int port) => "10.213.0." + (FirstHost + port).ToString(System.Globalization.CultureInfo.InvariantCulture);

    private const int FirstHost = 10;

    /// <summary>Gives each namespace a device with the address of its place in the list.</summary>
    internal static async Task<Switch> ConnectAsync(IReadOnlyList<string> namespaces, int seed)
    {
        var devices = new List<int>();
        try
        {
            foreach (var name in namespaces)
            {
                devices.Add(OpenIn(name));
                await Namespaces.IpAsync("-n", name, "addr", "add", AddressOf(devices.Count - 1) + "/24", "dev", Device).ConfigureAwait(false);
                await Namespaces.IpAsync("-n", name, "link", "set", Device, "mtu", Mtu.ToString(), "up").ConfigureAwait(false);
            }

            return new Switch([.. devices], seed);
        }
        catch
        {
            devices.ForEach(static device => _ = Close(device));
            throw;
        }
    }

    /// <summary>Changes the cables.</summary>
    internal void Change(Action<Cables> change)
    {
        lock (_lock)
            change(_cables);
    }

    /// <summary>Packets that were passed on, and that were lost.</summary>
    internal (long Passed, long Lost) Count()
    {
        lock (_lock)
            return (_cables.Passed, _cables.Lost);
    }

    public void Dispose()
    {
        _ended = true;
        _thread.Join();
        foreach (var device in _devices)
            _ = Close(device);
    }

    private void Run()
    {
        try
        {
            var buffer = new byte[Mtu + 100];
            while (!_ended)
            {
                if (Poll(_items, (nuint)_items.Length, Deliver()) < 0 && Marshal.GetLastPInvokeError() != Interrupted)
                    throw new Win32Exception(Marshal.GetLastPInvokeError());
                for (var port = 0; port < _items.Length; port++)
                {
                    if (_items[port].Returned != 0)
                        TakeFrom(port, buffer);
                }
            }
        }
        catch (Exception failure)
        {
            _failure = failure;
        }
    }

    /// <summary>Delivers what is due; returns how long the next packet has to wait, in milliseconds.</summary>
    private int Deliver()
    {
        while (_waiting.TryPeek(out var first, out var due))
        {
            var left = due.At - _clock.Now;
            if (left > TimeSpan.Zero)
                return (int)Math.Min(Math.Ceiling(left.TotalMilliseconds), LongestWait);
            _waiting.Dequeue();
            // A device that is full or down loses packets, as real ones do.
            _ = Write(_devices[first.To], first.Packet, first.Packet.Length);
        }

        return LongestWait;
    }

    private void TakeFrom(int port, byte[] buffer)
    {
        while (Read(_devices[port], buffer, buffer.Length) is > 0 and var length)
        {
            var to = PortOf(buffer.AsSpan(0, (int)length));
            if (to < 0)
                continue;
            TimeSpan? arrival;
            var now = _clock.Now;
            lock (_lock)
                arrival = _cables.Arrival(port, to, (int)length, now);
            if (arrival is not { } at)
                continue;
            if (at <= now)
                _ = Write(_devices[to], buffer, (int)length);
            else if (_waiting.Count < MostWaiting)
                _waiting.Enqueue((to, buffer[..(int)length]), (at, ++_number));
        }
    }

    /// <summary>The port that an IPv4 packet is for; negative for others.</summary>
    private int PortOf(ReadOnlySpan<byte> packet)
    {
        if (packet.Length < 20 || packet[0] >> 4 != 4)
            return -1;
        var port = packet[19] - FirstHost;
        return packet[16] == 10 && packet[17] == 213 && packet[18] == 0 && port >= 0 && port < _devices.Length ? port : -1;
    }

    /// <summary>A thread can enter a namespace; this one ends there.</summary>
    private static int OpenIn(string name)
    {
        var device = -1;
        var error = 0;
        var thread = new Thread(() =>
        {
            var space = Open("/run/netns/" + name, 0);
            if (space < 0 || SetNamespace(space, NewNetwork) != 0)
            {
                error = Marshal.GetLastPInvokeError();
                return;
            }

            _ = Close(space);
            var file = Open("/dev/net/tun", ReadWrite | NonBlocking | CloseOnExec);
            // struct ifreq: the name, then the flags.
            var request = new byte[40];
            System.Text.Encoding.ASCII.GetBytes(Device, request);
            BitConverter.TryWriteBytes(request.AsSpan(16), (short)(Tun | NoPacketHeader));
            if (file < 0 || Control(file, SetInterface, request) != 0)
                error = Marshal.GetLastPInvokeError();
            else
                device = file;
        });
        thread.Start();
        thread.Join();
        return device >= 0 ? device
            : throw new InvalidOperationException($"No TUN device in {name}: {Marshal.GetPInvokeErrorMessage(error)}");
    }

    private const int ReadWrite = 2;
    private const int NonBlocking = 0x800;
    private const int CloseOnExec = 0x80000;
    private const int NewNetwork = 0x40000000;
    private const int Tun = 1;
    private const int NoPacketHeader = 0x1000;
    private const nuint SetInterface = 0x400454CA;
    private const short PollIn = 1;
    private const int Interrupted = 4;

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "close")]
    private static partial int Close(int file);

    [LibraryImport("libc", EntryPoint = "setns", SetLastError = true)]
    private static partial int SetNamespace(int file, int type);

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    private static partial int Control(int file, nuint request, byte[] argument);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    private static partial nint Read(int file, [Out] byte[] buffer, nint length);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    private static partial nint Write(int file, byte[] buffer, nint length);

    [LibraryImport("libc", EntryPoint = "poll", SetLastError = true)]
    private static partial int Poll([In, Out] PollItem[] items, nuint count, int milliseconds);

    private struct PollItem
    {
        public int File;
        public short Events;
        public short Returned;
    }
}
