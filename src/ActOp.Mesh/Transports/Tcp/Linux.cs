using System.Runtime.InteropServices;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>The few system calls of the hot path, with the constants of Linux on x64 and arm64.</summary>
internal static unsafe partial class Linux
{
    public const int Interrupted = 4;
    public const int Again = 11;
    public const int InProgress = 115;
    public const int ConnectionRefused = 111;

    public const int DescriptorLimit = 7;

    public const int NoSignal = 0x4000;

    public const int CloseOnExec = 0x80000;
    public const int NonBlocking = 0x800;

    public const int Add = 1;
    public const int Remove = 2;

    public const uint In = 0x1;
    public const uint Out = 0x4;
    public const uint Error = 0x8;
    public const uint Hangup = 0x10;
    public const uint ReadHangup = 0x2000;
    public const uint EdgeTriggered = 0x80000000;

    /// <summary>struct epoll_event is packed on x64 only.</summary>
    public static readonly int EventBytes = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 12 : 16;
    public static readonly int EventTokenAt = EventBytes - 8;

    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    public static partial nint Receive(int socket, byte* buffer, nint length, int flags);

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    public static partial nint Send(int socket, byte* buffer, nint length, int flags);

    [LibraryImport("libc", EntryPoint = "connect", SetLastError = true)]
    public static partial int Connect(int socket, byte* address, uint length);

    [LibraryImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    public static partial int EpollCreate(int flags);

    [LibraryImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    public static partial int EpollControl(int epoll, int operation, int descriptor, byte* @event);

    [LibraryImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    public static partial int EpollWait(int epoll, byte* events, int maxEvents, int timeoutMs);

    [LibraryImport("libc", EntryPoint = "sched_yield")]
    public static partial int Yield();

    [LibraryImport("libc", EntryPoint = "eventfd", SetLastError = true)]
    public static partial int EventDescriptor(uint initial, int flags);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    public static partial nint Write(int descriptor, byte* bytes, nint length);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    public static partial nint Read(int descriptor, byte* bytes, nint length);

    [LibraryImport("libc", EntryPoint = "getrlimit", SetLastError = true)]
    public static partial int GetLimit(int resource, ulong* softAndHard);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int descriptor);
}

/// <summary>
/// The last descriptors of the process: one in eight, at most 64, is reserved for uses other than new connections: files, dials, and
/// further links of accepted peers. The upper half of the reserve is not touched by accepted connections at all: the runtime of .NET needs
/// two descriptors to start a thread, and a pool that cannot start one ends the process.
/// </summary>
internal static class Descriptors
{
    private static readonly int All = ReadLimit();
    private static readonly int Reserve = Math.Min(64, All / 8);

    /// <summary>
    /// Whether the descriptor is of the reserve. The system gives the lowest free number: a high number means that few are left.
    /// </summary>
    public static bool TakesReserve(int descriptor) => descriptor >= All - Reserve;

    /// <summary>Whether no further connection may be accepted now. Costs two system calls.</summary>
    public static bool AreScarce()
    {
        var lowest = Linux.EventDescriptor(0, Linux.CloseOnExec);
        if (lowest < 0)
            return true;
        _ = Linux.Close(lowest);
        return lowest >= All - Reserve / 2;
    }

    private static unsafe int ReadLimit()
    {
        var limits = stackalloc ulong[2];
        return Linux.GetLimit(Linux.DescriptorLimit, limits) == 0 ? (int)Math.Min(limits[0], int.MaxValue) : int.MaxValue;
    }
}
