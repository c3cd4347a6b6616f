using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using HaloPresence.Bench.Load;

namespace HaloPresence.Bench.Silos;

/// <summary>The silo process: runs a silo and prints a <see cref="SiloSample"/> every second until its parent is gone.</summary>
public static class SiloChild
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    /// <summary>Runs until standard input ends; returns the exit code, 1 if a silo with a wrong setting has not started.</summary>
    public static async Task<int> RunAsync(SiloArguments arguments)
    {
        try
        {
            return await RunSiloAsync(arguments).ConfigureAwait(false);
        }
        catch (Exception error) when (arguments.Wrong is not null)
        {
            await Console.Error.WriteLineAsync($"{error.GetType().Name}: {error.Message.ReplaceLineEndings(" ")}").ConfigureAwait(false);
            return 1;
        }
    }

    private static async Task<int> RunSiloAsync(SiloArguments arguments)
    {
        var ended = ParentWatch.Start();
        await using ISilo silo = arguments.Options.Rehearse
            ? new IdleSilo() : await SiloHost.StartAsync(arguments, ended).ConfigureAwait(false);
        await SampleLoop.RunAsync(
            Period,
            reading =>
                silo.Read(new SiloSample { T = reading.T, CpuSeconds = reading.CpuSeconds, AllocatedBytes = reading.AllocatedBytes }),
            ended).ConfigureAwait(false);
        return 0;
    }
}

/// <summary>
/// The load process: connects, runs the load and prints a <see cref="LoadReport"/> every second and a last one with the histogram.
/// </summary>
public static class ClientChild
{
    /// <summary>Runs all phases, or until standard input ends; returns the exit code.</summary>
    public static Task<int> RunAsync(HaloOptions options, int[] gateways) => LoadChild.RunAsync(
        ended => LoadTarget.ConnectAsync(options, gateways, ended),
        (target, ended) =>
            new LoadClient(options, target, new MonotonicClock(), report => JsonLines.Write(Console.Out, report)).Run(ended));
}

/// <summary>Where one silo process listens, and what it runs.</summary>
/// <param name="Index">Index of the silo, from 0; 0 is the primary.</param>
/// <param name="Port">Port for other silos.</param>
/// <param name="Gateway">Port for clients.</param>
/// <param name="Primary">Silo port of the primary.</param>
/// <param name="Options">The experiment.</param>
/// <param name="Journal">File for the begins and ends of activations; with one, the silo also says which views it adopts.</param>
/// <param name="Lease">Seconds after which a silo that cannot confirm its membership pauses its grains; 0 for never.</param>
/// <param name="Postgres">The database that holds the membership table; null if the primary does.</param>
/// <param name="Ledgers">The folder of the file storage of ledgers; null for none.</param>
/// <param name="Keys">The folder of the keys of the cluster; null for a cluster without.</param>
/// <param name="Wrong">What is wrong with the settings of the silo; null for nothing.</param>
public sealed record SiloArguments(
    int Index, int Port, int Gateway, int Primary, HaloOptions Options, string? Journal = null, double Lease = 0, string? Postgres = null,
    string? Ledgers = null, string? Keys = null, WrongSetting? Wrong = null);

/// <summary>What a silo process says once a second; every counter is cumulative since its start.</summary>
public sealed record SiloSample : ITimed
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>Grain messages (calls and replies) between activations of this silo, counted by the runtime.</summary>
    public long LocalMessages { get; init; }

    /// <summary>Grain messages sent to other silos, counted by the runtime.</summary>
    public long RemoteMessages { get; init; }

    /// <summary>Sampled pairs of a game of this silo and one of its players on another silo, see <see cref="PlaceCheck"/>.</summary>
    public long CheckedRemote { get; init; }

    /// <summary>Sampled pairs of a game and one of its players that are both on this silo.</summary>
    public long CheckedLocal { get; init; }

    /// <summary>Processor time of the process in seconds.</summary>
    public double CpuSeconds { get; init; }

    /// <summary>Grains that are active here.</summary>
    public long Activations { get; init; }

    /// <summary>Grains that have migrated away from here.</summary>
    public long Moves { get; init; }

    /// <summary>Bytes allocated on the managed heap.</summary>
    public long AllocatedBytes { get; init; }

    /// <summary>Calls of games to players by how long they took, see <see cref="Silos.ActorLatency"/>; none unless asked for.</summary>
    public long[] ActorCalls { get; init; } = [];
}
