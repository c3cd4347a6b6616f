using Microsoft.Extensions.DependencyInjection;
using Orleans.Concurrency;
using Orleans.Placement;
using Orleans.Runtime.Placement;
using Orleans.TestingHost;

namespace DropIn;

public interface IMortal : IGrainWithStringKey
{
    Task<Guid> Activation();

    Task End();

    Task EndAndWait(string gate);

    Task Delay();

    Task EndWithReason();

    Task<string> Context();
}

/// <summary>Notes its life under its key.</summary>
public class MortalGrain : Grain, IMortal, ILifecycleParticipant<IGrainLifecycle>, IAsyncDisposable
{
    private readonly Guid _activation = Guid.NewGuid();

    private Journal Notes => Journal.Of(this.GetPrimaryKeyString());

    public void Participate(IGrainLifecycle lifecycle)
    {
        Notes.Add("participate");
        lifecycle.Subscribe("first", GrainLifecycleStage.SetupState, _ => NoteAsync("start setup"), _ => NoteAsync("stop setup"));
        lifecycle.Subscribe<MortalGrain>(GrainLifecycleStage.Activate + 1, _ => NoteAsync("start last"), _ => NoteAsync("stop last"));
    }

    public override Task OnActivateAsync(CancellationToken cancellationToken) => NoteAsync("activate");

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken) =>
        NoteAsync($"deactivate {reason.ReasonCode} {reason.Description}");

    public ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        return new(NoteAsync("dispose"));
    }

    public Task<Guid> Activation() => Task.FromResult(_activation);

    public Task End()
    {
        DeactivateOnIdle();
        return NoteAsync("end");
    }

    public async Task EndAndWait(string gate)
    {
        DeactivateOnIdle();
        await Gate.PassAsync(gate);
        await NoteAsync("waited");
    }

    public Task Delay()
    {
        DelayDeactivation(TimeSpan.FromHours(1));
        return Task.CompletedTask;
    }

    public Task EndWithReason()
    {
        GrainContext.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "It is enough."));
        return Task.CompletedTask;
    }

    public Task<string> Context() => Task.FromResult(string.Join(' ',
        ReferenceEquals(GrainContext.GrainInstance, this), GrainContext.GrainId == this.GetGrainId(), !GrainContext.ActivationId.IsDefault,
        GrainContext.Address.SiloAddress == ServiceProvider.GetRequiredService<ILocalSiloDetails>().SiloAddress,
        ReferenceEquals(GrainContext, ServiceProvider.GetRequiredService<IGrainContextAccessor>().GrainContext),
        GrainContext.GrainReference.GrainId == this.GetGrainId()));

    private Task NoteAsync(string line)
    {
        Notes.Add(line);
        return Task.CompletedTask;
    }
}

public interface IMover : IGrainWithIntegerKey
{
    Task<SiloAddress> Where();

    Task<string> Look();

    Task Set(int value);

    Task MoveTo(SiloAddress silo);
}

/// <summary>Carries what it has not written.</summary>
[RandomPlacement]
public sealed class MoverGrain([PersistentState("mover")] IPersistentState<Account> state, ILocalSiloDetails silo)
    : Grain, IMover, IGrainMigrationParticipant
{
    private int _carried;
    private string _came = "new";

    public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);

    public Task<string> Look() => Task.FromResult($"{_carried} {state.State.Balance} {_came}");

    public Task Set(int value)
    {
        _carried = value;
        state.State.Balance = value;
        return Task.CompletedTask;
    }

    public Task MoveTo(SiloAddress to)
    {
        RequestContext.Set(IPlacementDirector.PlacementHintKey, to);
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue("carried", _carried);

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        _came = rehydrationContext.TryGetValue("carried", out _carried) ? "carried" : "lost";
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        Journal.Of("mover " + this.GetPrimaryKeyLong()).Add(reason.ReasonCode.ToString());
        return Task.CompletedTask;
    }
}

public interface IWorker : IGrainWithIntegerKey
{
    Task<Guid> Work(string? gate);
}

[StatelessWorker(2)]
public sealed class WorkerGrain : Grain, IWorker
{
    private readonly Guid _activation = Guid.NewGuid();

    public async Task<Guid> Work(string? gate)
    {
        await Gate.PassAsync(gate);
        return _activation;
    }
}

/// <summary>Beginning and end of activations, and their moves.</summary>
public class LifeTests(CommonCluster cluster)
{
    private static int s_keys;

    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private IMortal Grain => cluster.Client.GetGrain<IMortal>(_made.Name);

