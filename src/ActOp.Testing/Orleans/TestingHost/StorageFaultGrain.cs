using ActOp.Calls;
using Orleans.Runtime;
using Orleans.Storage;

namespace Orleans.TestingHost;

/// <summary>The faults of the accesses to one kind of state, for <see cref="FaultInjectionGrainStorage"/>.</summary>
[OfRuntime, Callers(Callers.Everyone)]
public interface IStorageFaultGrain : IGrainWithStringKey
{
    /// <summary>The next read of the state of a grain fails with that.</summary>
    Task AddFaultOnRead(GrainId grainId, Exception exception);

    /// <summary>The next write of the state of a grain fails with that.</summary>
    Task AddFaultOnWrite(GrainId grainId, Exception exception);

    /// <summary>The next removal of the state of a grain fails with that.</summary>
    Task AddFaultOnClear(GrainId grainId, Exception exception);

    /// <summary>The storage is about to read: throws the fault, once.</summary>
    Task OnRead(GrainId grainId);

    /// <summary>The storage is about to write: throws the fault, once.</summary>
    Task OnWrite(GrainId grainId);

    /// <summary>The storage is about to remove: throws the fault, once.</summary>
    Task OnClear(GrainId grainId);
}

/// <summary>Keeps the faults in memory, until they are thrown or the activation ends. On its turns.</summary>
public class StorageFaultGrain : Grain, IStorageFaultGrain
{
    private readonly Dictionary<GrainId, Exception> _reads = [];
    private readonly Dictionary<GrainId, Exception> _writes = [];
    private readonly Dictionary<GrainId, Exception> _clears = [];

    /// <inheritdoc/>
    public override Task OnActivateAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task AddFaultOnRead(GrainId grainId, Exception exception) => Add(_reads, grainId, exception);

    /// <inheritdoc/>
    public Task AddFaultOnWrite(GrainId grainId, Exception exception) => Add(_writes, grainId, exception);

    /// <inheritdoc/>
    public Task AddFaultOnClear(GrainId grainId, Exception exception) => Add(_clears, grainId, exception);

    /// <inheritdoc/>
    public Task OnRead(GrainId grainId) => Throw(_reads, grainId);

    /// <inheritdoc/>
    public Task OnWrite(GrainId grainId) => Throw(_writes, grainId);

    /// <inheritdoc/>
    public Task OnClear(GrainId grainId) => Throw(_clears, grainId);

    private static Task Add(Dictionary<GrainId, Exception> faults, GrainId grain, Exception exception)
    {
        faults.Add(grain, exception);
        return Task.CompletedTask;
    }

    private static Task Throw(Dictionary<GrainId, Exception> faults, GrainId grain) =>
        faults.Remove(grain, out var exception) ? Task.FromException(exception) : Task.CompletedTask;
}

/// <summary>A fault that a test has injected into a storage.</summary>
[GenerateSerializer]
public sealed class RandomlyInjectedStorageException() : Exception("injected fault");

/// <summary>A conflict that a test has injected into a storage.</summary>
[GenerateSerializer]
public sealed class RandomlyInjectedInconsistentStateException() : InconsistentStateException("injected fault");
