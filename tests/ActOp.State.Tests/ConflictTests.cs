using ActOp.TestClusters;
using Orleans.BroadcastChannel;
using Orleans.Runtime.Hosting;
using Orleans.Storage;
using Orleans.Streams;

namespace ActOp.State.Tests;

/// <summary>What a grain does with a conflict of its state, or how it raises one of its own.</summary>
public enum ConflictCase
{
    Thrown,
    Swallowed,
    Wrapped,

    /// <summary>By a storage that the runtime does not know.</summary>
    Own,
}

public interface IWriter : IGrainWithStringKey
{
    Task<string> Begin(int number, ConflictCase what);

    Task<string> Life();

    Task<int> Number();

    Task Write();

    [AlwaysInterleave]
    Task Overlap();

    Task StartTimer();

    Task Subscribe(bool inBatches);

    Task SwallowAndLeave();

    Task MendAndWrite();

    Task WriteWithoutWaiting();

    IAsyncEnumerable<int> Numbers();
}

public interface IWriterObserver : IGrainObserver
{
    [OneWay]
    Task Changed();
}

public interface IWriterExtension : IGrainExtension
{
    Task Write();
}

public sealed class WriterExtension(IGrainContextAccessor accessor) : IWriterExtension
{
    private readonly IGrainContext _grain = accessor.GrainContext;

    public Task Write() => ((WriterGrain)_grain.GrainInstance!).Write();
}

/// <summary>A grain that writes its state from every entry that the runtime has.</summary>
[GrainType("conflictwriter")]
[ImplicitChannelSubscription("conflicts")]
public sealed class WriterGrain([PersistentState("n", "shelf")] IPersistentState<Account> state, IGrainContext context)
    : Grain, IWriter, IWriterObserver, IRemindable, IOnBroadcastChannelSubscribed
{
    private ConflictCase _case;

    public async Task<string> Begin(int number, ConflictCase what)
    {
        _case = what;
        state.State.Balance = number;
        await state.WriteStateAsync();
        return await Life();
    }

    public Task<string> Life() => Task.FromResult(context.ActivationId.ToString());

    public Task<int> Number() => Task.FromResult(state.State.Balance);

    public async Task Write()
    {
        if (_case == ConflictCase.Own)
            throw new InconsistentStateException("A storage of its own has another version.");
        try
        {
            state.State.Balance++;
            await state.WriteStateAsync();
        }
        catch (InconsistentStateException conflict) when (_case != ConflictCase.Thrown)
        {
            if (_case == ConflictCase.Wrapped)
                throw new InvalidOperationException("The grain does not say so.", conflict);
        }
    }

    public Task Overlap() => Write();

    public Task StartTimer()
    {
        this.RegisterGrainTimer(Write, new GrainTimerCreationOptions(TimeSpan.Zero, Timeout.InfiniteTimeSpan));
        return Task.CompletedTask;
    }

    public async Task Subscribe(bool inBatches)
    {
        var stream = this.GetStreamProvider("memory").GetStream<int>(StreamId.Create("conflicts", this.GetPrimaryKeyString()));
        if (inBatches)
            await stream.SubscribeAsync(_ => Write());
        else
            await stream.SubscribeAsync((_, _) => Write());
    }

    public async Task SwallowAndLeave()
    {
        _case = ConflictCase.Swallowed;
        await Write();
        MigrateOnIdle();
    }

    public async Task MendAndWrite()
    {
        _case = ConflictCase.Swallowed;
        await Write();
        await state.ReadStateAsync();
        await Write();
    }

    public Task WriteWithoutWaiting()
    {
        _ = Write();
        return Task.CompletedTask;
    }

    public async IAsyncEnumerable<int> Numbers()
    {
        yield return 1;
        await Write();
    }

    public Task Changed() => Write();

    public Task ReceiveReminder(string reminderName, TickStatus status) => Write();

    public Task OnSubscribed(IBroadcastChannelSubscription streamSubscription) => streamSubscription.Attach<int>(_ => Write());
}

/// <summary>Two silos with everything by which a grain can be entered.</summary>
public sealed class EnteredSilos() : ClusterFixture(2)
{
    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        silo.AddMemoryGrainStorage("PubSubStore").AddMemoryStreams("memory").AddBroadcastChannel("channels")
            .AddGrainExtension<IWriterExtension, WriterExtension>();
        silo.Services.AddGrainStorage("shelf", static (_, name) => new ShelfStorage(name));
    }

    protected override void ConfigureClient(IClientBuilder client) => client.AddMemoryStreams("memory").AddBroadcastChannel("channels");
}

