using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

namespace ActOp.Floors;

/// <summary>Which of the first 64 cores this process may use, restored when disposed.</summary>
public sealed partial class Affinity : IDisposable
{
    private readonly nint? _before;

    private Affinity(nint? before) => _before = before;

    /// <summary>Leaves the process as it is.</summary>
    public static Affinity Unchanged() => new(null);

    /// <summary>Pins all threads of the process to the first core that it may use.</summary>
    /// <exception cref="PlatformNotSupportedException">Neither Linux nor Windows.</exception>
    public static Affinity OneCore()
    {
        nint before = Read();
        Write(before & -before);
        return new Affinity(before);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_before is { } before)
            Write(before);
    }

    private static nint Read()
    {
        using Process self = Process.GetCurrentProcess();
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
            return self.ProcessorAffinity;
        throw new PlatformNotSupportedException("Pinning to a core needs Linux or Windows.");
    }

    // On Linux the affinity of a "process" is that of its first thread only, so every thread is set. Threads made later inherit it.
    private static void Write(nint mask)
    {
        if (OperatingSystem.IsWindows())
        {
            using Process self = Process.GetCurrentProcess();
            self.ProcessorAffinity = mask;
            return;
        }
        foreach (string task in Directory.EnumerateDirectories("/proc/self/task"))
            _ = SetAffinity(int.Parse(Path.GetFileName(task), CultureInfo.InvariantCulture), sizeof(ulong), (ulong)mask);
    }

    [LibraryImport("libc", EntryPoint = "sched_setaffinity")]
    private static partial int SetAffinity(int thread, nint size, in ulong mask);
}
