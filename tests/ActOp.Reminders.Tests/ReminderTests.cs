using System.Collections.Concurrent;
using ActOp.Reminders;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;

namespace ActOp.Reminders.Tests;

/// <summary>Reminders of grains, in virtual time.</summary>
public class ReminderTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    [Fact]
    public async Task A_reminder_ticks_at_its_times_and_activates_its_grain()
    {
        await using var silos = await Silos.DeployAsync();
        var grain = silos.NewGrain();
        await grain.Register("r", TimeSpan.FromSeconds(30), Minute);
        await silos.PassAsync(TimeSpan.FromSeconds(29));
        Assert.Empty(grain.Ticks());
        await silos.PassAsync(TimeSpan.FromSeconds(61));
        Assert.Equal(2, grain.Ticks().Length);
        await silos.EndAsync(grain);
        await silos.PassAsync(3 * Minute);
        var ticks = grain.Ticks();
        Assert.Equal([0, 1, 2, 3, 4], ticks.Select(IndexOf));
        Assert.All(ticks, tick => Assert.Equal(Minute, tick.Period));
        Assert.Single(ticks.Select(static tick => tick.FirstTickTime).Distinct());
        Assert.Equal(DateTimeKind.Utc, ticks[0].CurrentTickTime.Kind);
    }

    [Fact]
    public async Task Each_of_many_reminders_ticks_once_a_period_by_the_owner_of_its_slot()
    {
        await using var silos = await Silos.DeployAsync();
        var grains = Enumerable.Range(0, 200).Select(_ => silos.NewGrain()).ToArray();
        await Task.WhenAll(grains.Select(grain => grain.Register("r", Minute, Minute)));
        Assert.Equal(200, silos.Services.Sum(static service => service.Count));
        Assert.All(silos.Services, static service => Assert.InRange(service.Count, 1, 199));
        await silos.PassAsync(3 * Minute);
        Assert.All(grains, grain => Assert.Equal([0, 1, 2], grain.Ticks().Select(IndexOf)));
    }

    [Fact]
    public async Task A_reminder_that_is_registered_again_has_its_new_times_only()
    {
        await using var silos = await Silos.DeployAsync();
        var grain = silos.NewGrain();
        await grain.Register("r", Minute, Minute);
        await grain.Register("r", 5 * Minute, 10 * Minute);
        await grain.Register("other", 2 * Minute, 10 * Minute);
        await silos.PassAsync(6 * Minute);
        Assert.Equal(2, grain.Ticks().Length);
        Assert.Equal(["other", "r"], await grain.Names());
        Assert.True(await grain.Has("r"));
        Assert.False(await grain.Has("unknown"));
    }

    [Fact]
    public async Task A_reminder_that_was_unregistered_ticks_no_more_and_a_stale_handle_is_refused()
    {
        await using var silos = await Silos.DeployAsync();
        var grain = silos.NewGrain();
        await grain.Register("r", Minute, Minute);
        await silos.PassAsync(Minute);
        await grain.Unregister("r");
        await silos.PassAsync(3 * Minute);
        Assert.Single(grain.Ticks());
        Assert.Empty(await grain.Names());
        await grain.Register("r", Minute, Minute);
        var exception = await Assert.ThrowsAsync<ReminderException>(() => grain.UnregisterStale("r"));
        Assert.Contains("registered again", exception.Message, StringComparison.Ordinal);
        Assert.Equal(["r"], await grain.Names());
    }

    [Fact]
    public async Task A_tick_that_fails_is_logged_and_the_next_one_comes()
    {
        var log = new LogCapture();
        await using var silos = await Silos.DeployAsync(silo => silo.Services.AddSingleton<ILoggerProvider>(log));
        var grain = silos.NewGrain();
        await grain.Register("fails", Minute, Minute);
        await silos.PassAsync(2 * Minute);
        Assert.Equal(2, grain.Ticks().Length);
        Assert.Equal(2, log.Lines(LogLevel.Error).Count(line =>
            line.Contains("reminder fails of " + grain.GetGrainId(), StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_grain_that_has_not_answered_a_tick_gets_no_other_one()
    {
        using var gate = new Gate();
        await using var silos = await Silos.DeployAsync();
        var grain = silos.NewGrain();
        await grain.Register(gate.Name, Minute, Minute);
        // In steps: in a jump, silos would miss the times at which they renew their leases.
        await silos.StepAsync(Minute);
        await gate.ArrivedAsync();
        await silos.StepAsync(3 * Minute);

        gate.Open();
        await silos.PassAsync(Minute);
        Assert.Equal([0, 4], grain.Ticks().Select(IndexOf));
    }

    [Fact]
    public async Task Wrong_arguments_are_refused()
    {
        await using var silos = await Silos.DeployAsync();
        var grain = silos.NewGrain();
        var exception = await Assert.ThrowsAsync<ArgumentException>(() => grain.Register("r", Minute, TimeSpan.FromSeconds(59)));
        Assert.Contains("MinimumReminderPeriod", exception.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ArgumentNullException>(() => grain.Register("", Minute, Minute));
        await Assert.ThrowsAsync<ArgumentNullException>(() => grain.Register(null!, Minute, Minute));
        foreach (var wrong in new[] { TimeSpan.FromTicks(-1), Timeout.InfiniteTimeSpan })
        {
            await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => grain.Register("r", wrong, Minute));
            await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => grain.Register("r", Minute, wrong));
        }

        await Assert.ThrowsAsync<InvalidOperationException>(() => silos.Grains.GetGrain<IForgetful>(1).Register());
        await Assert.ThrowsAsync<InvalidOperationException>(() => silos.Registry.GetReminder(grain.GetGrainId(), "r"));
    }

    [Fact]
    public async Task Without_a_reminder_service_a_grain_learns_what_is_missing()
    {
        await using var none = await SilosInVirtualTime.Deploy(silos: 1);
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => Silos.NewGrain(none).Register("r", Minute, Minute));
        Assert.Contains("UseInMemoryReminderService", exception.Message, StringComparison.Ordinal);
        await using var noTable = await SilosInVirtualTime.Deploy(static silo => silo.AddReminders(), silos: 1);
        await Assert.ThrowsAsync<OrleansConfigurationException>(() => Silos.NewGrain(noTable).Register("r", Minute, Minute));
    }

    [Fact]
    public async Task A_shorter_period_is_accepted_where_the_option_says_so()
    {
        await using var silos = await Silos.DeployAsync(static silo => silo.Configure<ReminderOptions>(static options =>
            options.MinimumReminderPeriod = TimeSpan.FromSeconds(5)));
        var grain = silos.NewGrain();
        await grain.Register("r", TimeSpan.Zero, TimeSpan.FromSeconds(5));
        await silos.PassAsync(TimeSpan.FromSeconds(10));
        Assert.Equal([0, 1, 2], grain.Ticks().Select(IndexOf));
    }

    /// <summary>As when the silos disagreed about the owner while it was written.</summary>
    [Fact]
    public async Task A_reminder_that_was_written_by_others_is_found_by_the_next_read_of_the_table()
    {
        await using var silos = await Silos.DeployAsync(static silo => silo.Configure<ReminderOptions>(static options =>
            options.RefreshReminderListPeriod = TimeSpan.FromMinutes(3)));
        var grain = silos.NewGrain();
        await grain.Register("removed", 4 * Minute, Minute);
        var table = silos.Table;
        var row = Assert.Single((await table.ReadRows(grain.GetGrainId())).Reminders);
        Assert.True(await table.RemoveRow(row.GrainId, row.ReminderName, row.ETag!));
        row.ReminderName = "added";
        row.StartAt = silos.Clock.GetUtcNow().UtcDateTime;
        await table.UpsertRow(row);
        await silos.PassAsync(TimeSpan.FromMinutes(2.5));
        Assert.Empty(grain.Ticks());
        await silos.PassAsync(TimeSpan.FromMinutes(4));
        Assert.Equal([4, 5, 6], grain.Ticks().Select(IndexOf).TakeLast(3));
    }

    [Fact]
    public async Task Reminders_that_are_due_after_the_window_wait_in_the_table()
    {
        await using var silos = await Silos.DeployAsync(static silo => silo.Configure<ReminderOptions>(static options =>
            (options.RefreshReminderListPeriod, options.ReminderLoadingWindow) = (2 * Minute, 7 * Minute)));
        var grain = silos.NewGrain();
        var began = silos.Clock.GetUtcNow();
        await grain.Register("far", 10 * Minute, 30 * Minute);
        await grain.Register("near", 6 * Minute, 30 * Minute);
        Assert.Equal(1, silos.Services.Sum(static service => service.Count));
        await silos.PassAsync(TimeSpan.FromMinutes(10.5), seconds: 5);
        Assert.Equal(2, grain.Ticks().Length);
        for (var step = 0; step < 200 && silos.Services.Any(static service => service.Count > 0); step++)
            await silos.PassAsync(TimeSpan.FromSeconds(5), seconds: 5);
        Assert.All(silos.Services, static service => Assert.Equal(0, service.Count));
        while (silos.Clock.GetUtcNow() < began + (41 * Minute))
            await silos.PassAsync(TimeSpan.FromSeconds(5), seconds: 5);
        Assert.Equal(4, grain.Ticks().Length);
    }

    [Fact]
    public async Task A_table_that_cannot_be_read_is_read_again_and_what_is_known_ticks_meanwhile()
    {
        var log = new LogCapture();
        var table = new SickTable();
        await using var silos = await Silos.DeployAsync(
            silo => silo.Services.AddSingleton<IReminderTable>(table).AddSingleton<ILoggerProvider>(log), silos: 1);
        var grain = silos.NewGrain();
        await grain.Register("r", Minute, Minute);
        table.IsSick = true;
        await silos.PassAsync(8 * Minute);
        Assert.Equal(8, grain.Ticks().Length);
        Assert.Contains(log.Lines(LogLevel.Error), static line => line.Contains("could not be read", StringComparison.Ordinal));
        await Assert.ThrowsAsync<IOException>(() => grain.Register("new", Minute, Minute));
        table.IsSick = false;
        var reads = silos.Services[0].Reads;
        await silos.PassAsync(2 * Minute);
        Assert.True(silos.Services[0].Reads > reads);
        Assert.Equal(10, grain.Ticks().Length);
    }

    /// <summary>Else its next owner, which sends what was due since the slot came here, would send it once more.</summary>
    [Fact]
    public async Task A_reminder_does_not_tick_before_the_reminders_of_its_slot_were_read()
    {
        var table = new SickTable { RefusesReads = true };
        await using var silos = await Silos.DeployAsync(
            silo => silo.Services.AddSingleton<IReminderTable>(table), silos: 1, untilSettled: false);
        var grain = silos.NewGrain();
        await grain.Register("r", TimeSpan.Zero, 30 * Minute);
        await silos.PassAsync(2 * Minute);
        Assert.Empty(grain.Ticks());
        table.RefusesReads = false;
        await silos.PassAsync(2 * Minute);
        Assert.Equal([0], grain.Ticks().Select(IndexOf));
    }

    /// <summary>A read of the table finds the reminder while its registration waits, and sends its ticks.</summary>
    [Fact]
    public async Task A_registration_whose_answer_comes_late_does_not_send_a_tick_again()
    {
        var table = new SickTable();
        await using var silos = await Silos.DeployAsync(silo => silo.Services.AddSingleton<IReminderTable>(table), silos: 1);
        var grain = silos.NewGrain();
        table.Answers = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var registered = silos.OnTurnAsync(async service => await service.Register(
            new ReminderRequest(grain.GetGrainId(), "r", TimeSpan.Zero, Minute)));
        await table.Written.Task;
        await silos.PassAsync(8 * Minute, seconds: 5);
        var ticks = grain.Ticks().Length;
        Assert.NotEqual(0, ticks);
        table.Answers.SetResult();
        await registered;
        await silos.PassAsync(2 * Minute, seconds: 5);
        Assert.Equal(ticks + 2, grain.Ticks().Length);
        Assert.Equal(grain.Ticks().Select(IndexOf).Distinct(), grain.Ticks().Select(IndexOf));
    }

    /// <summary>The message about the change comes before the one that says how far the ticks were sent.</summary>
    [Fact]
    public async Task A_tick_that_the_owner_before_has_sent_is_not_sent_again()
    {
        var table = new SickTable();
        await using var silos = await Silos.DeployAsync(silo => silo.Services.AddSingleton<IReminderTable>(table), silos: 1);
        var move = new Move(silos);
        var grain = silos.NewGrain(move.Moves);
        move.Lose();
        move.Gain();
        await silos.PassAsync(TimeSpan.FromSeconds(1));
        await table.UpsertRow(new ReminderEntry
        {
            GrainId = grain.GetGrainId(),
            ReminderName = "r",
            StartAt = silos.Clock.GetUtcNow().UtcDateTime,
            Period = Minute,
        });
        await silos.OnTurnAsync(service => service.Changed(grain.GetGrainId(), "r").AsTask());
        await silos.PassAsync(TimeSpan.FromSeconds(1));
        await silos.OnTurnAsync(service => service.Release(move.Release(silos.Clock.GetUtcNow().Ticks)).AsTask());
        await silos.PassAsync(2 * Minute);
        Assert.Equal([1, 2], grain.Ticks().Select(IndexOf));
    }

    [Fact]
    public async Task The_first_tick_of_a_reminder_is_sent_when_its_slot_is_lost_while_it_is_registered()
    {
        var table = new SickTable();
        await using var silos = await Silos.DeployAsync(silo => silo.Services.AddSingleton<IReminderTable>(table), silos: 1);
        var move = new Move(silos);
        var grain = silos.NewGrain(move.Moves);
        table.Answers = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var registered = silos.OnTurnAsync(async service => await service.Register(
            new ReminderRequest(grain.GetGrainId(), "r", TimeSpan.Zero, Minute)));
        await table.Written.Task;
        await silos.PassAsync(TimeSpan.FromSeconds(1));
        move.Lose();
        await silos.FenceAsync();
        table.Answers.SetResult();
        await registered;
        await silos.PassAsync(2 * Minute);
        Assert.Equal([0], grain.Ticks().Select(IndexOf));
    }

    [Fact]
    public async Task A_change_by_another_silo_that_cannot_be_read_makes_the_silo_read_all_soon()
    {
        var log = new LogCapture();
        var table = new SickTable();
        await using var silos = await Silos.DeployAsync(
            silo => silo.Services.AddSingleton<IReminderTable>(table).AddSingleton<ILoggerProvider>(log), silos: 1);
        var grain = silos.NewGrain().GetGrainId();
        await table.UpsertRow(new ReminderEntry
        {
            GrainId = grain,
            ReminderName = "r",
            StartAt = silos.Clock.GetUtcNow().UtcDateTime,
            Period = Minute,
            ETag = "9",
        });
        table.RefusesReads = true;
        await silos.OnTurnAsync(service => service.Changed(grain, "r").AsTask());
        table.RefusesReads = false;
        await silos.PassAsync(TimeSpan.FromSeconds(90));
        Assert.Equal(1, silos.Services[0].Count);
        Assert.DoesNotContain(log.Lines(LogLevel.Error), static line => line.Contains("Background work", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_reminder_that_was_ended_and_registered_again_waits_for_the_answer_to_its_last_tick()
    {
        using var gate = new Gate();
        var table = new SickTable();
        await using var silos = await Silos.DeployAsync(silo => silo.Services.AddSingleton<IReminderTable>(table), silos: 1);
        var grain = silos.NewGrain();
        await grain.Register(gate.Name, Minute, Minute);
        await silos.StepAsync(Minute);
        await gate.ArrivedAsync();
        var row = await table.ReadRow(grain.GetGrainId(), gate.Name);
        await silos.OnTurnAsync(async service => await service.Unregister(ReminderHandle.HandleOf(row!)));
        await silos.OnTurnAsync(async service => await service.Register(
            new ReminderRequest(grain.GetGrainId(), gate.Name, TimeSpan.Zero, Minute)));
        await silos.StepAsync(2 * Minute);
        var opened = silos.Clock.GetUtcNow().UtcDateTime;
        gate.Open();
        await silos.PassAsync(2 * Minute);
        Assert.All(grain.Ticks().Skip(1), tick => Assert.True(tick.CurrentTickTime > opened));
        Assert.True(grain.Ticks().Length > 1);
    }

    [Fact]
    public async Task A_read_that_hangs_does_not_outlive_the_silo()
    {
        var log = new LogCapture();
        var table = new SickTable { Hangs = true };
        var silos = await Silos.DeployAsync(
            silo => silo.Services.AddSingleton<IReminderTable>(table).AddSingleton<ILoggerProvider>(log), silos: 1, untilSettled: false);
        await silos.FenceAsync();
        var began = silos.Clock.GetUtcNow();
        await silos.DisposeAsync();
        Assert.True(silos.Clock.GetUtcNow() - began < TimeSpan.FromSeconds(20));
        Assert.DoesNotContain(log.Lines(LogLevel.Warning), static line => line.Contains("background work", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_start_waits_for_the_table_as_long_as_configured()
    {
        var table = new SickTable { Opens = new TaskCompletionSource() };
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => Silos.DeployAsync(
            silo =>
            {
                silo.Services.AddSingleton<IReminderTable>(table);
                silo.Configure<ReminderOptions>(static options => options.InitializationTimeout = TimeSpan.FromSeconds(7));
            }, silos: 1));
        Assert.Contains("ReminderOptions.InitializationTimeout", exception.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_window_that_is_shorter_than_the_time_between_reads_is_refused()
    {
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => Silos.DeployAsync(static silo => silo.Configure<ReminderOptions>(
            static options => options.ReminderLoadingWindow = Minute), silos: 1));
        Assert.Contains("ReminderOptions.ReminderLoadingWindow", exception.ToString(), StringComparison.Ordinal);
    }

    private static long IndexOf(TickStatus tick) => (tick.CurrentTickTime - tick.FirstTickTime).Ticks / tick.Period.Ticks;

    /// <summary>
    /// Silos with reminders; time passes in steps, and each step's ticks have been answered, and its reads have ended, before the next.
    /// </summary>
    private sealed class Silos : IAsyncDisposable
    {
        private readonly SilosInVirtualTime _silos;

        private Silos(SilosInVirtualTime silos, int count)
        {
            _silos = silos;
            Services = [.. Enumerable.Range(0, count).Select(silo =>
                silos.NodeOf(silo).Local.Services.GetRequiredService<ReminderSilo>().Service!)];
        }

        internal ReminderService[] Services { get; }

        internal FakeClock Clock => _silos.Clock;

        internal IGrainFactory Grains => _silos.Grains;

        internal IReminderTable Table => _silos.NodeOf(0).Local.Services.GetRequiredService<IReminderTable>();

        internal Orleans.Timers.IReminderRegistry Registry =>
            _silos.NodeOf(0).Local.Services.GetRequiredService<Orleans.Timers.IReminderRegistry>();

        public ValueTask DisposeAsync() => _silos.DisposeAsync();

        internal static async Task<Silos> DeployAsync(
            Action<ISiloBuilder>? configure = null, short silos = 2, bool untilSettled = true)
        {
            var deployed = new Silos(await SilosInVirtualTime.Deploy(
                silo =>
                {
                    configure?.Invoke(silo);
                    silo.UseInMemoryReminderService();
                }, silos), silos);
            if (untilSettled)
                await deployed.UntilAsync(() => deployed.Services.All(static service => service.IsSettled));
            return deployed;
        }

        internal static IReminded NewGrain(SilosInVirtualTime silos) => silos.Grains.GetGrain<IReminded>(Guid.NewGuid());

        internal IReminded NewGrain() => NewGrain(_silos);

        internal IReminded NewGrain(Func<GrainId, bool> so) => Enumerable.Range(0, int.MaxValue).Select(_ => NewGrain(_silos))
            .First(grain => so(grain.GetGrainId()));

        internal View View => _silos.NodeOf(0).ClusterView.View;

        /// <summary>Time passes; ticks may still run.</summary>
        internal async Task StepAsync(TimeSpan time)
        {
            for (var passed = TimeSpan.Zero; passed < time; passed += TimeSpan.FromSeconds(1))
            {
                Clock.Advance(TimeSpan.FromSeconds(1));
                await FenceAsync();
            }
        }

        internal async Task PassAsync(TimeSpan time, int seconds = 1)
        {
            var step = TimeSpan.FromSeconds(seconds);
            for (var passed = TimeSpan.Zero; passed < time; passed += step)
            {
                Clock.Advance(step);
                await FenceAsync();
                await UntilAsync(() => Services.All(static service => service.Running == 0 && !service.IsReading));
            }
        }

        /// <summary>The services have done what was due.</summary>
        internal async Task FenceAsync()
        {
            foreach (var service in Services)
            {
                var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                service.Host.Enqueue(new ActionItem(static state => ((TaskCompletionSource)state!).SetResult(), done));
                await done.Task.WaitAsync(Gate.Patience);
            }
        }

        /// <summary>Does something on the turns of the only service.</summary>
        internal async Task OnTurnAsync(Func<ReminderService, Task> work)
        {
            var done = new TaskCompletionSource<Task>(TaskCreationOptions.RunContinuationsAsynchronously);
            Services[0].Host.Enqueue(new ActionItem(_ => done.SetResult(work(Services[0])), null));
            await (await done.Task.WaitAsync(Gate.Patience)).WaitAsync(Gate.Patience);
        }

        internal async Task EndAsync(IReminded grain)
        {
            for (var silo = 0; silo < Services.Length; silo++)
            {
                if (!_silos.NodeOf(silo).Activations.TryGet(grain.GetGrainId(), out var activation))
                    continue;
                activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "test"));
                await activation.Deactivated.WaitAsync(Gate.Patience);
            }
        }

        private Task UntilAsync(Func<bool> so) =>
            TestingUtils.WaitUntilAsync(_ => Task.FromResult(so()), Gate.Patience, TimeSpan.FromMilliseconds(1));
    }

    /// <summary>Another silo, which takes slots of the only one and gives them back without saying when its ticks have stopped.</summary>
    private sealed class Move
    {
        private readonly SiloAddress _other = SiloAddress.New(System.Net.IPAddress.Loopback, 9, 9);
        private readonly ReminderService _service;
        private readonly SiloAddress _self;
        private readonly SlotMap _taken;
        private readonly View _active;
        private readonly View _leaving;

        internal Move(Silos silos)
        {
            _service = silos.Services[0];
            var view = silos.View;
            _self = view.Members[0].Silo;
            _active = new View(view.Number + 1, [.. view.Members, new Member(_other, "other", SiloStatus.Active, null, default)]);
            _leaving = new View(view.Number + 2, [.. view.Members, new Member(_other, "other", SiloStatus.ShuttingDown, null, default)]);
            _taken = new SlotMap(view).For(_active);
        }

        internal bool Moves(GrainId grain) => _other.Equals(_taken.OwnerOf(grain));

        internal void Lose() => _service.OnView(_active);

        internal void Gain() => _service.OnView(_leaving);

        internal ReminderRelease Release(long at)
        {
            var slots = new SlotSet();
            for (var slot = 0; slot < SlotMap.SlotCount; slot++)
            {
                if (_other.Equals(_taken.OwnerOf(slot)))
                    slots.Add(slot);
            }

            return new ReminderRelease(slots, at, _leaving.Number);
        }
    }

    /// <summary>A table that fails on demand.</summary>
    private sealed class SickTable : IReminderTable
    {
        private readonly ConcurrentDictionary<(GrainId, string), ReminderEntry> _rows = new();
        private int _tag;

        internal volatile bool IsSick;
        internal volatile bool RefusesReads;
        internal volatile bool Hangs;

        internal TaskCompletionSource? Opens { get; init; }

        /// <summary>What is written is answered then.</summary>
        internal TaskCompletionSource? Answers { get; set; }

        internal TaskCompletionSource Written { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task StartAsync(CancellationToken cancellationToken = default) => Opens?.Task ?? Task.CompletedTask;

        public Task<ReminderTableData> ReadRows(GrainId grainId) =>
            Read(() => new ReminderTableData(_rows.Values.Where(row => row.GrainId.Equals(grainId))));

        public Task<ReminderTableData> ReadRows(uint begin, uint end) => Read(() => new ReminderTableData(
            _rows.Values.Where(row => MemoryReminderTable.IsWithin(row.GrainId.GetUniformHashCode(), begin, end))));

        public Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName) =>
            Read(() => _rows.GetValueOrDefault((grainId, reminderName)));

        public async Task<string?> UpsertRow(ReminderEntry entry)
        {
            var tag = await Do(() => (++_tag).ToString(System.Globalization.CultureInfo.InvariantCulture));
            _rows[(entry.GrainId, entry.ReminderName)] = new ReminderEntry
            {
                GrainId = entry.GrainId,
                ReminderName = entry.ReminderName,
                StartAt = entry.StartAt,
                Period = entry.Period,
                ETag = tag,
            };
            Written.TrySetResult();
            await (Answers?.Task ?? Task.CompletedTask);
            return tag;
        }

        public Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag) =>
            Do(() => _rows.TryRemove((grainId, reminderName), out _));

        public Task TestOnlyClearTable() => Task.CompletedTask;

        private Task<T> Read<T>(Func<T> step) => Hangs ? new TaskCompletionSource<T>().Task
            : RefusesReads ? Task.FromException<T>(new IOException("The table refuses.")) : Do(step);

        private Task<T> Do<T>(Func<T> step) =>
            IsSick ? Task.FromException<T>(new IOException("The table is sick.")) : Task.FromResult(step());
    }

    public interface IForgetful : IGrainWithIntegerKey
    {
        Task Register();
    }

    public sealed class ForgetfulGrain : Grain, IForgetful
    {
        public Task Register() => this.RegisterOrUpdateReminder("r", Minute, Minute);
    }
}
