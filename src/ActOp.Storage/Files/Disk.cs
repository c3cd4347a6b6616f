using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace ActOp.Storage.Files;

/// <summary>
/// The few things that states do with a file system. Each is one step at which a process or a machine may end. All may throw an
/// <see cref="IOException"/> or an <see cref="UnauthorizedAccessException"/>; they are called on threads that may block.
/// </summary>
internal abstract class Disk
{
    /// <summary>Creates a directory with its parents. False if it exists.</summary>
    internal abstract bool TryCreateDirectory(string path);

    /// <summary>The names of the files in a directory; of the directories in it.</summary>
    internal abstract (string[] Files, string[] Directories) List(string directory);

    /// <summary>The content; null if there is no such file.</summary>
    internal abstract byte[]? Read(string path);

    /// <summary>Creates the file, or replaces its content.</summary>
    internal abstract void Write(string path, ReadOnlySpan<byte> content);

    /// <summary>Returns when the content of the file would survive a loss of power.</summary>
    internal abstract void FlushFile(string path);

    /// <summary>Gives a file another name in the same directory; a file that has it disappears in the same step.</summary>
    internal abstract void Rename(string from, string to);

    /// <summary>Removes a file, if it exists.</summary>
    internal abstract void Delete(string path);

    /// <summary>Returns when the names in the directory would survive a loss of power.</summary>
    internal abstract void FlushDirectory(string directory);

    /// <summary>Holds a lock that no other process gets until it is disposed, or this process has ended; null if it is held.</summary>
    internal abstract DiskLock? TryLock(string path);

    /// <summary>Whether a lock has its mark (<see cref="DiskLock.HasMark"/>), whoever holds it.</summary>
    internal abstract bool HasMark(string path);
}

/// <summary>A lock that this process holds.</summary>
internal abstract class DiskLock : IDisposable
{
    /// <summary>
    /// A mark that all processes see, and that outlives the one that has set it. Nothing is promised of it after a loss of power.
    /// </summary>
    internal abstract bool HasMark { get; set; }

    public abstract void Dispose();
}

/// <summary>The file system of the machine. Stateless; any thread.</summary>
internal sealed partial class RealDisk : Disk
{
    internal static readonly RealDisk Instance = new();

    private RealDisk()
    {
    }

    internal override bool TryCreateDirectory(string path)
    {
        if (System.IO.Directory.Exists(path))
            return false;
        // States may be secret, and names of files tell keys: both are for the account of the silo only.
        if (OperatingSystem.IsWindows())
            System.IO.Directory.CreateDirectory(path);
        else
            System.IO.Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return true;
    }

    internal override (string[] Files, string[] Directories) List(string directory) => (
        [.. System.IO.Directory.EnumerateFiles(directory).Select(static path => Path.GetFileName(path))],
        [.. System.IO.Directory.EnumerateDirectories(directory).Select(static path => Path.GetFileName(path))]);

    internal override byte[]? Read(string path)
    {
        try
        {
            using var file = File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            var content = new byte[RandomAccess.GetLength(file)];
            var read = 0;
            while (read < content.Length && RandomAccess.Read(file, content.AsSpan(read), read) is > 0 and var count)
                read += count;
            return content[..read];
        }
        catch (Exception exception) when (exception is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }
    }

    internal override void Write(string path, ReadOnlySpan<byte> content)
    {
        using var file = Create(path, FileMode.Create, FileAccess.Write, FileShare.Read | FileShare.Delete);
        RandomAccess.Write(file.SafeFileHandle, content, 0);
    }

    internal override void FlushFile(string path)
    {
        using var file = File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete);
        RandomAccess.FlushToDisk(file);
    }

    internal override void Rename(string from, string to) => File.Move(from, to, overwrite: true);

    internal override void Delete(string path)
    {
        try
        {
            File.Delete(path);
        }
        catch (DirectoryNotFoundException)
        {
            // Nothing is there.
        }
    }

    /// <summary>Windows has no such call: its file systems write names in order.</summary>
    internal override void FlushDirectory(string directory)
    {
        if (OperatingSystem.IsWindows())
            return;
        var descriptor = Native.Open(directory, Native.ReadOnly);
        if (descriptor < 0)
            throw Failed(directory);
        using var opened = new SafeFileHandle(descriptor, ownsHandle: true);
        if (Native.Flush(descriptor) < 0)
            throw Failed(directory);
    }

    internal override DiskLock? TryLock(string path)
    {
        try
        {
            // On Unix this is flock, on Windows the share mode: both end with the process.
            return new Held(Create(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None));
        }
        catch (IOException exception) when (exception.HResult is Native.WouldBlock or Native.WouldBlockOnMac or Native.SharingViolation)
        {
            return null;
        }
    }

    internal override bool HasMark(string path) => new FileInfo(path) is { Exists: true, Length: > 0 };

    /// <summary>Without a buffer. A file that is new can be read and written by the account of the silo only.</summary>
    private static FileStream Create(string path, FileMode mode, FileAccess access, FileShare share)
    {
        var options = new FileStreamOptions { Mode = mode, Access = access, Share = share, BufferSize = 0 };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        return new FileStream(path, options);
    }

    private static IOException Failed(string directory)
    {
        var error = Marshal.GetLastPInvokeError();
        return new IOException(
            "The directory " + directory + " could not be flushed: " + Marshal.GetPInvokeErrorMessage(error) + ".", error);
    }

    /// <summary>The mark is the length of the file: others may ask for it, but not open the file.</summary>
    private sealed class Held(FileStream file) : DiskLock
    {
        internal override bool HasMark
        {
            get => file.Length > 0;
            set => file.SetLength(value ? 1 : 0);
        }

        public override void Dispose() => file.Dispose();
    }

    private static partial class Native
    {
        internal const int ReadOnly = 0;
        internal const int WouldBlock = 11;
        internal const int WouldBlockOnMac = 35;
        internal const int SharingViolation = unchecked((int)0x80070020);

        [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
        internal static partial int Open(string path, int flags);

        [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
        internal static partial int Flush(int descriptor);
    }
}
