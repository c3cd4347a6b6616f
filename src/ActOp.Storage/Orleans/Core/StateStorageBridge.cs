using ActOp;
using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Serialization;
using ActOp.Storage;
using Orleans.Runtime;
using Orleans.Storage;

namespace Orleans.Core;

/// <summary>One state of one activation, with its version: what stands between a grain and a storage provider.</summary>
/// <remarks>
/// <para>Used on the turns of the activation only; an operation from elsewhere is refused. Operations run one at a time, in the order of
/// the calls. A write that waits for an operation before it takes along the writes that are asked for until it starts.</para>
/// <para>Failures: an exception of the provider that is an <see cref="OrleansException"/> reaches the caller as it is, any other one
/// wrapped. The state in memory stays as it is, and the next operation runs. After a change that has failed, the state is in doubt until
/// an operation succeeds (<see cref="ActivationLife.Doubt"/>): in a conflict the activation ends, otherwise the runtime does not move it.
/// If it must leave in doubt, the next silo reads the storage, unless the ETag says all that the record may be (<see
/// cref="IDoubtfulETags"/>). A provider that never answers holds the caller and all later
/// operations of this state, until the call is given up by its timeout and the activation by its limits. When the activation ends, its end
/// waits for the operation that runs, within DeactivationTimeout; one that outlasts it leaves the version unknown, so the state is not
/// carried to another silo but read there.</para>
/// </remarks>
/// <typeparam name="TState">The type of the state.</typeparam>
public class StateStorageBridge<TState> : IStorage<TState>, IGrainMigrationParticipant, IStateSource, IStateCarrier
{
    private static readonly bool IsSerializable = CodecTable.CanResolve(typeof(TState));

    private readonly string _name;
    private readonly IGrainContext _context;
    private readonly IGrainStorage _store;
    private readonly StateDiagnostics _parts;
    private readonly GrainState<TState> _record = new();
    private Task _last = Task.CompletedTask;
    private WaitingWrite? _waiting;
    private bool _hasNew;
    private bool _isLoaded;
    private Doubt _doubt;

