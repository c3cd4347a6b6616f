using System.Globalization;
using ActOp.Harness.Processes;
using ActOp.Outages.Cluster;
using ActOp.Outages.Load;
using ActOp.Outages.Networks;

namespace ActOp.Outages.Runs;

/// <summary>The client processes, each in its namespace. Owns them until disposed.</summary>
internal sealed class Clients(OutageOptions options, string folder, string[] spaces, string database, Action<StillLine> still) : IAsyncDisposable
{
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(120);
    private readonly List<(ChildProcess Process, string History)> _clients = [];

    /// <summary>Starts them; completes when all call.</summary>
    internal async Task StartAsync(TimeSpan origin, TimeSpan limit, CancellationToken cancellation)
    {
        var ready = new List<Task>();
        for (var client = 0; client < spaces.Length; client++)
        {
            var name = string.Create(CultureInfo.InvariantCulture, $"client-{client}");
            var history = Path.Combine(folder, name + ".history");
            var arguments = new ClientArguments(client, database, history, options.Seed, origin.Ticks, options.Loops, client == 0);
            var said = new Transcript();
            string[] command = [.. Namespaces.In(spaces[client]), .. Silos.WithLog(Path.Combine(folder, name + ".log")),
                .. ChildProcess.ThisProgram, .. arguments.Print()];
            _clients.Add((ChildProcess.StartCommand(name, command, Take), history));

            bool Take(string line)
            {
                if (!JsonLines.TryRead(line, out StillLine? stood))
                    return said.Take(line);
                still(stood!);
                return true;
            }

            ready.Add(said.WaitForAsync(static line => line == ClientChild.Ready));
        }

        try
        {
            await Task.WhenAll(ready).WaitAsync(limit, cancellation).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new TimeoutException($"The clients do not call within {limit.TotalSeconds} s. --keep DIR keeps what they say.");
        }
    }

    /// <summary>Has them end: the first one last, which then reads every key.</summary>
    internal async Task StopAsync(CancellationToken cancellation)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(StopLimit);
        foreach (var (process, _) in Enumerable.Reverse(_clients))
        {
            await process.StopAsync(limit.Token).ConfigureAwait(false);
            if (process.ExitCode != 0)
                throw new InvalidOperationException($"{process.Name} ended with {process.ExitCode}. --keep DIR keeps what it says.");
        }
    }

    /// <summary>What they wrote down.</summary>
    internal List<Call> Read() => [.. _clients.SelectMany(static client => HistoryWriter.Read(client.History))];

    public async ValueTask DisposeAsync()
    {
        foreach (var (process, _) in _clients)
        {
            if (!process.HasExited)
                process.Kill();
            await process.DisposeAsync().ConfigureAwait(false);
        }
    }
}