    [Fact]
    public async Task Hooks_run_in_the_order_of_their_stages_and_back()
    {
        var first = await Grain.Activation();
        Assert.Equal(["participate", "start setup", "start last", "activate"], _made.Journal.Lines);
        var ended = cluster.Cluster.WaitForDeactivationAsync(Grain);
        await Grain.End();
        await ended;
        await _made.Journal.HasAsync("dispose");
        Assert.Equal(["participate", "start setup", "start last", "activate", "end",
            "deactivate ApplicationRequested DeactivateOnIdle was called.", "stop last", "stop setup", "dispose"], _made.Journal.Lines);
        Assert.NotEqual(first, await Grain.Activation());
    }

    [Fact]
    public async Task Calls_that_wait_for_the_end_go_to_the_next_activation()
    {
        using var gate = new Gate();
        var first = await Grain.Activation();
        var ending = Grain.EndAndWait(gate.Name);
        await gate.ArrivedAsync();
        var waiting = Grain.Activation();
        gate.Open();
        await ending;
        Assert.NotEqual(first, await waiting);
    }

    [Fact]
    public async Task A_grain_gives_a_reason_for_its_end()
    {
        await Grain.EndWithReason();
        await _made.Journal.HasAsync("deactivate ApplicationRequested It is enough.");
    }

    [Fact]
    public async Task Idle_grains_are_collected_unless_they_have_asked_for_a_delay()
    {
        // Of its own: grains of other tests would be collected too.
        await using var own = new InProcessTestClusterBuilder(1).Build();
        await own.DeployAsync();
        var delayed = own.Client.GetGrain<IMortal>(_made.Name + " delayed");
        await delayed.Delay();
        var grain = own.Client.GetGrain<IMortal>(_made.Name);
        await grain.Activation();
        var ended = own.WaitForDeactivationAsync(grain);
        var management = own.Client.GetGrain<IManagementGrain>(0);
        // An answer leaves before its turn has ended: the first collection may come too early.
        while (!ended.IsCompleted)
            await management.ForceActivationCollection(TimeSpan.Zero);
        await ended;
        Assert.Contains(_made.Journal.Lines, static line => line.StartsWith("deactivate ActivationIdle", StringComparison.Ordinal));
        Assert.DoesNotContain(Journal.Of(_made.Name + " delayed").Lines,
            static line => line.StartsWith("deactivate", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_grain_knows_its_context() => Assert.Equal("True True True True True True", await Grain.Context());

    [Fact]
    public async Task A_grain_moves_with_what_it_carries_and_with_its_states()
    {
        var key = Interlocked.Increment(ref s_keys);
        var grain = cluster.Client.GetGrain<IMover>(key);
        await grain.Set(7);
        var from = await grain.Where();
        var to = cluster.AddressOf(from == cluster.AddressOf(0) ? 1 : 0);
        var ended = cluster.Cluster.WaitForDeactivationAsync(grain);
        await grain.MoveTo(to);
        await ended;
        Assert.Equal(to, await grain.Where());
        Assert.Equal("7 7 carried", await grain.Look());
        Assert.Equal(["Migrating"], Journal.Of("mover " + key).Lines);
    }

    [Fact]
    public async Task A_test_moves_and_ends_grains()
    {
        var grain = cluster.Client.GetGrain<IMover>(Interlocked.Increment(ref s_keys));
        await grain.Set(7);
        var to = cluster.AddressOf(await grain.Where() == cluster.AddressOf(0) ? 1 : 0);
        await cluster.Cluster.MigrateAsync(grain, to);
        Assert.Equal(to, await grain.Where());
        Assert.True(cluster.Cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        Assert.Equal(to, context!.Address.SiloAddress);
        await cluster.Cluster.DeactivateAsync(grain);
        Assert.Equal("0 0 new", await grain.Look());
    }

    [Fact]
    public async Task Workers_without_a_state_are_as_many_as_they_may_be()
    {
        using var gate = new Gate();
        var worker = cluster.FactoryOf(0).GetGrain<IWorker>(0);
        var calls = Enumerable.Range(0, 4).Select(_ => worker.Work(gate.Name)).ToArray();
        await gate.ArrivedAsync();
        await gate.ArrivedAsync();
        Assert.Equal(2, gate.Count);
        gate.Open();
        Assert.Equal(2, (await Task.WhenAll(calls)).Distinct().Count());
    }
}
