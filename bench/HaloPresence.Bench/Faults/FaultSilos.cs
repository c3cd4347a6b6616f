using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench.Faults;

/// <summary>
/// The silo processes of a fault experiment: started, ended, started again on the same ports. Safe for concurrent use by their output.
/// </summary>
public sealed class FaultSilos : IAsyncDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(5);

    /// <summary>A thread that runs on another core is interrupted within microseconds.</summary>
    private static readonly TimeSpan KillTime = TimeSpan.FromMilliseconds(1);
    private readonly FaultOptions _options;
    private readonly IClock _clock;
    private readonly string _directory;
    private readonly int[] _ports;
    private readonly ChildProcess?[] _processes;
    private readonly List<ViewLine>[] _views;
    private readonly SiloSample?[] _samples;
    private readonly string[] _journals;
    private readonly List<(string Path, TimeSpan Over)> _over = [];
    private int _started;

    /// <summary>The database that holds the membership table; null if silo 0 does.</summary>
    public string? Postgres { get; init; }

    /// <summary>The folder of the file storage of ledgers; null for silos without ledgers.</summary>
    public string? Ledgers { get; init; }

    /// <summary>What the silos and clients of the cluster trust; null if they trust everybody.</summary>
    public ClusterKeys? Keys { get; init; }

    /// <summary>Creates no process yet; journals go to <paramref name="directory"/>.</summary>
    public FaultSilos(FaultOptions options, IClock clock, string directory)
    {
        _options = options;
        _clock = clock;
        _directory = directory;
        var count = options.Halo.Silos;
        _ports = Ports.FindFree(2 * count);
        _processes = new ChildProcess?[count];
        _samples = new SiloSample?[count];
        _journals = new string[count];
        _views = new List<ViewLine>[count];
        for (var i = 0; i < count; i++)
            _views[i] = [];
    }

    /// <summary>Ports at which clients reach the silos.</summary>
    public int[] Gateways => _ports[_options.Halo.Silos..];

    /// <summary>Journals of processes that are over, with the time at which they surely were.</summary>
    public IReadOnlyList<(string Path, TimeSpan Over)> Journals => _over;

    /// <summary>Starts all silos, the first one first, and waits until each knows all.</summary>
    public async Task StartAllAsync(CancellationToken cancellation)
    {
        for (var i = 0; i < _processes.Length; i++)
        {
            Start(i);
            if (i == 0)
                await WaitAsync(() => Views(0).Count > 0, "silo 0 did not start", cancellation).ConfigureAwait(false);
        }
        await WaitAsync(() => AllSee(_processes.Length), "the silos did not find each other", cancellation).ConfigureAwait(false);
    }

    /// <summary>Starts silo <paramref name="index"/> again; returns when all silos, itself included, have it in their view.</summary>
    public async Task RestartAsync(int index, CancellationToken cancellation)
    {
        Start(index);
        await WaitAsync(() => AllSee(_processes.Length), $"silo {index} did not join again", cancellation).ConfigureAwait(false);
    }

    /// <summary>Kills silo <paramref name="index"/>; returns when the process is over.</summary>
    public async Task KillAsync(int index)
    {
        TimeSpan over = default;
        // When its parent hears of the end, a silo that dies on a busy machine may have been replaced for long.
        await _processes[index]!.KillAsync(() => over = _clock.Now + KillTime).ConfigureAwait(false);
        Forget(index, over);
    }

    /// <summary>Asks silo <paramref name="index"/> to stop; returns when the process is over.</summary>
    public async Task StopAsync(int index)
    {
        await _processes[index]!.DisposeAsync().ConfigureAwait(false);
        Forget(index, _clock.Now);
    }

    /// <summary>Kills all silos at once; returns when all processes are over.</summary>
    public Task KillAllAsync() => Task.WhenAll(Enumerable.Range(0, _processes.Length).Select(KillAsync));

    /// <summary>Has silo <paramref name="index"/> stand still.</summary>
    public Task PauseAsync(int index) => _processes[index]!.PauseAsync();

    /// <summary>Lets silo <paramref name="index"/> go on.</summary>
    public Task ContinueAsync(int index) => _processes[index]!.ContinueAsync();

    /// <summary>
    /// Kills a silo that the others dropped while it stood still from <paramref name="pausedAt"/> on: none of its turns has run since.
    /// </summary>
    public async Task KillPausedAsync(int index, TimeSpan pausedAt)
    {
        await _processes[index]!.KillAsync(() => { }).ConfigureAwait(false);
        Forget(index, pausedAt);
    }

    /// <summary>
    /// When each running silo adopted a view without silo <paramref name="index"/>, not before <paramref name="since"/> seconds; null while
    /// one has not.
    /// </summary>
    public double? DroppedByAll(int index, double since)
    {
        var left = string.Create(CultureInfo.InvariantCulture, $":{_ports[index]}:");
        var last = since;
        for (var i = 0; i < _processes.Length; i++)
        {
            if (i == index || _processes[i] is null)
                continue;
            if (Views(i).Find(line => line.T >= since && line.Left.Contains(left, StringComparison.Ordinal)) is not { } drop)
                return null;
            last = Math.Max(last, drop.T);
        }
        return last;
    }

    /// <summary>How many silos have adopted a view since then.</summary>
    public int ChangedSince(double since) => Enumerable.Range(0, _processes.Length).Count(i => Views(i).Exists(line => line.T >= since));

    /// <summary>How many silos of the cluster have dropped one of its members since then.</summary>
    public int LostSince(double since) => Enumerable.Range(0, _processes.Length).Count(i => Views(i).Exists(line => line.T >= since
        && _ports.Take(_processes.Length).Any(port =>
            line.Left.Contains(string.Create(CultureInfo.InvariantCulture, $":{port}:"), StringComparison.Ordinal))));

    /// <summary>Starts silos with a wrong setting.</summary>
    public Newcomers StartNewcomers(WrongSetting wrong) => new(wrong, _options, Shared);

    /// <summary>Activations on a silo, as of its last sample.</summary>
    public long ActivationsOf(int index) => Volatile.Read(ref _samples[index])?.Activations ?? 0;

    /// <summary>What the silos have said that was no sample.</summary>
    public IEnumerable<string> Tails() =>
        _processes.Where(process => process is { Tail.Length: > 0 })
            .Select(process => $"{process!.Name} said:{Environment.NewLine}{process.Tail}");

    /// <summary>Stops what runs.</summary>
    public async ValueTask DisposeAsync()
    {
        var running = Enumerable.Range(0, _processes.Length).Where(i => _processes[i] is not null).ToArray();
        // The first silo last: it holds the table in which the others sign off.
        await Task.WhenAll(running.Where(i => i > 0).Select(i => _processes[i]!.DisposeAsync().AsTask())).ConfigureAwait(false);
        if (_processes[0] is { } seed)
            await seed.DisposeAsync().ConfigureAwait(false);
        foreach (var i in running)
        {
            _processes[i] = null;
            _over.Add((_journals[i], _clock.Now));
        }
    }

    private void Start(int index)
    {
        var halo = _options.Halo;
        _journals[index] = Path.Combine(_directory, string.Create(CultureInfo.InvariantCulture, $"silo-{index}-{_started++}.journal"));
        Volatile.Write(ref _samples[index], null);
        string[] own =
        [
            "silo",
            "--index", Text(index),
            "--port", Text(_ports[index]),
            "--gateway", Text(_ports[halo.Silos + index]),
            "--journal", _journals[index],
        ];
        _processes[index] = ChildProcess.Start($"silo {index}", [.. own, .. Shared], line => Take(index, line));
    }

    /// <summary>The arguments that all silos have.</summary>
    private string[] Shared =>
    [
        "--primary", Text(_ports[0]),
        "--lease", _options.Lease.ToString(CultureInfo.InvariantCulture),
        .. Postgres is null ? Array.Empty<string>() : ["--postgres", Postgres],
        .. Ledgers is null ? Array.Empty<string>() : ["--ledgers", Ledgers],
        .. Keys is null ? Array.Empty<string>() : ["--keys", Keys.Folder],
        .. new HaloOptionTable(_options.Halo).Print(_options.Halo),
    ];

    private bool Take(int index, string line)
    {
        if (JsonLines.TryRead(line, out ViewLine? view))
        {
            lock (_views)
                _views[index].Add(view!);
            return true;
        }
        if (!JsonLines.TryRead(line, out SiloSample? sample))
            return false;
        Volatile.Write(ref _samples[index], sample);
        return true;
    }

    private void Forget(int index, TimeSpan over)
    {
        // The process is over and all that it said is here: nothing can be taken for the next process's words.
        _over.Add((_journals[index], over));
        _processes[index] = null;
        lock (_views)
            _views[index].Clear();
    }

    private bool AllSee(int count) =>
        Enumerable.Range(0, _processes.Length)
            .All(i => Views(i) is [.., { } last] && last.Active == count && Volatile.Read(ref _samples[i]) is not null);

    private List<ViewLine> Views(int index)
    {
        lock (_views)
            return [.. _views[index]];
    }

    private async Task WaitAsync(Func<bool> condition, string failure, CancellationToken cancellation)
    {
        var limit = _clock.Now + StartLimit;
        while (!condition())
        {
            if (_processes.FirstOrDefault(process => process is { HasExited: true }) is { } ended)
                throw new InvalidOperationException($"{ended.Name} ended early. It said:{Environment.NewLine}{ended.Tail}");
            if (_clock.Now > limit)
                throw new TimeoutException($"{char.ToUpperInvariant(failure[0])}{failure[1..]} within {StartLimit.TotalSeconds} s.{Environment.NewLine}{string.Join(Environment.NewLine, Tails())}");
            await Task.Delay(Poll, cancellation).ConfigureAwait(false);
        }
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
