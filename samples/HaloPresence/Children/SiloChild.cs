using System.Diagnostics;
using HaloPresence.Load;

namespace HaloPresence.Children;

/// <summary>The silo process: runs a silo and prints a <see cref="SiloSample"/> every second until its parent is gone.</summary>
public static class SiloChild
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    /// <summary>Runs until standard input ends; returns the exit code.</summary>
    public static async Task<int> RunAsync(SiloArguments arguments)
    {
        CancellationToken ended = ParentWatch.Start();
        var clock = new MonotonicClock();
        using Process self = Process.GetCurrentProcess();
        await using ISilo silo = await Backends.For(arguments.Options).StartSilo(arguments, ended).ConfigureAwait(false);
        using var timer = new PeriodicTimer(Period);
        try
        {
            do
                JsonLines.Write(Console.Out, Read(silo, clock, self));
            while (await timer.WaitForNextTickAsync(ended).ConfigureAwait(false));
        }
        catch (OperationCanceledException)
        {
            JsonLines.Write(Console.Out, Read(silo, clock, self));
        }
        return 0;
    }

    private static SiloSample Read(ISilo silo, MonotonicClock clock, Process self)
    {
        self.Refresh();
        return silo.Read(new SiloSample
        {
            T = clock.Now.TotalSeconds,
            CpuSeconds = self.TotalProcessorTime.TotalSeconds,
            AllocatedBytes = GC.GetTotalAllocatedBytes(),
        });
    }
}
