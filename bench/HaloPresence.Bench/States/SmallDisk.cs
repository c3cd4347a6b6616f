using System.Diagnostics;
using System.Globalization;

namespace HaloPresence.Bench.States;

/// <summary>
/// A disk that can be full: a file system in memory with a limit, which needs the right to mount. Without it, a plain folder that is never
/// full. One caller at a time.
/// </summary>
public sealed class SmallDisk : IAsyncDisposable
{
    private readonly string _filler;

    private SmallDisk(string folder, bool isLimited)
    {
        Folder = folder;
        IsLimited = isLimited;
        _filler = Path.Combine(folder, "filler");
    }

    /// <summary>The folder.</summary>
    public string Folder { get; }

    /// <summary>Whether <see cref="Fill"/> has an effect.</summary>
    public bool IsLimited { get; }

    /// <summary>Makes one.</summary>
    public static async Task<SmallDisk> CreateAsync(int megabytes)
    {
        var folder = Directory.CreateTempSubdirectory("halo-disk-").FullName;
        var size = string.Create(CultureInfo.InvariantCulture, $"size={megabytes}m,mode=755");
        var isMounted = OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess
            && await RunAsync("mount", "-t", "tmpfs", "-o", size, "actop", folder).ConfigureAwait(false);
        // The database runs as another user.
        if (!isMounted && !OperatingSystem.IsWindows())
            File.SetUnixFileMode(folder, File.GetUnixFileMode(folder) | UnixFileMode.OtherExecute | UnixFileMode.GroupExecute);
        return new SmallDisk(folder, isMounted);
    }

    /// <summary>Leaves no byte free.</summary>
    public void Fill()
    {
        if (!IsLimited)
            return;
        using var file = File.Create(_filler, bufferSize: 0);
        for (var block = new byte[1 << 20]; block.Length > 0; block = block[..(block.Length / 2)])
        {
            try
            {
                while (true)
                    file.Write(block);
            }
            catch (IOException)
            {
                // No room for a block of this size.
            }
        }
    }

    /// <summary>Ends <see cref="Fill"/>.</summary>
    public void Free() => File.Delete(_filler);

    /// <summary>Removes the disk and all that is on it.</summary>
    public async ValueTask DisposeAsync()
    {
        if (IsLimited)
            await RunAsync("umount", "-l", Folder).ConfigureAwait(false);
        Directory.Delete(Folder, recursive: true);
    }

    private static async Task<bool> RunAsync(string program, params string[] arguments)
    {
        using var process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true });
        if (process is null)
            return false;
        await process.StandardError.ReadToEndAsync().ConfigureAwait(false);
        await process.WaitForExitAsync().ConfigureAwait(false);
        return process.ExitCode == 0;
    }
}
