using HaloPresence.Load;
using HaloPresence.Options;

namespace HaloPresence.Children;

/// <summary>The load process: connects, runs the load and prints a <see cref="LoadReport"/> every second and a last one with the histogram.</summary>
public static class ClientChild
{
    /// <summary>Runs all phases, or until standard input ends; returns the exit code.</summary>
    public static async Task<int> RunAsync(HaloOptions options, int[] gateways)
    {
        CancellationToken ended = ParentWatch.Start();
        try
        {
            await using ILoadTarget target = await Backends.For(options).Connect(options, gateways, ended).ConfigureAwait(false);
            var client = new LoadClient(options, target, new MonotonicClock(), report => JsonLines.Write(Console.Out, report));
            LoadReport last = await RunOnOwnThread(client, ended).ConfigureAwait(false);
            JsonLines.Write(Console.Out, last);
            return 0;
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            return 130;
        }
    }

    private static Task<LoadReport> RunOnOwnThread(LoadClient client, CancellationToken ended) =>
        Task.Factory.StartNew(() => client.Run(ended), ended, TaskCreationOptions.LongRunning, TaskScheduler.Default);
}
