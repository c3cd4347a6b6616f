using System.Collections.Concurrent;
using System.Globalization;
using ActOp.Harness.Activations;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Outages.Checks;
using ActOp.Outages.Cluster;
using ActOp.Outages.Networks;
using Npgsql;

namespace ActOp.Outages.Runs;

/// <summary>One run: silos, clients and a database in namespaces, faults one after the other, and then the checks.</summary>
/// <remarks>Owns everything that it starts, until it returns.</remarks>
internal sealed class OutageRun(OutageOptions options, Action<string> say)
{
    /// <summary>
    /// After a fault, silos may have to find a silent one dead, 4 s, and to wait for the rest of its lease.
    /// </summary>
    private static readonly TimeSpan Detection = TimeSpan.FromSeconds(5);

    /// <summary>A process starts in a second, but not on a machine that does other things.</summary>
    private static readonly TimeSpan Joining = TimeSpan.FromSeconds(60);

    /// <summary>For so long nothing must change until all has settled: clients ask for the view once a second.</summary>
    private static readonly TimeSpan Calm = TimeSpan.FromSeconds(3);

    /// <summary>After that, nothing may fail for so long before the next fault.</summary>
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2.5);
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(120);
    private static readonly TimeSpan ArrivalLimit = TimeSpan.FromSeconds(75);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    private readonly MonotonicClock _clock = new();
    private readonly OutageResult _result = new() { Options = options };
    private readonly List<Window> _windows = [];
    private readonly ConcurrentQueue<StillLine> _stills = new();

    private int DatabasePort => options.Silos;

    /// <summary>So long after its end a fault explains failures, unless all has settled before.</summary>
    private TimeSpan Excused => Detection + TimeSpan.FromSeconds(options.Lease) + Calm;

    /// <summary>Runs it.</summary>
    internal async Task<OutageResult> ExecuteAsync(CancellationToken cancellation)
    {
        foreach (var name in await Namespaces.RemoveLeftoversAsync().ConfigureAwait(false))
            say("removed " + name + ", left by a run that is gone");
        var folder = options.Keep ?? Directory.CreateTempSubdirectory("actop-outages-").FullName;
        Directory.CreateDirectory(folder);
        var start = DateTime.UtcNow;
        // The database runs as another user, and reads its clock there.
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(folder, File.GetUnixFileMode(folder) | UnixFileMode.OtherExecute | UnixFileMode.OtherRead);
        try
        {
            await using var spaces = new Namespaces();
            var names = new List<string>();
            for (var silo = 0; silo < options.Silos; silo++)
                names.Add(await spaces.AddAsync("silo-" + silo).ConfigureAwait(false));
            names.Add(await spaces.AddAsync("database").ConfigureAwait(false));
            for (var client = 0; client < options.Clients; client++)
                names.Add(await spaces.AddAsync("client-" + client).ConfigureAwait(false));
            using var network = await Switch.ConnectAsync(names, options.Seed).ConfigureAwait(false);
            await RunAsync(folder, names, network, cancellation).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            throw new TimeoutException("A process did not start or end in time. --keep DIR keeps what they say.");
        }
        finally
        {
            FakeClock.RemoveLeftovers(start);
            if (options.Keep is null)
                Directory.Delete(folder, recursive: true);
        }

        return _result;
    }

    private async Task RunAsync(string folder, List<string> names, Switch network, CancellationToken cancellation)
    {
        var databaseClock = new FakeClock(Path.Combine(folder, "clock-database"));
        var place = new PostgresPlace(
            Namespaces.In(names[DatabasePort]), databaseClock.Command, Switch.AddressOf(DatabasePort), Switch.Network);
        await using var server = await PostgresServer.StartAtAsync(place).ConfigureAwait(false);
        var silos = new Silos(options, folder, [.. names.Take(options.Silos)], server.ConnectionString, _stills.Enqueue);
        using var stills = StillLine.Watch(_stills.Enqueue);
        using var busy = new BusyWatch(_stills.Enqueue);
        var began = _clock.Now;
        await using (silos.ConfigureAwait(false))
        {
            for (var silo = 0; silo < options.Silos; silo++)
                silos.Start(silo);
            await WaitAsync(() => silos.CountEnded() == 0 && silos.AllSee(_clock.Now), StartLimit, cancellation).ConfigureAwait(false);
            say($"{options.Silos} silos are in all views after {Seconds(_clock.Now - began)} s");
            var clients = new Clients(options, folder, [.. names.Skip(options.Silos + 1)], server.ConnectionString, _stills.Enqueue);
            await using (clients.ConfigureAwait(false))
            {
                await clients.StartAsync(_clock.Now, StartLimit, cancellation).ConfigureAwait(false);
                say($"{options.Clients} clients call");
                var faults = new Faults(options, silos, server, databaseClock, network, DatabasePort);
                await PlayAsync(faults, silos, network, cancellation).ConfigureAwait(false);
                await clients.StopAsync(cancellation).ConfigureAwait(false);
            }

            await JudgeAsync(silos, clients, cancellation).ConfigureAwait(false);
            await CountDeadLettersAsync(server).ConfigureAwait(false);
        }

        _result.Runnable = busy.Highest;
        (_result.Packets, _result.LostPackets) = network.Count();
        var activations = ActivationCheck.Run(
            silos.Journals.Select(static path => (path, TimeSpan.Zero)), static kind => ((Role)kind).ToString(), silos.IsInterrupted);
        _result.Activations = activations;
        if (activations.Activations == 0)
            _result.Faults.Add("no activation was written down");
        _result.Faults.AddRange(activations.Texts.Select(static text => "two activations at once: " + text));
    }

    private async Task PlayAsync(Faults faults, Silos silos, Switch network, CancellationToken cancellation)
    {
        await DelayAsync(Quiet, cancellation).ConfigureAwait(false);
        var end = _clock.Now + TimeSpan.FromMinutes(options.Minutes);
        var number = 0;
        foreach (var fault in Schedule.Draw(options.Seed, options.Silos, options.Clients, options.Faults))
        {
            if (_clock.Now >= end)
                break;
            if (silos.CountEnded() > 0)
                _result.Faults.Add($"a silo ended without a fault: {silos.Text()}");
            var from = _clock.Now;
            await faults.BeginAsync(fault).ConfigureAwait(false);
            await DelayAsync(TimeSpan.FromSeconds(fault.Seconds), cancellation).ConfigureAwait(false);
            await faults.EndAsync(fault).ConfigureAwait(false);
            var healed = _clock.Now;
            var settled = await SettleAsync(fault, silos, healed, cancellation).ConfigureAwait(false);
            _windows.Add(new Window(fault, from.Ticks, healed.Ticks, Math.Min(settled.Ticks, (healed + Excused).Ticks), settled.Ticks));
            var lost = silos.LostSince(from);
            say($"{++number,3}: {fault}; from {Seconds(from)} to {Seconds(healed)}, settled after {Seconds(settled - healed)} s; {lost} views lost a member");
            if (lost > 0 && Explanations.KeepsMembers(fault.Kind) && !StoodStillSince(from))
                _result.Faults.Add($"{fault}: {lost} views lost a member");
            if (network.Failure is { } failure)
                throw new InvalidOperationException("The network between the namespaces failed.", failure);
            await DelayAsync(Quiet, cancellation).ConfigureAwait(false);
        }
    }

    /// <summary>Waits until all silos are in all views again; what has ended is started, as an orchestrator does.</summary>
    private async Task<TimeSpan> SettleAsync(Fault fault, Silos silos, TimeSpan healed, CancellationToken cancellation)
    {
        var limit = healed + Excused + Joining;
        while (_clock.Now < limit)
        {
            silos.StartEnded();
            if (_clock.Now - healed >= Calm && silos.AllSee(_clock.Now - Calm))
                return _clock.Now;
            await DelayAsync(Poll, cancellation).ConfigureAwait(false);
        }

        _result.Faults.Add($"{fault}: not all silos are in all views {Seconds(limit - healed)} s after it: {silos.Text()}");
        await WaitAsync(() => silos.AllSee(_clock.Now - Calm), StartLimit, cancellation).ConfigureAwait(false);
        return _clock.Now;
    }

    private async Task JudgeAsync(Silos silos, Clients clients, CancellationToken cancellation)
    {
        var calls = clients.Read();
        AddStandstills();
        say($"checking {calls.Count} calls");
        var waited = _clock.Now;
        StreamFindings streams;
        while (true)
        {
            streams = StreamCheck.Run(calls, silos.Arrivals.SelectMany(ActivationJournal.Read));
            if (!streams.Faults.Exists(static fault => fault.Contains("did not arrive", StringComparison.Ordinal))
                || _clock.Now - waited > ArrivalLimit)
            {
                break;
            }

            await DelayAsync(TimeSpan.FromSeconds(1), cancellation).ConfigureAwait(false);
        }

        _result.ArrivedAfter = (_clock.Now - waited).TotalSeconds;
        _result.Streams = streams;
        _result.History = HistoryCheck.Run(calls, _windows);
        _result.Faults.AddRange(streams.Faults);
        _result.Faults.AddRange(_result.History.Faults);
        _result.Ended = silos.Ended.Count;
        Tally.Count(calls, _windows, _result);
    }

    /// <summary>
    /// A machine that is busy with other things is a fault that nobody planned: it explains failures, and is counted apart.
    /// </summary>
    private void AddStandstills()
    {
        // Those that a pause explains are no news.
        var stills = _stills.Where(still => !_windows.Exists(window => window.Fault?.Kind == FaultKind.Pause
            && window.From <= still.Until - still.Still && window.Until >= still.Until));
        _windows.AddRange(Explanations.Merge(stills, Calm.Ticks));
    }

    private bool StoodStillSince(TimeSpan since) => _stills.Any(still => still.Until >= since.Ticks);

    /// <summary>An item that was given up was acknowledged, and did not arrive.</summary>
    private async Task CountDeadLettersAsync(PostgresServer server)
    {
        await using var source = NpgsqlDataSource.Create($"Host={server.Host};Username=postgres;Database=postgres");
        await using var command = source.CreateCommand("select count(*) from actop_stream_dead");
        _result.DeadLetters = Convert.ToInt64(await command.ExecuteScalarAsync().ConfigureAwait(false), CultureInfo.InvariantCulture);
        if (_result.DeadLetters > 0)
            _result.Faults.Add($"{_result.DeadLetters} items of streams were given up");
    }

    private async Task WaitAsync(Func<bool> condition, TimeSpan limit, CancellationToken cancellation)
    {
        var end = _clock.Now + limit;
        while (!condition())
        {
            if (_clock.Now > end)
                throw new TimeoutException($"The silos are not in all views within {limit.TotalSeconds} s. --keep DIR keeps what they say.");
            await DelayAsync(Poll, cancellation).ConfigureAwait(false);
        }
    }

    private static Task DelayAsync(TimeSpan time, CancellationToken cancellation) => Task.Delay(time, TimeProvider.System, cancellation);

    private static string Seconds(TimeSpan time) => time.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture);
}
