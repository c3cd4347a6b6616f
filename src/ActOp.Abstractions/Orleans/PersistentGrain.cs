using Orleans.Core;
using Orleans.Runtime;

namespace Orleans;

/// <summary>
/// The base class of grains with one state, which a storage provider keeps: the one that <see cref="Providers.StorageProviderAttribute"/>
/// names, else the default one. It is read before <c>OnActivateAsync</c>, under the name "state".
/// </summary>
/// <typeparam name="TGrainState">The type of the state.</typeparam>
public class Grain<TGrainState> : Grain
{
    private IStorage<TGrainState>? _storage;

    /// <summary>Joins the activation that is being made on this thread; its state is read when it starts.</summary>
    protected Grain()
    {
        if (GrainContextScope.Current is not { } context)
            return;
        var setup = new StateSetup(this);
        context.ObservableLifecycle.Subscribe(nameof(State), GrainLifecycleStage.SetupState, setup);
        context.ObservableLifecycle.AddMigrationParticipant(setup);
    }

    /// <summary>Uses a storage that the caller has made, for example in a test.</summary>
    protected Grain(IStorage<TGrainState> storage) => _storage = storage;

    /// <summary>The state in memory.</summary>
    /// <exception cref="InvalidOperationException">The storage is not set up yet: this is the constructor.</exception>
    protected TGrainState State
    {
        get => Storage.State;
        set => Storage.State = value;
    }

    private IStorage<TGrainState> Storage => _storage ?? throw new InvalidOperationException(
        "The state of " + GetType().Name + " is not available before the grain is activated. Use it in OnActivateAsync and later.");

    /// <summary>Removes the record of the state; the state in memory becomes a new object.</summary>
    /// <exception cref="Orleans.Storage.InconsistentStateException">The record was changed by somebody else.</exception>
    protected virtual Task ClearStateAsync() => Storage.ClearStateAsync();

    /// <summary>Reads the state anew; what is in memory is dropped.</summary>
    protected virtual Task ReadStateAsync() => Storage.ReadStateAsync();

    /// <summary>Writes the state.</summary>
    /// <exception cref="Orleans.Storage.InconsistentStateException">The record was changed by somebody else.</exception>
    protected virtual Task WriteStateAsync() => Storage.WriteStateAsync();

    /// <summary>
    /// Sets the storage up: with what another silo has sent, or by a read. A storage that took its values from another silo says so by
    /// <see cref="IStateSource.IsLoaded"/>.
    /// </summary>
    private sealed class StateSetup(Grain<TGrainState> grain) : ILifecycleObserver, IGrainMigrationParticipant, IStateCarrier
    {
        public bool CarriesState => grain._storage is IStateCarrier { CarriesState: true };

        public Task OnStart(CancellationToken cancellationToken = default)
        {
            var storage = SetUp();
            // Not the method of the grain: an override may use what OnActivateAsync sets up.
            return storage is IStateSource { IsLoaded: true } ? Task.CompletedTask : storage.ReadStateAsync(cancellationToken);
        }

        /// <summary>A write that nobody has awaited ends before the activation does.</summary>
        public Task OnStop(CancellationToken cancellationToken = default) =>
            (grain._storage as IStateSource)?.EndAsync(cancellationToken) ?? Task.CompletedTask;

        public void OnDehydrate(IDehydrationContext dehydrationContext) =>
            (grain._storage as IGrainMigrationParticipant)?.OnDehydrate(dehydrationContext);

        public void OnRehydrate(IRehydrationContext rehydrationContext) =>
            (SetUp() as IGrainMigrationParticipant)?.OnRehydrate(rehydrationContext);

        private IStorage<TGrainState> SetUp() => grain._storage ??= grain.Runtime.GetStorage<TGrainState>(grain.GrainContext);
    }
}

/// <summary>A storage that says whether its state is already there.</summary>
internal interface IStateSource
{
    /// <summary>True after a read, or after values from another silo were taken over.</summary>
    bool IsLoaded { get; }

    /// <summary>
    /// The last change has found another version in the storage, and nothing was read or written since: what is in memory is outdated.
    /// False while an operation runs, which may mend it.
    /// </summary>
    bool IsOutdated { get; }

    /// <summary>Completes, without a failure, when no operation runs.</summary>
    Task EndAsync(CancellationToken cancellationToken);
}

/// <summary>A state of an activation that takes part in migration: whether it really goes along.</summary>
internal interface IStateCarrier
{
    /// <summary>False when the state stays behind, because its type is not serializable: the next silo reads the storage.</summary>
    bool CarriesState { get; }
}
