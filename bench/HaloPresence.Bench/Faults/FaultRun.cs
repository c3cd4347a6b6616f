using ActOp.Harness.Activations;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using HaloPresence.Bench.Load;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench.Faults;

/// <summary>The fault experiment: load from this process on silo processes that are ended one after the other and started again.</summary>
public sealed class FaultRun(FaultOptions options, Action<string> say)
{
    /// <summary>
    /// A client asks for the view every second, so requests sent this long after the silos know are no longer excused, unless the client
    /// stood still.
    /// </summary>
    private static readonly TimeSpan Excused = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan DetectionLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(40);
    private readonly MonotonicClock _clock = new();
    private readonly Random _victims = new(options.Halo.Seed);
    private Standstills? _stills;
    private readonly FaultResult _result = new() { Options = options };

    /// <summary>Runs it, bounded in time.</summary>
    public async Task<FaultResult> ExecuteAsync(CancellationToken cancellation)
    {
        await using var server = options.Postgres == FaultOptions.Temporary
            ? await PostgresServer.StartAsync().ConfigureAwait(false) : null;
        var directory = Directory.CreateTempSubdirectory("halo-faults").FullName;
        var silos = new FaultSilos(options, _clock, directory)
        {
            Postgres = server?.ConnectionString ?? options.Postgres,
            Keys = options.Mode == FaultMode.Newcomers ? ClusterKeys.Create(directory) : null,
        };
        try
        {
            await using (silos.ConfigureAwait(false))
                await RunLoadAsync(silos, server, cancellation).ConfigureAwait(false);
            _result.Activations = ActivationCheck.Run(silos.Journals, ActivationLog.NameOf);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
        FaultVerdict.Judge(_result);
        return _result;
    }

    private async Task RunLoadAsync(FaultSilos silos, PostgresServer? server, CancellationToken cancellation)
    {
        say($"starting {options.Halo.Silos} silos");
        await silos.StartAllAsync(cancellation).ConfigureAwait(false);
        using var stills = new Standstills(_clock);
        _stills = stills;
        await using var target = await LoadTarget.ConnectAsync(options.Halo, silos.Gateways, cancellation, silos.Keys).ConfigureAwait(false);
        var load = new FaultLoad(options, target, _clock);
        await load.SetUpAsync(cancellation).ConfigureAwait(false);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        var sending = Task.Factory.StartNew(() => load.Run(stop.Token), stop.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        try
        {
            await Task.Delay(Quiet, cancellation).ConfigureAwait(false);
            Count(load.Take(), _result.ErrorsBefore);
            for (var time = 0; time < options.Times; time++)
            {
                if (options.Mode == FaultMode.Roll)
                {
                    for (var silo = 0; silo < options.Halo.Silos; silo++)
                        await EndOneAsync(silos, silo, load, cancellation).ConfigureAwait(false);
                }
                else if (options.Mode == FaultMode.Database)
                {
                    await EndDatabaseAsync(silos, server!, load, cancellation).ConfigureAwait(false);
                }
                else if (options.Mode == FaultMode.Newcomers)
                {
                    var kinds = Enum.GetValues<WrongSetting>();
                    await JoinAsync(silos, kinds[time % kinds.Length], load, cancellation).ConfigureAwait(false);
                }
                else
                {
                    // With a database, the first silo is one like the others, and each has its turn.
                    var victim = options.Postgres is null ? _victims.Next(1, options.Halo.Silos) : time % options.Halo.Silos;
                    await EndOneAsync(silos, victim, load, cancellation).ConfigureAwait(false);
                }
            }
        }
        finally
        {
            load.End();
            await sending.WaitAsync(CancellationToken.None).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        await FinishAsync(silos, load, cancellation).ConfigureAwait(false);
    }

    private async Task EndOneAsync(FaultSilos silos, int victim, FaultLoad load, CancellationToken cancellation)
    {
        if (_result.Kills is [.., { } previous])
            previous.ActivationsOfNewSilo = silos.ActivationsOf(previous.Silo);
        var began = _clock.Now;
        var dropped = options.Mode switch
        {
            FaultMode.Kill => await KillAsync(silos, victim, began, cancellation).ConfigureAwait(false),
            FaultMode.Pause => await PauseAsync(silos, victim, began, cancellation).ConfigureAwait(false),
            FaultMode.RestartAll => null,
            _ => await StopAsync(silos, victim, began, cancellation).ConfigureAwait(false),
        };
        var half = options.Mode == FaultMode.Roll ? 0 : options.Interval / 2;
        TimeSpan restart;
        if (options.Mode == FaultMode.RestartAll)
        {
            await silos.KillAllAsync().ConfigureAwait(false);
            restart = _clock.Now;
            await silos.StartAllAsync(cancellation).ConfigureAwait(false);
            // Until all are there again, requests fail: there is nobody.
            dropped = _clock.Now.TotalSeconds;
        }
        else
        {
            await DelayUntil(began + TimeSpan.FromSeconds(half), cancellation).ConfigureAwait(false);
            restart = _clock.Now;
            if (options.Mode != FaultMode.Pause || dropped is not null)
                await silos.RestartAsync(victim, cancellation).ConfigureAwait(false);
        }
        var rejoined = (_clock.Now - restart).TotalSeconds;
        await DelayUntil(Later(began + TimeSpan.FromSeconds(options.Interval), _clock.Now + Quiet), cancellation).ConfigureAwait(false);
        // A pause that nobody noticed is over when the silo goes on.
        if (options.Mode == FaultMode.Pause)
            dropped ??= began.TotalSeconds + options.Pause;
        var one = Assess(victim, began, dropped, load.Take()) with { Rejoined = rejoined };
        _result.Kills.Add(one);
        say($"{_result.Kills.Count,3}: silo {victim} dropped by all after {one.Detected * 1000:0} ms; failed {one.Errors.Values.Sum()} of {one.Requests} requests ({Text(one.Errors)}), late {one.LateErrors.Values.Sum()}{Text(one.LateErrors, " ")}; "
            + $"last error after {one.LastError * 1000:0} ms; longest wait {one.LongestWait * 1000:0} ms; joined again in {rejoined:0.0} s");
    }

    /// <summary>The silos must neither drop each other nor fail a request while the database is gone.</summary>
    private async Task EndDatabaseAsync(FaultSilos silos, PostgresServer server, FaultLoad load, CancellationToken cancellation)
    {
        var began = _clock.Now;
        await server.KillAsync().ConfigureAwait(false);
        await DelayUntil(began + TimeSpan.FromSeconds(options.Pause), cancellation).ConfigureAwait(false);
        await server.StartAgainAsync().ConfigureAwait(false);
        await DelayUntil(Later(began + TimeSpan.FromSeconds(options.Interval), _clock.Now + Quiet), cancellation).ConfigureAwait(false);
        var one = Assess(0, began, began.TotalSeconds, load.Take());
        _result.Kills.Add(one);
        if (silos.ChangedSince(began.TotalSeconds) is > 0 and var changed)
            _result.Faults.Add($"{changed} silos changed their view while the database was gone");
        say($"{_result.Kills.Count,3}: the database was gone for {options.Pause:0.0} s; failed {one.Errors.Values.Sum() + one.LateErrors.Values.Sum()} of {one.Requests} requests; "
            + $"longest wait {one.LongestWait * 1000:0} ms");
    }

    /// <summary>Silos with a wrong setting must end, and the members neither drop each other nor fail a request meanwhile.</summary>
    private async Task JoinAsync(FaultSilos silos, WrongSetting wrong, FaultLoad load, CancellationToken cancellation)
    {
        var began = _clock.Now;
        var joining = silos.StartNewcomers(wrong);
        string reason;
        await using (joining.ConfigureAwait(false))
        {
            _result.Faults.AddRange(await joining.WaitAsync(wrong, cancellation).ConfigureAwait(false));
            reason = joining.Reason;
        }

        await DelayUntil(Later(began + TimeSpan.FromSeconds(options.Interval), _clock.Now + Quiet), cancellation).ConfigureAwait(false);
        var one = Assess(0, began, began.TotalSeconds, load.Take());
        _result.Kills.Add(one);
        if (silos.LostSince(began.TotalSeconds) is > 0 and var lost)
            _result.Faults.Add($"{lost} silos dropped a member when silos with a wrong {Name(wrong)} tried to join");
        say($"{_result.Kills.Count,3}: {options.Newcomers} with a wrong {Name(wrong)}; failed {one.Errors.Values.Sum() + one.LateErrors.Values.Sum()} of {one.Requests} requests; "
            + $"longest wait {one.LongestWait * 1000:0.0} ms, 99.9 % within {one.P999 * 1000:0.0} ms; stood still {one.StoodStill * 1000:0} ms. {reason}");
    }

    private static string Name(WrongSetting wrong) => wrong.ToString().ToLowerInvariant();

    private async Task<double?> KillAsync(FaultSilos silos, int victim, TimeSpan began, CancellationToken cancellation)
    {
        await silos.KillAsync(victim).ConfigureAwait(false);
        return await DroppedAsync(silos, victim, began, cancellation).ConfigureAwait(false);
    }

    /// <summary>When all had dropped it, after which its process is over; null when it goes on as a member.</summary>
    private async Task<double?> PauseAsync(FaultSilos silos, int victim, TimeSpan began, CancellationToken cancellation)
    {
        await silos.PauseAsync(victim).ConfigureAwait(false);
        var paused = _clock.Now;
        await DelayUntil(paused + TimeSpan.FromSeconds(options.Pause), cancellation).ConfigureAwait(false);
        await silos.ContinueAsync(victim).ConfigureAwait(false);
        // Some may know of it and others be about to learn.
        await Task.Delay(Quiet, cancellation).ConfigureAwait(false);
        var dropped = silos.DroppedByAll(victim, began.TotalSeconds);
        if (dropped is not null)
            await silos.KillPausedAsync(victim, paused).ConfigureAwait(false);
        return dropped;
    }

    private async Task<double?> StopAsync(FaultSilos silos, int victim, TimeSpan began, CancellationToken cancellation)
    {
        var stopping = silos.StopAsync(victim);
        var dropped = await DroppedAsync(silos, victim, began, cancellation).ConfigureAwait(false);
        await stopping.ConfigureAwait(false);
        return dropped;
    }

    private async Task<double?> DroppedAsync(FaultSilos silos, int victim, TimeSpan began, CancellationToken cancellation)
    {
        var limit = began + DetectionLimit;
        double? dropped;
        while ((dropped = silos.DroppedByAll(victim, began.TotalSeconds)) is null && _clock.Now < limit)
            await Task.Delay(5, cancellation).ConfigureAwait(false);
        return dropped;
    }

    private KillResult Assess(int victim, TimeSpan began, double? dropped, List<Answer> answers)
    {
        var detected = dropped is { } at ? at - began.TotalSeconds : -1;
        var stoodStill = _stills!.Since(began);
        var excused = began + TimeSpan.FromSeconds(Math.Max(detected, 0)) + Excused + stoodStill;
        var result = new KillResult { Silo = victim, Detected = detected, StoodStill = stoodStill.TotalSeconds };
        double lastError = 0;
        double longest = 0;
        long forgotten = 0;
        foreach (var answer in answers)
        {
            longest = Math.Max(longest, (answer.To - answer.From).TotalSeconds);
            if (answer.Error is null)
            {
                forgotten += answer.Messages == 0 ? 1 : 0;
                continue;
            }
            lastError = Math.Max(lastError, (answer.To - began).TotalSeconds);
            var errors = answer.From <= excused ? result.Errors : result.LateErrors;
            errors[answer.Error] = errors.GetValueOrDefault(answer.Error) + 1;
            result.Examples.TryAdd(answer.Error, $"{(answer.From - began).TotalSeconds:0.000} s after the kill: {answer.Text}");
        }
        return result with
        {
            Requests = answers.Count,
            LastError = lastError,
            Healthy = Math.Max(lastError, detected),
            LongestWait = longest,
            P999 = Quantile(answers, 0.999),
            Forgotten = forgotten
        };
    }

    private async Task FinishAsync(FaultSilos silos, FaultLoad load, CancellationToken cancellation)
    {
        var limit = _clock.Now + DrainLimit;
        while (load.Outstanding > 0 && _clock.Now < limit)
            await Task.Delay(10, cancellation).ConfigureAwait(false);
        if (load.Outstanding > 0)
            _result.Faults.Add($"{load.Outstanding} requests were never answered");
        var rest = load.Take();
        var late = new SortedDictionary<string, long>();
        Count(rest, late);
        if (late.Count > 0)
            _result.Faults.Add($"failures at the end: {Text(late)}; for example, {Example(rest)}");
        if (_result.Kills is [.., { } last])
            last.ActivationsOfNewSilo = silos.ActivationsOf(last.Silo);
        say("asking every player");
        _result.Asked = load.Players;
        _result.Silent = await load.AskEveryoneAsync(cancellation).ConfigureAwait(false);
        _result.GamesToldAgain = load.Told;
        if (options.Verbose)
        {
            foreach (var tail in silos.Tails())
                say(tail);
        }
    }

    private static double Quantile(List<Answer> answers, double share)
    {
        if (answers.Count == 0)
            return 0;
        double[] sorted = [.. answers.Select(static answer => (answer.To - answer.From).TotalSeconds).Order()];
        return sorted[(int)(share * (sorted.Length - 1))];
    }

    private static string Example(List<Answer> answers)
    {
        var failed = answers.First(answer => answer.Error is not null);
        return $"{failed.Text} It waited {(failed.To - failed.From).TotalSeconds:0.0} s.";
    }

    private async Task DelayUntil(TimeSpan time, CancellationToken cancellation)
    {
        var left = time - _clock.Now;
        if (left > TimeSpan.Zero)
            await Task.Delay(left, cancellation).ConfigureAwait(false);
    }

    private static void Count(List<Answer> answers, SortedDictionary<string, long> errors)
    {
        foreach (var answer in answers)
        {
            if (answer.Error is { } error)
                errors[error] = errors.GetValueOrDefault(error) + 1;
        }
    }

    private static TimeSpan Later(TimeSpan one, TimeSpan other) => one > other ? one : other;

    private static string Text(SortedDictionary<string, long> errors, string before = "") =>
        errors.Count == 0 ? "" : before + string.Join(", ", errors.Select(pair => $"{pair.Value} {pair.Key}"));
}

/// <summary>How one request of the load went.</summary>
/// <param name="From">When it was sent, monotonic.</param>
/// <param name="To">When it was answered or failed.</param>
/// <param name="Messages">Grain messages that the answer took; fewer than a full game's say that somebody has forgotten the game.</param>
/// <param name="Error">The type of the exception; null for an answer.</param>
/// <param name="Text">The exception's message.</param>
public readonly record struct Answer(TimeSpan From, TimeSpan To, int Messages, string? Error, string? Text);
