using System.Runtime.InteropServices;

namespace ActOp.Interleaving.Tests.Exploring;

/// <summary>
/// Threads of which one runs at a time hand over fastest on one processor: between two, each hand-over waits until the other processor is
/// free, which on a busy machine takes milliseconds.
/// </summary>
internal static partial class Processor
{
    /// <summary>Binds the calling thread to the first processor that it may use. Does nothing where the system has no such call.</summary>
    internal static void Bind()
    {
        if (!OperatingSystem.IsLinux())
            return;
        var mask = new ulong[16];
        if (GetAffinity(0, (nuint)(mask.Length * sizeof(ulong)), mask) < 0)
            return;
        var word = Array.FindIndex(mask, static bits => bits != 0);
        if (word < 0)
            return;
        var lowest = mask[word] & (~mask[word] + 1);
        Array.Clear(mask);
        mask[word] = lowest;
        _ = SetAffinity(0, (nuint)(mask.Length * sizeof(ulong)), mask);
    }

    [LibraryImport("libc", EntryPoint = "sched_getaffinity")]
    private static partial int GetAffinity(int thread, nuint size, [Out] ulong[] mask);

    [LibraryImport("libc", EntryPoint = "sched_setaffinity")]
    private static partial int SetAffinity(int thread, nuint size, ulong[] mask);
}
