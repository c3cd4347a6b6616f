using Harness.Children;

namespace HaloPresence.Children;

/// <summary>The silo process: runs a silo and prints a <see cref="SiloSample"/> every second until its parent is gone.</summary>
public static class SiloChild
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    /// <summary>Runs until standard input ends; returns the exit code.</summary>
    public static async Task<int> RunAsync(SiloArguments arguments)
    {
        CancellationToken ended = ParentWatch.Start();
        await using ISilo silo = await Backends.For(arguments.Options).StartSilo(arguments, ended).ConfigureAwait(false);
        await SampleLoop.RunAsync(
            Period,
            reading => silo.Read(new SiloSample { T = reading.T, CpuSeconds = reading.CpuSeconds, AllocatedBytes = reading.AllocatedBytes }),
            ended).ConfigureAwait(false);
        return 0;
    }
}
