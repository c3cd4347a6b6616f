namespace DropIn;

public interface ITimed : IGrainWithStringKey
{
    Task Tick(string journal, int times);

    Task TickOnce(string journal);

    Task TickFailing(string journal);

    Task TickLater(string journal);

    Task TickBeside(string journal, string gate, bool interleave);

    Task TickUntilDisposed(string journal);

    Task<string> TryTimes();

    Task Beside();
}

public sealed class TimedGrain : Grain, ITimed
{
    private static readonly TimeSpan Brief = TimeSpan.FromMilliseconds(1);

    public Task Tick(string journal, int times)
    {
        IGrainTimer? timer = null;
        var ticks = 0;
        timer = this.RegisterGrainTimer(
            static (state, _) => state(),
            () =>
            {
                Journal.Of(journal).Add("tick " + ++ticks);
                if (ticks == times)
                {
                    timer!.Dispose();
                    Journal.Of(journal).Add("disposed");
                }

                return Task.CompletedTask;
            },
            new GrainTimerCreationOptions(Brief, Brief));
        return Task.CompletedTask;
    }

    public Task TickOnce(string journal)
    {
        this.RegisterGrainTimer(
            () =>
            {
                Journal.Of(journal).Add("once on " + this.GetPrimaryKeyString());
                this.RegisterGrainTimer(
                    () => Task.FromResult(() => Journal.Of(journal)).ContinueWith(one => one.Result().Add("second"), TaskScheduler.Current),
                    TimeSpan.Zero, Timeout.InfiniteTimeSpan);
                return Task.CompletedTask;
            },
            TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        return Task.CompletedTask;
    }

    public Task TickFailing(string journal)
    {
        var ticks = 0;
        this.RegisterGrainTimer(
            () =>
            {
                Journal.Of(journal).Add("tick " + ++ticks);
                return ticks == 1 ? throw new InvalidOperationException("The tick fails.") : Task.CompletedTask;
            },
            Brief, Brief);
        return Task.CompletedTask;
    }

    public Task TickLater(string journal)
    {
        var timer = this.RegisterGrainTimer(
            () =>
            {
                Journal.Of(journal).Add("tick");
                return Task.CompletedTask;
            },
            TimeSpan.FromDays(1), Timeout.InfiniteTimeSpan);
        timer.Change(Brief, Timeout.InfiniteTimeSpan);
        return Task.CompletedTask;
    }

    public Task TickBeside(string journal, string gate, bool interleave)
    {
        this.RegisterGrainTimer(
            async _ =>
            {
                Journal.Of(journal).Add("begin");
                await Gate.PassAsync(gate);
                Journal.Of(journal).Add("end");
            },
            new GrainTimerCreationOptions(TimeSpan.Zero, Timeout.InfiniteTimeSpan) { Interleave = interleave });
        return Task.CompletedTask;
    }

    public Task TickUntilDisposed(string journal)
    {
        IGrainTimer? timer = null;
        timer = this.RegisterGrainTimer(
            token =>
            {
                Journal.Of(journal).Add("before " + token.IsCancellationRequested);
                timer!.Dispose();
                Journal.Of(journal).Add("after " + token.IsCancellationRequested);
                return Task.CompletedTask;
            },
            TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        return Task.CompletedTask;
    }

    public Task<string> TryTimes()
    {
        string Try(TimeSpan due, TimeSpan period)
        {
            try
            {
                this.RegisterGrainTimer(static () => Task.CompletedTask, due, period).Dispose();
                return "fine";
            }
            catch (Exception exception)
            {
                return exception.GetType().Name + " " + (exception as ArgumentException)?.ParamName;
            }
        }

        return Task.FromResult(string.Join(", ", Try(TimeSpan.FromSeconds(-5), Brief), Try(Brief, TimeSpan.FromSeconds(-5)),
            Try(Brief, TimeSpan.Zero), Try(Timeout.InfiniteTimeSpan, Brief), Try(TimeSpan.FromDays(50), Brief)));
    }

    public Task Beside()
    {
        Journal.Of(this.GetPrimaryKeyString()).Add("beside");
        return Task.CompletedTask;
    }
}

/// <summary>Timers of grains.</summary>
public class TimerTests(CommonCluster cluster)
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private string Name => _made.Name;

    private ITimed Grain => cluster.Client.GetGrain<ITimed>(Name);

    [Fact]
    public async Task A_timer_ticks_until_it_is_disposed()
    {
        await Grain.Tick(Name, 3);
        await _made.Journal.HasAsync("disposed");
        await Grain.Beside();
        Assert.Equal(["tick 1", "tick 2", "tick 3", "disposed", "beside"], _made.Journal.Lines);
    }

    [Fact]
    public async Task A_timer_without_a_period_ticks_once()
    {
        await Grain.TickOnce(Name);
        await _made.Journal.HasAsync("second");
        Assert.Equal(["once on " + Name, "second"], _made.Journal.Lines);
    }

    [Fact]
    public async Task A_timer_ticks_on_after_an_exception()
    {
        await Grain.TickFailing(Name);
        await _made.Journal.HasAsync("tick 3");
    }

    [Fact]
    public async Task A_timer_can_be_changed()
    {
        await Grain.TickLater(Name);
        await _made.Journal.HasAsync("tick");
    }

    [Theory]
    [InlineData(true, "begin beside end")]
    [InlineData(false, "begin end beside")]
    public async Task A_tick_is_a_turn_that_others_wait_for_unless_it_interleaves(bool interleave, string lines)
    {
        using var gate = new Gate();
        await Grain.TickBeside(Name, gate.Name, interleave);
        await gate.ArrivedAsync();
        var beside = Grain.Beside();
        if (interleave)
            await beside;
        gate.Open();
        await beside;
        await _made.Journal.CountAsync(3);
        Assert.Equal(lines, string.Join(' ', _made.Journal.Lines));
    }

    [Fact]
    public async Task The_token_of_a_tick_is_cancelled_when_its_timer_is_disposed()
    {
        await Grain.TickUntilDisposed(Name);
        await _made.Journal.CountAsync(2);
        Assert.Equal(["before False", "after True"], _made.Journal.Lines);
    }

    [Fact]
    public async Task Times_that_no_timer_can_have_are_refused() =>
        Assert.Equal("ArgumentOutOfRangeException dueTime, ArgumentOutOfRangeException period, fine, fine, "
            + "ArgumentOutOfRangeException dueTime", await Grain.TryTimes());
}
