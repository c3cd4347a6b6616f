using Orleans.Concurrency;

namespace ActOp.Bench.Grains;

/// <summary>The grain of calls that nobody waits for to the end.</summary>
public interface IAbandonedGrain : IGrainWithIntegerKey
{
    /// <summary>Answers at once.</summary>
    ValueTask<int> Next(int value);

    /// <summary>Answers at once, by a task.</summary>
    Task<int> Answer(int value);

    /// <summary>Answers nobody.</summary>
    [OneWay]
    Task Tell(int value);

    /// <summary>Times out in the queue of a blocked grain.</summary>
    [ResponseTimeout("00:00:00.250")]
    Task<int> Soon(int value);

    /// <summary>Blocks the grain until <see cref="Release"/>.</summary>
    [ResponseTimeout("00:10:00")]
    Task Hold();

    /// <summary>Ends <see cref="Hold"/>.</summary>
    [AlwaysInterleave]
    Task Release();
}

/// <inheritdoc cref="IAbandonedGrain"/>
public sealed class AbandonedGrain : Grain, IAbandonedGrain
{
    private TaskCompletionSource _release = new();

    /// <inheritdoc/>
    public ValueTask<int> Next(int value) => new(value + 1);

    /// <inheritdoc/>
    public Task<int> Answer(int value) => Task.FromResult(value + 1);

    /// <inheritdoc/>
    public Task Tell(int value) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task<int> Soon(int value) => Task.FromResult(value + 1);

    /// <inheritdoc/>
    public Task Hold()
    {
        _release = new TaskCompletionSource();
        return _release.Task;
    }

    /// <inheritdoc/>
    public Task Release()
    {
        _release.SetResult();
        return Task.CompletedTask;
    }
}
