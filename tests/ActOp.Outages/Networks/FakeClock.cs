using System.Globalization;

namespace ActOp.Outages.Networks;

/// <summary>
/// The wall clock of one process, which libfaketime (Debian package libfaketime) reads from a file once a second. Namespaces of time cover
/// the monotonic clock only, and that one must stay as it is: with it the runs compare processes.
/// </summary>
internal sealed class FakeClock
{
    private static readonly string[] Places =
        ["/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
            "/usr/lib64/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1"];

    private readonly string _file;

    /// <summary>A clock that is right.</summary>
    internal FakeClock(string file)
    {
        _file = file;
        Set(0);
    }

    /// <summary>The library, from ACTOP_FAKETIME or the usual place; null if there is none.</summary>
    internal static string? Library { get; } =
        Environment.GetEnvironmentVariable("ACTOP_FAKETIME") ?? Array.Find(Places, File.Exists);

    /// <summary>The time until all processes have read a change.</summary>
    internal static readonly TimeSpan Delay = TimeSpan.FromSeconds(1);

    /// <summary>The beginning of the command of a process that has this clock.</summary>
    internal string[] Command => Library is null ? []
        : ["env", "LD_PRELOAD=" + Library, "FAKETIME_TIMESTAMP_FILE=" + _file, "FAKETIME_CACHE_DURATION=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"];

    /// <summary>Sets the clock so many seconds before or behind the time of the machine.</summary>
    internal void Set(long seconds)
    {
        // Replaced in one step: a reader finds the old text or the new one.
        File.WriteAllText(_file + ".new", seconds.ToString("+0;-0;+0", CultureInfo.InvariantCulture));
        File.Move(_file + ".new", _file, overwrite: true);
    }

    /// <summary>Removes what the library leaves in shared memory when its process is killed.</summary>
    internal static void RemoveLeftovers(DateTime since)
    {
        foreach (var file in Directory.EnumerateFiles("/dev/shm", "*faketime_s*"))
        {
            if (File.GetCreationTimeUtc(file) >= since && !Directory.Exists("/proc/" + file[(file.LastIndexOf('_') + 1)..]))
                File.Delete(file);
        }
    }
}
