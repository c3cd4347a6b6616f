using ActOp.Harness.Activations;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using HaloPresence.Bench.Faults;
using HaloPresence.Bench.Load;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench.States;

/// <summary>What happens to the silos and the storages, one after the other.</summary>
public enum LedgerFault
{
    /// <summary>Each silo, the first one too, is killed and started again.</summary>
    Kill,

    /// <summary>All silos are killed at once and started again.</summary>
    RestartAll,

    /// <summary>All silos are stopped in order and started again, one after the other: no request may fail.</summary>
    Roll,

    /// <summary>The database is killed and stays away: no request may fail if that is shorter than the storage's patience.</summary>
    Database,

    /// <summary>Storages refuse operations, and do some whose answer is an error.</summary>
    Errors,

    /// <summary>The disk of the file storage is full.</summary>
    FullFiles,

    /// <summary>The disk of the database is full.</summary>
    FullDatabase,
}

/// <summary>One fault and what it did.</summary>
public sealed record LedgerStep
{
    /// <summary>What was done.</summary>
    public required string Name { get; init; }

    /// <summary>Requests that ended until the next fault, of the ledgers and of Halo Presence.</summary>
    public long Requests { get; init; }

    /// <summary>Failures that the contract allows, by type.</summary>
    public SortedDictionary<string, long> Allowed { get; init; } = [];

    /// <summary>Other failures, by type.</summary>
    public SortedDictionary<string, long> Others { get; init; } = [];

    /// <summary>An example of each type.</summary>
    public SortedDictionary<string, string> Examples { get; init; } = [];

    /// <summary>The longest that a request took, in seconds.</summary>
    public double LongestWait { get; init; }

    /// <summary>Ledgers that have read their record after the fault.</summary>
    public int Read { get; init; }
}

/// <summary>The result of the run.</summary>
public sealed record LedgerResult
{
    /// <summary>One entry for each fault.</summary>
    public List<LedgerStep> Steps { get; init; } = [];

    /// <summary>What the books say.</summary>
    public LedgerVerdict? Verdict { get; set; }

    /// <summary>Whether any grain was active twice at one time.</summary>
    public ActivationReport? Activations { get; set; }

    /// <summary>What is wrong; empty when all is well.</summary>
    public List<string> Faults { get; init; } = [];
}

/// <summary>What a request may fail with, from the fault on until some time after it.</summary>
/// <param name="Until">When the fault is over, monotonic.</param>
/// <param name="Silos">Whether requests of all kinds may find their silo dead.</param>
/// <param name="Postgres">Whether the storage of PostgreSQL may fail.</param>
/// <param name="Files">Whether the storage in files may fail.</param>
internal sealed record Allowance(TimeSpan Until, bool Silos = false, bool Postgres = false, bool Files = false)
{
    internal bool Allows(LedgerAnswer answer) => answer.From <= Until && ((Silos && answer.Error == FaultVerdict.Legitimate)
        || ((answer.Files ? Files : Postgres) && answer.Error is { } error && IsOfStorage(error)));

    internal bool Allows(Answer answer) => answer.From <= Until && Silos && answer.Error == FaultVerdict.Legitimate;

    /// <summary>As docs/persistence.md says: the error of the storage, wrapped, or a conflict after an answer that was lost.</summary>
    private static bool IsOfStorage(string error) =>
        error.StartsWith("OrleansException", StringComparison.Ordinal)
            || error.StartsWith("InconsistentStateException", StringComparison.Ordinal);
}

/// <summary>
/// Grains that count in PostgreSQL and in files, and the load of Halo Presence beside them, while silos, the database and disks fail. After
/// each fault every ledger reads its record: it must have what was acknowledged.
/// </summary>
public sealed class LedgerRun(FaultOptions options, LedgerFault[] faults, Action<string> say)
{
    private const int Ledgers = 40;
    private const int FilesMegabytes = 32;
    private const int DatabaseMegabytes = 256;

    /// <summary>A client asks for the view every second, so requests sent this long after the silos know are no longer excused.</summary>
    private static readonly TimeSpan Excused = TimeSpan.FromSeconds(1);

    /// <summary>An activation whose first read has failed tells so for this long.</summary>
    private static readonly TimeSpan FailedActivation = TimeSpan.FromSeconds(6);
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan FaultTime = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan DetectionLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(40);

    private readonly MonotonicClock _clock = new();
    private readonly LedgerResult _result = new();
    private Standstills? _stills;

