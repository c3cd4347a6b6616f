using System.Diagnostics;
using Harness.Load;

namespace Harness.Children;

/// <summary>Prints a sample of a silo process in every period until its parent is gone.</summary>
public static class SampleLoop
{
    /// <summary>Runs until <paramref name="ended"/>, with one more sample then.</summary>
    public static async Task RunAsync<TSample>(TimeSpan period, Func<ProcessReading, TSample> read, CancellationToken ended)
    {
        var clock = new MonotonicClock();
        using Process self = Process.GetCurrentProcess();
        using var timer = new PeriodicTimer(period);
        try
        {
            do
                JsonLines.Write(Console.Out, read(Read(clock, self)));
            while (await timer.WaitForNextTickAsync(ended).ConfigureAwait(false));
        }
        catch (OperationCanceledException)
        {
            JsonLines.Write(Console.Out, read(Read(clock, self)));
        }
    }

    private static ProcessReading Read(MonotonicClock clock, Process self)
    {
        self.Refresh();
        return new ProcessReading(clock.Now.TotalSeconds, self.TotalProcessorTime.TotalSeconds, GC.GetTotalAllocatedBytes());
    }
}
