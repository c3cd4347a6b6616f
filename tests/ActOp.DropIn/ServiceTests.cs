using Microsoft.Extensions.Logging;
using Orleans.Runtime.Services;
using Orleans.Services;

namespace DropIn;

public interface ICounterService : IGrainService
{
    Task<string> Count(string name);
}

/// <summary>One in each silo, which a grain reaches by its client.</summary>
public sealed class CounterService(GrainId id, Silo silo, ILoggerFactory loggers, ILocalSiloDetails details)
    : GrainService(id, silo, loggers), ICounterService
{
    private int _count;
    private string _state = "";

    public override Task Init(IServiceProvider serviceProvider)
    {
        _state += "i";
        return base.Init(serviceProvider);
    }

    public override Task Start()
    {
        _state += "s";
        return base.Start();
    }

    public Task<string> Count(string name) => Task.FromResult($"{name} {_state} {++_count} {details.Name}");
}

public interface ICounterClient : IGrainServiceClient<ICounterService>
{
    Task<string> Count(string name);

    Task<string> CountOn(SiloAddress silo, string name);
}

public sealed class CounterClient(IServiceProvider services) : GrainServiceClient<ICounterService>(services), ICounterClient
{
    public Task<string> Count(string name) => GetGrainService(CurrentGrainReference.GrainId).Count(name);

    public Task<string> CountOn(SiloAddress silo, string name) => GetGrainService(silo).Count(name);
}

public interface IServed : IGrainWithStringKey
{
    Task<string> Count();

    Task<string> CountOn(SiloAddress silo);
}

public sealed class ServedGrain(ICounterClient counter) : Grain, IServed
{
    public Task<string> Count() => counter.Count(this.GetPrimaryKeyString());

    public Task<string> CountOn(SiloAddress silo) => counter.CountOn(silo, this.GetPrimaryKeyString());
}

public interface IReminded : IGrainWithStringKey, IRemindable
{
    Task Remind(string name, TimeSpan due, TimeSpan period);

    Task<string> Names();

    Task Forget(string name);

    Task<string> Try(string? name, TimeSpan due, TimeSpan period);

    Task<string> Cancelled(CancellationToken cancellationToken);

    Task End();
}

public sealed class RemindedGrain : Grain, IReminded
{
    private int _ticks;

    public Task Remind(string name, TimeSpan due, TimeSpan period) => this.RegisterOrUpdateReminder(name, due, period);

    public async Task<string> Names()
    {
        var all = await this.GetReminders();
        var one = all.Count > 0 ? (await this.GetReminder(all[0].ReminderName))!.ReminderName : "none";
        var names = string.Join(',', all.Select(static reminder => reminder.ReminderName).Order());
        return $"{names} {one} {await this.GetReminder("nothing") is null}";
    }

    public async Task Forget(string name) => await this.UnregisterReminder((await this.GetReminder(name))!);

    public async Task<string> Try(string? name, TimeSpan due, TimeSpan period)
    {
        try
        {
            await this.RegisterOrUpdateReminder(name!, due, period);
            return "fine";
        }
        catch (Exception exception)
        {
            return exception.GetType().Name;
        }
    }

    public async Task<string> Cancelled(CancellationToken cancellationToken)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var reminder = await this.RegisterOrUpdateReminder("token", TimeSpan.FromHours(1), TimeSpan.FromHours(1), late.Token);
        var found = (await this.GetReminders(late.Token)).Count;
        var same = (await this.GetReminder("token", late.Token))!.ReminderName;
        await late.CancelAsync();
        var refused = 0;
        foreach (var attempt in (Func<Task>[])
        [
            () => this.RegisterOrUpdateReminder("other", TimeSpan.FromHours(1), TimeSpan.FromHours(1), late.Token),
            () => this.GetReminder("token", late.Token), () => this.GetReminders(late.Token),
            () => this.UnregisterReminder(reminder, late.Token),
        ])
        {
            try
            {
                await attempt();
            }
            catch (OperationCanceledException)
            {
                refused++;
            }
        }