    /// <summary>Creates a state that is not read yet.</summary>
    /// <param name="name">The name of the state.</param>
    /// <param name="grainContext">The activation.</param>
    /// <param name="store">Its storage.</param>
    public StateStorageBridge(string name, IGrainContext grainContext, IGrainStorage store)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(grainContext);
        ArgumentNullException.ThrowIfNull(store);
        _name = name;
        _context = grainContext;
        _store = store;
        _parts = StateDiagnostics.FromServices(StateDiagnostics.ServicesOf(grainContext));
    }

    /// <inheritdoc/>
    public TState State
    {
        get => _record.State!;
        set
        {
            _record.State = value;
            _hasNew = true;
        }
    }

    /// <inheritdoc/>
    public string? Etag
    {
        get => _record.ETag;
        set => _record.ETag = value;
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">The state was not read yet.</exception>
    public bool RecordExists => _isLoaded ? _record.RecordExists : throw new InvalidOperationException(
        "The state " + _name + " of " + _context.GrainId + " was not read yet, so it is not known whether it has a record.");

    bool IStateSource.IsLoaded => _isLoaded;

    bool IStateSource.IsOutdated => _doubt == Doubt.Outdated && _last.IsCompleted;

    bool IStateCarrier.CarriesState => IsSerializable;

    private string ValueKey => "state/" + _name;

    private string EtagKey => "state/" + _name + "/etag";

    private string ExistsKey => "state/" + _name + "/exists";

    /// <inheritdoc/>
    public Task ReadStateAsync() => ReadStateAsync(CancellationToken.None);

    /// <inheritdoc cref="IStorage.ReadStateAsync(CancellationToken)"/>
    public Task ReadStateAsync(CancellationToken cancellationToken) => Run(StateOperation.Read, cancellationToken);

    /// <inheritdoc/>
    public Task WriteStateAsync() => WriteStateAsync(CancellationToken.None);

    /// <inheritdoc cref="IStorage.WriteStateAsync(CancellationToken)"/>
    public Task WriteStateAsync(CancellationToken cancellationToken) => Run(StateOperation.Write, cancellationToken);

    /// <inheritdoc/>
    public Task ClearStateAsync() => ClearStateAsync(CancellationToken.None);

    /// <inheritdoc cref="IStorage.ClearStateAsync(CancellationToken)"/>
    public Task ClearStateAsync(CancellationToken cancellationToken) => Run(StateOperation.Clear, cancellationToken);

    /// <summary>
    /// Takes the state and its version along, if its type is serializable, no operation runs, and the version is not in doubt.
    /// </summary>
    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
        ArgumentNullException.ThrowIfNull(dehydrationContext);
        if (!_isLoaded)
            return;
        if (ReasonToStay() is { } reason)
        {
            _parts.Log.NotCarried(_name, _context.GrainId, reason);
            return;
        }

        if (!IsSerializable || !dehydrationContext.TryAddValue(ValueKey, _record.State))
        {
            _parts.Log.NotCarried(_name, _context.GrainId, typeof(TState) + " is not serializable; mark it with [GenerateSerializer]");
            return;
        }

        if (_record.ETag is { } etag)
            dehydrationContext.TryAddValue(EtagKey, etag);
        dehydrationContext.TryAddValue(ExistsKey, _record.RecordExists);
    }

    /// <summary>Takes over what <see cref="OnDehydrate"/> has added on another silo; the state is not read then.</summary>
    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        ArgumentNullException.ThrowIfNull(rehydrationContext);
        // The last key that is added is the sign that all are there.
        if (!rehydrationContext.TryGetValue<bool>(ExistsKey, out var exists)
            || !rehydrationContext.TryGetValue<TState>(ValueKey, out var state))
        {
            return;
        }

        rehydrationContext.TryGetValue<string>(EtagKey, out var etag);
        (_record.State, _record.ETag, _record.RecordExists) = (state, etag, exists);
        _hasNew = true;
        _isLoaded = true;
    }

    async Task IStateSource.EndAsync(CancellationToken cancellationToken)
    {
        while (!_last.IsCompleted && !cancellationToken.IsCancellationRequested)
        {
            await _last.WaitAsync(cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }

    private string? ReasonToStay() =>
        !_last.IsCompleted ? "an operation of its storage has not ended"
        : _doubt == Doubt.Outdated ? "the storage has another version"
        : _doubt == Doubt.Unknown && _store is not IDoubtfulETags ? "it is unknown whether its last change was stored"
        : null;

    private Task Run(StateOperation operation, CancellationToken cancellationToken)
    {
        CheckContext();
        if (_last.IsCompleted)
        {
            Invariant.Holds(_waiting is null);
            return _last = ExecuteAsync(operation, cancellationToken);
        }

        // The token of another write must not end this one.
        if (operation == StateOperation.Write && _waiting is { } waiting && waiting.Cancellation == cancellationToken)
            return waiting.Task;
        var next = operation == StateOperation.Write ? new WaitingWrite(cancellationToken) : null;
        _waiting = next;
        _last = ExecuteAfterAsync(_last, next, operation, cancellationToken);
        if (next is not null)
            next.Task = _last;
        return _last;
    }

    private async Task ExecuteAfterAsync(Task before, WaitingWrite? write, StateOperation operation, CancellationToken cancellationToken)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        if (write is not null && ReferenceEquals(_waiting, write))
            _waiting = null;
        await ExecuteAsync(operation, cancellationToken);
    }

    private async Task ExecuteAsync(StateOperation operation, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var began = _parts.Now;
        using var span = StateDiagnostics.Begin(operation, _name, typeof(TState), _context, _store);
        try
        {
            FillState();
            await AskAsync(operation, cancellationToken);
        }
        catch (Exception exception)
        {
            span.Fail(exception);
            if (exception is OperationCanceledException && cancellationToken.IsCancellationRequested)
            {
                DoubtAfter(operation, exception);
                throw;
            }

            _parts.Failed(operation, _name, _context.GrainId, _store, exception);
            DoubtAfter(operation, exception);
            if (exception is OrleansException)
                throw;
            throw new OrleansException("The storage provider " + _store.GetType().Name + " has failed to " + NameOf(operation)
                + " the state " + _name + " of " + _context.GrainId + ": " + exception.Message + CodeOf(exception), exception);
        }

        _isLoaded = true;
        if (_doubt != Doubt.None)
            SetDoubt(Doubt.None);
        _parts.Succeeded(operation, _store, began);
    }

    /// <summary>A read that fails changes no doubt, but what may have mended it is over.</summary>
    private void DoubtAfter(StateOperation operation, Exception failure)
    {
        if (operation != StateOperation.Read)
            SetDoubt(failure is InconsistentStateException ? Doubt.Outdated : Doubt.Unknown);
        else if (_doubt != Doubt.None)
            SetDoubt(_doubt);
    }

    private void SetDoubt(Doubt doubt)
    {
        _doubt = doubt;
        if (_context is not Activation activation)
            return;
        if (doubt == Doubt.None)
            activation.Life.Trust(this);
        else
            activation.Life.Doubt(activation, this);
    }

    /// <summary>A provider gets a state that it can fill, and need not replace when there is no record.</summary>
    private void FillState()
    {
        if (_hasNew)
            return;
        _hasNew = true;
        _record.State = NewState<TState>.Create(_parts.Activators);
    }

    private async Task AskAsync(StateOperation operation, CancellationToken cancellationToken)
    {
        switch (operation)
        {
            case StateOperation.Read:
                await Given.Task(_store.ReadStateAsync(_name, _context.GrainId, _record, cancellationToken));
                if (_record.State is null && !_record.RecordExists)
                    _record.State = NewState<TState>.Create(_parts.Activators);
                break;
            case StateOperation.Write:
                await Given.Task(_store.WriteStateAsync(_name, _context.GrainId, _record, cancellationToken));
                break;
            default:
                await Given.Task(_store.ClearStateAsync(_name, _context.GrainId, _record, cancellationToken));
                break;
        }
    }

    private string CodeOf(Exception exception) =>
        _store is IRestExceptionDecoder decoder && decoder.DecodeException(exception, out _, out var code, getExtendedErrors: true)
            ? " (" + code + ")"
            : "";

    private void CheckContext()
    {
        if (_context is Activation && !ReferenceEquals(CallHost.Current, _context))
        {
            throw new InvalidOperationException("The state " + _name + " of " + _context.GrainId
                + " was used outside of the turns of its grain, for example after ConfigureAwait(false) or in Task.Run.");
        }
    }

    private static string NameOf(StateOperation operation) => operation switch
    {
        StateOperation.Read => "read",
        StateOperation.Write => "write",
        _ => "clear",
    };

    /// <summary>Whether the version that is known is the one of the record.</summary>
    private enum Doubt : byte
    {
        None,

        /// <summary>A change has failed, and may have been done.</summary>
        Unknown,

        /// <summary>A change has found another version.</summary>
        Outdated,
    }

    /// <summary>A write that has not started: later ones join it.</summary>
    private sealed class WaitingWrite(CancellationToken cancellation)
    {
        internal CancellationToken Cancellation => cancellation;

        internal Task Task { get; set; } = Task.CompletedTask;
    }
}