/// <summary>A conflict of its state ends an activation, whatever entry it came by, and outdated state goes nowhere.</summary>
public class ConflictTests(EnteredSilos cluster) : IClassFixture<EnteredSilos>
{
    public static TheoryData<string, ConflictCase> Cases { get; } = new(
        from entry in new[]
        {
            "call", "interleaved", "timer", "reminder", "stream", "stream of lists", "observer", "extension", "channel", "enumeration",
        }
        from what in Enum.GetValues<ConflictCase>()
        where (entry, what) is not ("timer", ConflictCase.Own)
        select (entry, what));

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task A_conflict_ends_the_activation_whatever_entry_it_came_by(string entry, ConflictCase what)
    {
        var grain = New();
        if (entry.StartsWith("stream", StringComparison.Ordinal))
            await grain.Subscribe(inBatches: entry != "stream");
        var life = await grain.Begin(1, what);
        if (what != ConflictCase.Own)
            ShelfStorage.Overwrite("shelf", "n", grain.GetGrainId(), new Account { Balance = 50 });
        var ended = cluster.Cluster.WaitForDeactivationAsync(grain);
        await EnterAsync(grain, entry);
        await ended.WaitAsync(Gate.Patience);
        Assert.NotEqual(life, await grain.Life());
        if (what != ConflictCase.Own)
            Assert.InRange(await grain.Number(), 50, 51);
        await grain.Write();
    }

    [Fact]
    public async Task A_conflict_of_a_write_that_nobody_awaits_ends_the_activation()
    {
        var grain = New();
        var life = await grain.Begin(1, ConflictCase.Thrown);
        using var gate = new Gate();
        ShelfStorage.Stop(grain.GetGrainId(), gate);
        ShelfStorage.Overwrite("shelf", "n", grain.GetGrainId(), new Account { Balance = 50 });
        var ended = cluster.Cluster.WaitForDeactivationAsync(grain);
        await grain.WriteWithoutWaiting();
        await gate.ArrivedAsync();
        Assert.Equal(life, await grain.Life());
        gate.Open();
        await ended.WaitAsync(Gate.Patience);
        Assert.Equal(50, await grain.Number());
    }

    [Fact]
    public async Task A_conflict_that_the_grain_mends_by_a_read_ends_nothing()
    {
        var grain = New();
        var life = await grain.Begin(1, ConflictCase.Swallowed);
        ShelfStorage.Overwrite("shelf", "n", grain.GetGrainId(), new Account { Balance = 50 });
        await grain.MendAndWrite();
        Assert.Equal((life, 51), (await grain.Life(), await grain.Number()));
    }

    [Fact]
    public async Task Outdated_state_is_not_carried_to_another_silo()
    {
        var grain = New();
        await Place.On(cluster.AddressOf(0), () => grain.Begin(1, ConflictCase.Swallowed));
        ShelfStorage.Overwrite("shelf", "n", grain.GetGrainId(), new Account { Balance = 50 });
        await Place.On(cluster.AddressOf(1), grain.SwallowAndLeave);
        Assert.Equal(50, await grain.Number());
    }

    private IWriter New() => cluster.Client.GetGrain<IWriter>(Guid.NewGuid().ToString());

    private async Task EnterAsync(IWriter grain, string entry)
    {
        try
        {
            await (entry switch
            {
                "call" => grain.Write(),
                "interleaved" => grain.Overlap(),
                "timer" => grain.StartTimer(),
                // Ticks come from silos.
                "reminder" => cluster.ClientOf(0).GetGrain<IWriter>(grain.GetPrimaryKeyString()).AsReference<IRemindable>()
                    .ReceiveReminder("r", default),
                "observer" => grain.AsReference<IWriterObserver>().Changed(),
                "extension" => grain.AsReference<IWriterExtension>().Write(),
                "channel" => cluster.Client.GetBroadcastChannelProvider("channels")
                    .GetChannelWriter<int>(ChannelId.Create("conflicts", grain.GetPrimaryKeyString())).Publish(1),
                "enumeration" => EnumerateAsync(grain),
                _ => cluster.Client.GetStreamProvider("memory")
                    .GetStream<int>(StreamId.Create("conflicts", grain.GetPrimaryKeyString())).OnNextAsync(1),
            });
        }
        catch (Exception exception) when (
            exception is InconsistentStateException or InvalidOperationException or EnumerationAbortedException)
        {
            // The caller's share of it.
        }
    }

    private static async Task EnumerateAsync(IWriter grain)
    {
        await foreach (var _ in grain.Numbers())
        {
        }
    }
}
