using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Outages.Cluster;
using ActOp.Outages.Networks;

namespace ActOp.Outages.Runs;

/// <summary>The silo processes: started, ended, started again, each in its namespace. Safe for concurrent use by their output.</summary>
internal sealed class Silos : IAsyncDisposable
{
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(30);
    private readonly OutageOptions _options;
    private readonly string _folder;
    private readonly string[] _spaces;
    private readonly FakeClock[] _clocks;
    private readonly ChildProcess?[] _processes;
    private readonly int[] _journalOf;
    private readonly List<ViewLine>[] _views;
    private readonly List<string> _journals = [];
    private readonly List<(int Journal, TimeSpan At)> _resumed = [];
    private readonly MonotonicClock _clock = new();
    private readonly Action<StillLine> _still;

    /// <summary>Creates no process yet.</summary>
    internal Silos(OutageOptions options, string folder, string[] spaces, string database, Action<StillLine> still)
    {
        _still = still;
        _options = options;
        _folder = folder;
        _spaces = spaces;
        Database = database;
        _clocks = [.. spaces.Select((_, silo) => new FakeClock(Path.Combine(folder, "clock-" + silo)))];
        _processes = new ChildProcess?[spaces.Length];
        _journalOf = new int[spaces.Length];
        _views = [.. spaces.Select(static _ => new List<ViewLine>())];
    }

    private string Database { get; }

    /// <summary>Number of silos.</summary>
    internal int Count => _spaces.Length;

    /// <summary>The files with the turns of all processes so far.</summary>
    internal IReadOnlyList<string> Journals => _journals;

    /// <summary>The files with the items that arrived.</summary>
    internal IEnumerable<string> Arrivals => _journals.Select(ArrivalsOf);

    /// <summary>Processes that ended by themselves, and when the fact was found.</summary>
    internal List<(int Silo, int Code)> Ended { get; } = [];

    /// <summary>Starts a silo.</summary>
    internal void Start(int silo)
    {
        var name = string.Create(CultureInfo.InvariantCulture, $"silo-{silo}-{_journals.Count}");
        var journal = Path.Combine(_folder, name + ".turns");
        var arguments = new SiloArguments(Switch.AddressOf(silo), Database, _options.Lease, journal, ArrivalsOf(journal));
        _journalOf[silo] = _journals.Count;
        _journals.Add(journal);
        string[] command = [.. Namespaces.In(_spaces[silo]), .. _clocks[silo].Command, .. WithLog(Path.Combine(_folder, name + ".log")),
            .. ChildProcess.ThisProgram, .. arguments.Print()];
        _processes[silo] = ChildProcess.StartCommand(name, command, line => Take(silo, line));
    }

    /// <summary>Kills a silo; returns when its process is over.</summary>
    internal async Task KillAsync(int silo)
    {
        await _processes[silo]!.KillAsync(static () => { }).ConfigureAwait(false);
        Forget(silo);
    }

    /// <summary>Has a silo stand still.</summary>
    internal Task PauseAsync(int silo) => _processes[silo]!.PauseAsync();

    /// <summary>Lets a silo go on.</summary>
    internal async Task ContinueAsync(int silo)
    {
        _resumed.Add((_journalOf[silo], _clock.Now));
        await _processes[silo]!.ContinueAsync().ConfigureAwait(false);
    }

    /// <summary>Sets the clock of a silo.</summary>
    internal void SetClock(int silo, long seconds) => _clocks[silo].Set(seconds);

    /// <summary>
    /// Whether a turn may have run then in a process beside a newer activation: one that a pause of the process had interrupted.
    /// </summary>
    internal bool IsInterrupted(int journal, TimeSpan at) =>
        _resumed.Exists(one => one.Journal == journal && at >= one.At && at - one.At < TimeSpan.FromSeconds(1));

    /// <summary>Starts the silos again that have ended by themselves.</summary>
    internal void StartEnded()
    {
        for (var silo = 0; silo < _processes.Length; silo++)
        {
            if (_processes[silo] is { HasExited: false })
                continue;
            if (_processes[silo] is { } ended)
            {
                Ended.Add((silo, ended.ExitCode));
                Forget(silo);
            }

            Start(silo);
        }
    }

    /// <summary>How many silos have ended by themselves and were not started again.</summary>
    internal int CountEnded() => _processes.Count(static process => process is { HasExited: true });

    /// <summary>Whether all silos run, and all are in all views since then.</summary>
    internal bool AllSee(TimeSpan since) => Enumerable.Range(0, Count).All(silo => _processes[silo] is { HasExited: false }
        && LastView(silo) is { } last && last.Active == Count && last.T <= since.TotalSeconds);

    /// <summary>What each silo sees, for messages.</summary>
    internal string Text() => string.Join(", ", Enumerable.Range(0, Count).Select(silo =>
        $"silo {silo} {(_processes[silo] is { HasExited: false } ? "sees " + LastView(silo)?.Active : "has ended")}"));

    /// <summary>How many views silos have adopted since then in which a member was gone.</summary>
    internal int LostSince(TimeSpan since)
    {
        lock (_views)
            return _views.Sum(lines => lines.Count(line => line.T >= since.TotalSeconds && line.Left.Length > 0));
    }

    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(Enumerable.Range(0, Count).Select(async silo =>
        {
            if (_processes[silo] is not { } process)
                return;
            using var limit = new CancellationTokenSource(StopLimit);
            try
            {
                if (!process.HasExited)
                    await process.ContinueAsync().ConfigureAwait(false);
                await process.StopAsync(limit.Token).ConfigureAwait(false);
            }
            catch (Exception error) when (error is OperationCanceledException or InvalidOperationException)
            {
                // It is killed with the object.
            }

            await process.DisposeAsync().ConfigureAwait(false);
        })).ConfigureAwait(false);
    }

    /// <summary>What a child says beside its lines goes to a file; it stays the same process.</summary>
    internal static string[] WithLog(string file) => ["sh", "-c", "exec \"$@\" 2>\"$0\"", file];

    private static string ArrivalsOf(string journal) => Path.ChangeExtension(journal, ".arrivals");

    private bool Take(int silo, string line)
    {
        if (JsonLines.TryRead(line, out StillLine? still))
        {
            _still(still!);
            return true;
        }

        if (!JsonLines.TryRead(line, out ViewLine? view))
            return false;
        lock (_views)
            _views[silo].Add(view!);
        return true;
    }

    private ViewLine? LastView(int silo)
    {
        lock (_views)
            return _views[silo] is [.., { } last] ? last : null;
    }

    private void Forget(int silo)
    {
        _processes[silo] = null;
        lock (_views)
            _views[silo].Clear();
    }
}
