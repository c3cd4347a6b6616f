using System.Globalization;
using System.Text;
using ActOp.Storage.Files;

namespace ActOp.Process.Silo;

/// <summary>
/// Writes the numbers 1 to 3 into the file of one state, says each one that was acknowledged, and kills itself with SIGKILL before a step
/// of the file system.
/// </summary>
internal static class StateWriter
{
    /// <summary>The state that it writes.</summary>
    internal static readonly GrainId Grain = GrainId.Create("account", "one");

    internal const int Last = 3;

    internal static void Run(string root, int step)
    {
        var folder = new StateFolder(new KillingDisk(step), root, static () => Guid.NewGuid().ToString("N"));
        folder.Open();
        string? etag = null;
        for (var number = 1; number <= Last; number++)
        {
            var text = number.ToString(CultureInfo.InvariantCulture);
            etag = folder.TryWrite("s", Grain, etag, Encoding.UTF8.GetBytes(text));
            Console.Out.WriteLine("WRITTEN " + text);
            Console.Out.Flush();
        }

        Console.Out.WriteLine("DONE");
    }

    private sealed class KillingDisk(int last) : Disk
    {
        private int _steps;

        internal override bool TryCreateDirectory(string path) => Step().TryCreateDirectory(path);

        internal override (string[] Files, string[] Directories) List(string directory) => Step().List(directory);

        internal override byte[]? Read(string path) => Step().Read(path);

        internal override void Write(string path, ReadOnlySpan<byte> content)
        {
            // In two parts, as a large file is written.
            Step().Write(path, content[..(content.Length / 2)]);
            Step().Write(path, content);
        }

        internal override void FlushFile(string path) => Step().FlushFile(path);

        internal override void Rename(string from, string to) => Step().Rename(from, to);

        internal override void Delete(string path) => Step().Delete(path);

        internal override void FlushDirectory(string directory) => Step().FlushDirectory(directory);

        internal override DiskLock? TryLock(string path) => Step().TryLock(path);

        internal override bool HasMark(string path) => Step().HasMark(path);

        private RealDisk Step()
        {
            if (++_steps == last)
            {
                using var self = System.Diagnostics.Process.GetCurrentProcess();
                self.Kill();
                // The signal ends all threads at once.
                while (true)
                    Thread.SpinWait(1000);
            }

            return RealDisk.Instance;
        }
    }
}
