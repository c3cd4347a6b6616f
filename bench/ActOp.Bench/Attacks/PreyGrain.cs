using System.Collections;

namespace ActOp.Bench.Attacks;

/// <summary>What honest clients and attackers call.</summary>
public interface IPrey : IGrainWithStringKey
{
    /// <summary>Returns the number.</summary>
    ValueTask<int> Echo(int number);

    /// <summary>An answer of this many bytes.</summary>
    ValueTask<byte[]> Large(int bytes);

    /// <summary>Returns the number of items.</summary>
    Task<int> Take(object items);

    /// <summary>Arguments whose parts are keys.</summary>
    Task<int> TakeKeyed(object parts, HashSet<object> keys);

    /// <summary>Sends it back.</summary>
    Task<object> Back(object graph);

    /// <summary>Throws what it got.</summary>
    Task Throw(Exception exception);

    /// <summary>Numbers without an end.</summary>
    IAsyncEnumerable<int> Endless();
}

/// <inheritdoc/>
[GrainType("prey")]
public sealed class PreyGrain : Grain, IPrey
{
    /// <inheritdoc/>
    public ValueTask<int> Echo(int number) => new(number);

    /// <inheritdoc/>
    public ValueTask<byte[]> Large(int bytes) => new(new byte[Math.Min(bytes, 16 << 20)]);

    /// <inheritdoc/>
    public Task<int> Take(object items) => Task.FromResult((items as ICollection)?.Count ?? 0);

    /// <inheritdoc/>
    public Task<int> TakeKeyed(object parts, HashSet<object> keys) => Task.FromResult(keys.Count);

    /// <inheritdoc/>
    public Task<object> Back(object graph) => Task.FromResult(graph);

    /// <inheritdoc/>
    public Task Throw(Exception exception) => Task.FromException(exception);

    /// <inheritdoc/>
    public async IAsyncEnumerable<int> Endless()
    {
        await Task.CompletedTask;
        for (var number = 0; ; number++)
            yield return number;
    }
}
