using System.Collections.Concurrent;

namespace ActOp.TestClusters;

/// <summary>
/// A named place where grain code stops until the test lets it go on. Grains get its name, so that gates work on every silo of the process.
/// </summary>
public sealed class Gate : IDisposable
{
    /// <summary>Long enough for a slow machine that stands still at times; a test that waits so long has failed.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static readonly ConcurrentDictionary<string, Gate> Gates = new();

    private readonly TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly SemaphoreSlim _arrivals = new(0);
    private int _arrived;

    public Gate() => Gates[Name] = this;

    public string Name { get; } = Guid.NewGuid().ToString("N");

    /// <summary>How many have come so far.</summary>
    public int Count => Volatile.Read(ref _arrived);

    /// <summary>Grain code: says that it is here and waits.</summary>
    public static Task PassAsync(string? name)
    {
        if (name is null || !Gates.TryGetValue(name, out var gate))
            return Task.CompletedTask;
        Interlocked.Increment(ref gate._arrived);
        gate._arrivals.Release();
        return gate._open.Task;
    }

    /// <summary>Grain code: says that it is here and goes on.</summary>
    public static void Touch(string? name)
    {
        if (name is null || !Gates.TryGetValue(name, out var gate))
            return;
        Interlocked.Increment(ref gate._arrived);
        gate._arrivals.Release();
    }

    /// <summary>Test code: waits for one more to come.</summary>
    public async Task ArrivedAsync()
    {
        if (!await _arrivals.WaitAsync(Patience))
            throw new TimeoutException("Nobody came to the gate.");
    }

    public void Open() => _open.TrySetResult();

    public void Dispose()
    {
        _open.TrySetResult();
        Gates.TryRemove(Name, out _);
    }
}
