using ActOp.Storage;
using ActOp.Storage.Tenants;
using Orleans.Core;
using Orleans.Storage;

namespace Orleans.Runtime;

/// <summary>Makes the states that grains have injected with <see cref="PersistentStateAttribute"/>. Any thread.</summary>
public class PersistentStateFactory : IPersistentStateFactory
{
    /// <inheritdoc/>
    public IPersistentState<TState> Create<TState>(IGrainContext context, IPersistentStateConfiguration cfg)
    {
        ArgumentNullException.ThrowIfNull(context);
        ArgumentNullException.ThrowIfNull(cfg);
        var user = "State \"" + cfg.StateName + "\" of grain " + context.GrainId;
        var named = GrainStorageHelpers.FindStorage(StateDiagnostics.ServicesOf(context), cfg.StorageName, user);
        var storage = TenantStorage.Resolve(named, context.GrainId);
        var name = GetFullStateName(context, cfg);
        var state = new PersistentState<TState>(name, context, storage);
        context.ObservableLifecycle.Subscribe(name, GrainLifecycleStage.SetupState, state);
        context.ObservableLifecycle.AddMigrationParticipant(state);
        return state;
    }

    /// <summary>The name under which the storage keeps the state.</summary>
    protected virtual string GetFullStateName(IGrainContext context, IPersistentStateConfiguration cfg)
    {
        ArgumentNullException.ThrowIfNull(cfg);
        return cfg.StateName;
    }
}

/// <summary>A state that reads itself when its activation starts, unless it was carried along from another silo.</summary>
internal sealed class PersistentState<TState>(string name, IGrainContext context, IGrainStorage storage)
    : StateStorageBridge<TState>(name, context, storage), IPersistentState<TState>, ILifecycleObserver
{
    public Task OnStart(CancellationToken cancellationToken = default) =>
        ((IStateSource)this).IsLoaded ? Task.CompletedTask : ReadStateAsync(cancellationToken);

    /// <summary>A write that nobody has awaited ends before the activation does.</summary>
    public Task OnStop(CancellationToken cancellationToken = default) => ((IStateSource)this).EndAsync(cancellationToken);
}