        await this.UnregisterReminder(reminder, cancellationToken);
        return $"{found} {same} {refused} {(await this.GetReminders()).Count}";
    }

    public Task ReceiveReminder(string reminderName, TickStatus status)
    {
        var journal = Journal.Of(this.GetPrimaryKeyString());
        journal.Add($"{reminderName} {++_ticks} {status.Period.TotalMilliseconds} {status.CurrentTickTime >= status.FirstTickTime}");
        return Task.CompletedTask;
    }

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }
}

public interface IUnremindable : IGrainWithStringKey
{
    Task Remind();
}

public sealed class UnremindableGrain : Grain, IUnremindable
{
    public Task Remind() => this.RegisterOrUpdateReminder("x", TimeSpan.FromHours(1), TimeSpan.FromHours(1));
}

/// <summary>Services of silos, and reminders.</summary>
public class ServiceTests(CommonCluster cluster)
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private IReminded Reminded => cluster.Client.GetGrain<IReminded>(_made.Name);

    [Fact]
    public async Task A_grain_calls_the_service_that_is_responsible_for_it()
    {
        var first = await cluster.Client.GetGrain<IServed>("x").Count();
        Assert.StartsWith("x is ", first, StringComparison.Ordinal);
        Assert.EndsWith(first[^7..], await cluster.Client.GetGrain<IServed>("x").Count(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_grain_calls_the_service_of_a_silo_of_its_choice(int silo) =>
        Assert.EndsWith(
            "Silo_" + silo, await cluster.Client.GetGrain<IServed>("y").CountOn(cluster.AddressOf(silo)), StringComparison.Ordinal);

    [Fact]
    public async Task A_reminder_ticks_and_survives_the_activation()
    {
        await Reminded.Remind("tick", TimeSpan.Zero, TimeSpan.FromMilliseconds(100));
        await _made.Journal.HasAsync("tick 2 100 True");
        var ended = cluster.Cluster.WaitForDeactivationAsync(Reminded);
        await Reminded.End();
        await ended;
        var before = _made.Journal.Lines.Length;
        await _made.Journal.CountAsync(before + 1);
        Assert.Equal("tick 1 100 True", _made.Journal.Lines[before]);
        await Reminded.Forget("tick");
        Assert.Equal(" none True", await Reminded.Names());
    }

    [Fact]
    public async Task Reminders_are_found_by_their_names_and_replaced()
    {
        await Reminded.Remind("one", TimeSpan.FromHours(1), TimeSpan.FromHours(1));
        Assert.Equal("one one True", await Reminded.Names());
        await Reminded.Remind("two", TimeSpan.FromHours(1), TimeSpan.FromHours(1));
        await Reminded.Remind("one", TimeSpan.FromHours(2), TimeSpan.FromHours(1));
        Assert.StartsWith("one,two ", await Reminded.Names(), StringComparison.Ordinal);
        await Reminded.Forget("one");
        await Reminded.Forget("two");
        Assert.Equal(" none True", await Reminded.Names());
    }

    [Fact]
    public async Task Reminders_that_cannot_be_are_refused()
    {
        Assert.Equal("ArgumentException", await Reminded.Try("x", TimeSpan.FromMinutes(1), TimeSpan.FromMilliseconds(1)));
        Assert.Equal("ArgumentOutOfRangeException", await Reminded.Try("x", TimeSpan.FromMinutes(-1), TimeSpan.FromMinutes(1)));
        Assert.Equal("ArgumentOutOfRangeException", await Reminded.Try("x", TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(-1)));
        Assert.Equal("ArgumentNullException", await Reminded.Try("", TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(1)));
        await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.GetGrain<IUnremindable>("x").Remind());
    }

    [Fact]
    public async Task Reminders_are_not_touched_for_a_caller_that_is_cancelled() =>
        Assert.Equal("1 token 4 0", await cluster.Client.GetGrain<IReminded>(Journal.Create().Name).Cancelled(CancellationToken.None));
}