    /// <summary>Runs it, bounded in time.</summary>
    public async Task<LedgerResult> ExecuteAsync(CancellationToken cancellation)
    {
        await using var files = await SmallDisk.CreateAsync(FilesMegabytes).ConfigureAwait(false);
        await using var disk = await SmallDisk.CreateAsync(DatabaseMegabytes).ConfigureAwait(false);
        await using var server = await PostgresServer.StartInAsync(
            disk.Folder, ["--wal-segsize=1"], "min_wal_size=2MB", "max_wal_size=8MB").ConfigureAwait(false);
        var directory = Directory.CreateTempSubdirectory("halo-ledgers").FullName;
        var silos = new FaultSilos(options, _clock, directory) { Postgres = server.ConnectionString, Ledgers = files.Folder };
        try
        {
            await using (silos.ConfigureAwait(false))
                await RunLoadAsync(new Parts(silos, server, files, disk), cancellation).ConfigureAwait(false);
            _result.Activations = ActivationCheck.Run(silos.Journals, ActivationLog.NameOf);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }

        JudgeAll();
        return _result;
    }

    private async Task RunLoadAsync(Parts parts, CancellationToken cancellation)
    {
        say($"starting {options.Halo.Silos} silos");
        await parts.Silos.StartAllAsync(cancellation).ConfigureAwait(false);
        using var stills = new Standstills(_clock);
        _stills = stills;
        await using var target = await ClusterLoad.ConnectAsync(parts.Silos.Gateways, cancellation).ConfigureAwait(false);
        var halo = new FaultLoad(options, target, _clock);
        var load = new LedgerLoad(
            (files, number) => files ? target.Client.GetGrain<IFileLedger>(number) : target.Client.GetGrain<IPostgresLedger>(number),
            Ledgers, options.Halo.Rate, options.Halo.Seed, _clock);
        await halo.SetUpAsync(cancellation).ConfigureAwait(false);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        var sending = Task.WhenAll(
            Task.Factory.StartNew(() => halo.Run(stop.Token), stop.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default),
            Task.Factory.StartNew(() => load.Run(stop.Token), stop.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default));
        try
        {
            await StepAsync("nothing", halo, load, static () => Task.FromResult(new Allowance(TimeSpan.Zero)), cancellation)
                .ConfigureAwait(false);
            foreach (var fault in faults)
                await FaultAsync(fault, parts, halo, load, cancellation).ConfigureAwait(false);
        }
        finally
        {
            halo.End();
            load.End();
            await sending.WaitAsync(CancellationToken.None).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        await FinishAsync(parts, halo, load, cancellation).ConfigureAwait(false);
    }

    private async Task FaultAsync(LedgerFault fault, Parts parts, FaultLoad halo, LedgerLoad load, CancellationToken cancellation)
    {
        var count = options.Halo.Silos;
        Task Step(string name, Func<Task<Allowance>> what) => StepAsync(name, halo, load, what, cancellation);
        switch (fault)
        {
            case LedgerFault.Kill:
                for (var silo = 0; silo < count; silo++)
                {
                    var victim = silo;
                    await Step($"kill -9 of silo {silo}", () => KillAsync(parts, victim, cancellation)).ConfigureAwait(false);
                }
                break;
            case LedgerFault.RestartAll:
                await Step($"kill -9 of {count} silos at once", () => KillAllAsync(parts, cancellation)).ConfigureAwait(false);
                break;
            case LedgerFault.Roll:
                await Step($"rolling restart of {count} silos", () => RollAsync(parts, cancellation)).ConfigureAwait(false);
                break;
            case LedgerFault.Database:
                await Step($"database away for {options.Pause:0} s", () => EndDatabaseAsync(parts, cancellation)).ConfigureAwait(false);
                break;
            case LedgerFault.Errors:
                await Step("errors of both storages", () => ErrAsync(parts, cancellation)).ConfigureAwait(false);
                break;
            case LedgerFault.FullFiles when parts.Files.IsLimited:
                await Step("full disk of the files", () => FillFilesAsync(parts, cancellation)).ConfigureAwait(false);
                break;
            case LedgerFault.FullDatabase when parts.Disk.IsLimited:
                await Step("full disk of the database", () => FillDatabaseAsync(parts, cancellation)).ConfigureAwait(false);
                break;
            default:
                say($"LEFT OUT: {fault} needs the right to mount a file system");
                break;
        }
    }

    /// <summary>A fault, the time in which its errors are allowed, and the question whether all that was acknowledged is there.</summary>
    private async Task StepAsync(
        string name, FaultLoad halo, LedgerLoad load, Func<Task<Allowance>> fault, CancellationToken cancellation)
    {
        var began = _clock.Now;
        var allowance = await fault().ConfigureAwait(false);
        var calm = (allowance.Until > _clock.Now ? allowance.Until - _clock.Now : TimeSpan.Zero) + Quiet;
        await Task.Delay(calm, cancellation).ConfigureAwait(false);
        var read = await load.ReloadAllAsync(cancellation).ConfigureAwait(false);
        // News reaches a load that stood still later.
        allowance = allowance with { Until = allowance.Until + _stills!.Since(began) };
        var step = Assess(name, began, allowance, halo.Take(), load.Take()) with { Read = read };
        _result.Steps.Add(step);
        say($"{name}: {step.Requests} requests; allowed: {LedgerReport.Text(step.Allowed)}; others: {LedgerReport.Text(step.Others)}; "
            + $"longest wait {step.LongestWait:0.0} s; {read} of {load.Count} ledgers read, after {(_clock.Now - began).TotalSeconds:0} s");
    }

    private static LedgerStep Assess(
        string name, TimeSpan began, Allowance allowance, List<Answer> answers, List<LedgerAnswer> ledgers)
    {
        var step = new LedgerStep { Name = name, Requests = answers.Count + ledgers.Count };
        double longest = 0;
        void Count(TimeSpan from, TimeSpan to, string? error, string? text, bool allowed)
        {
            longest = Math.Max(longest, (to - from).TotalSeconds);
            if (error is null)
                return;
            var counts = allowed ? step.Allowed : step.Others;
            counts[error] = counts.GetValueOrDefault(error) + 1;
            var example = $"{(from - began).TotalSeconds:0.000} s after the fault began, for {(to - from).TotalSeconds:0.000} s: {text}";
            if (!allowed || !step.Examples.ContainsKey(error))
                step.Examples[error] = example;
        }

        foreach (var answer in answers)
            Count(answer.From, answer.To, answer.Error, "Halo Presence: " + answer.Text, allowance.Allows(answer));
        foreach (var answer in ledgers)
            Count(answer.From, answer.To, answer.Error, answer.Text, allowance.Allows(answer));
        return step with { LongestWait = longest };
    }

    private async Task<Allowance> KillAsync(Parts parts, int victim, CancellationToken cancellation)
    {
        var began = _clock.Now;
        await parts.Silos.KillAsync(victim).ConfigureAwait(false);
        var dropped = await DroppedAsync(parts.Silos, victim, began, cancellation).ConfigureAwait(false);
        await parts.Silos.RestartAsync(victim, cancellation).ConfigureAwait(false);
        return new Allowance(dropped + Excused, Silos: true);
    }

    private async Task<Allowance> KillAllAsync(Parts parts, CancellationToken cancellation)
    {
        await parts.Silos.KillAllAsync().ConfigureAwait(false);
        await parts.Silos.StartAllAsync(cancellation).ConfigureAwait(false);
        return new Allowance(_clock.Now + Excused, Silos: true);
    }

    private async Task<Allowance> RollAsync(Parts parts, CancellationToken cancellation)
    {
        for (var silo = 0; silo < options.Halo.Silos; silo++)
        {
            var began = _clock.Now;
            await parts.Silos.StopAsync(silo).ConfigureAwait(false);
            await DroppedAsync(parts.Silos, silo, began, cancellation).ConfigureAwait(false);
            await parts.Silos.RestartAsync(silo, cancellation).ConfigureAwait(false);
        }

        return new Allowance(TimeSpan.Zero);
    }

    /// <summary>When all had dropped it.</summary>
    private async Task<TimeSpan> DroppedAsync(FaultSilos silos, int victim, TimeSpan began, CancellationToken cancellation)
    {
        while (_clock.Now < began + DetectionLimit)
        {
            if (silos.DroppedByAll(victim, began.TotalSeconds) is { } dropped)
                return TimeSpan.FromSeconds(dropped);
            await Task.Delay(5, cancellation).ConfigureAwait(false);
        }

        _result.Faults.Add($"silo {victim} was not dropped by all within {DetectionLimit.TotalSeconds:0} s");
        return _clock.Now;
    }

    private async Task<Allowance> EndDatabaseAsync(Parts parts, CancellationToken cancellation)
    {
        var began = _clock.Now;
        await parts.Server.KillAsync().ConfigureAwait(false);
        await Task.Delay(TimeSpan.FromSeconds(options.Pause), cancellation).ConfigureAwait(false);
        await parts.Server.StartAgainAsync().ConfigureAwait(false);
        CheckViews(parts.Silos, began, "the database was gone");
        return new Allowance(TimeSpan.Zero);
    }

    private async Task<Allowance> ErrAsync(Parts parts, CancellationToken cancellation)
    {
        await parts.Server.SqlAsync("""
            create function actop_err() returns trigger language plpgsql as
            $$ begin if random() < 0.3 then raise exception 'an injected error' using errcode = '58030'; end if; return new; end $$;
            create trigger actop_err before insert or update on actop_state for each row execute function actop_err();
            """).ConfigureAwait(false);
        await File.WriteAllTextAsync(LedgerStorages.ErrorFile(parts.Files.Folder), "", cancellation).ConfigureAwait(false);
        await Task.Delay(FaultTime, cancellation).ConfigureAwait(false);
        File.Delete(LedgerStorages.ErrorFile(parts.Files.Folder));
        await parts.Server.SqlAsync("drop trigger actop_err on actop_state; drop function actop_err;").ConfigureAwait(false);
        return new Allowance(_clock.Now + FailedActivation, Postgres: true, Files: true);
    }

    private async Task<Allowance> FillFilesAsync(Parts parts, CancellationToken cancellation)
    {
        parts.Files.Fill();
        await Task.Delay(FaultTime, cancellation).ConfigureAwait(false);
        parts.Files.Free();
        return new Allowance(_clock.Now + FailedActivation, Files: true);
    }

    /// <summary>A server that cannot write its log ends itself; somebody makes room and starts it again.</summary>
    private async Task<Allowance> FillDatabaseAsync(Parts parts, CancellationToken cancellation)
    {
        var began = _clock.Now;
        parts.Disk.Fill();
        await Task.Delay(FaultTime, cancellation).ConfigureAwait(false);
        if (await HasRoomAsync(parts.Server).ConfigureAwait(false))
            _result.Faults.Add("the disk of the database was not full");
        parts.Disk.Free();
        await parts.Server.KillAsync().ConfigureAwait(false);
        await parts.Server.StartAgainAsync().ConfigureAwait(false);
        CheckViews(parts.Silos, began, "the disk of the database was full");
        return new Allowance(_clock.Now + FailedActivation, Postgres: true);
    }

    /// <summary>A fault that does not happen proves nothing.</summary>
    private static async Task<bool> HasRoomAsync(PostgresServer server)
    {
        try
        {
            await server.SqlAsync("create table actop_room as select generate_series(1, 1000000)").ConfigureAwait(false);
            return true;
        }
        catch (InvalidOperationException)
        {
            // Full, or ended because of that.
            return false;
        }
    }

    private void CheckViews(FaultSilos silos, TimeSpan began, string reason)
    {
        if (silos.ChangedSince(began.TotalSeconds) is > 0 and var changed)
            _result.Faults.Add($"{changed} silos changed their view while {reason}");
    }

    private async Task FinishAsync(Parts parts, FaultLoad halo, LedgerLoad load, CancellationToken cancellation)
    {
        var limit = _clock.Now + DrainLimit;
        while (halo.Outstanding + load.Outstanding > 0 && _clock.Now < limit)
            await Task.Delay(10, cancellation).ConfigureAwait(false);
        if (halo.Outstanding + load.Outstanding is > 0 and var open)
            _result.Faults.Add($"{open} requests were never answered");
        // The last word is the storage's: no activation from before is left.
        await StepAsync("the end", halo, load, () => KillAllAsync(parts, cancellation), cancellation).ConfigureAwait(false);
        _result.Verdict = load.Judge();
        if (options.Verbose)
        {
            foreach (var tail in parts.Silos.Tails())
                say(tail);
        }
    }

    private void JudgeAll()
    {
        foreach (var step in _result.Steps)
        {
            foreach ((var error, var count) in step.Others)
                _result.Faults.Add($"{step.Name}: {count} {error}; {step.Examples[error]}");
            if (step.Read != 2 * Ledgers)
                _result.Faults.Add($"{step.Name}: {2 * Ledgers - step.Read} ledgers could not read their record");
        }

        var verdict = _result.Verdict!;
        if (verdict is { Lost: 0, Twice: 0, Interleaved: 0, Acknowledged: > 0 } && _result.Activations is { Doubles: 0, Activations: > 0 })
            return;
        _result.Faults.Add("the books are wrong: " + string.Join("; ", verdict.Texts.Concat(_result.Activations!.Texts)));
    }

    private sealed record Parts(FaultSilos Silos, PostgresServer Server, SmallDisk Files, SmallDisk Disk);
}
