using Orleans.Concurrency;

namespace ActOp.Bench.Grains;

/// <summary>A grain whose requests wait for something outside of it.</summary>
public interface IMaskGrain : IGrainWithIntegerKey
{
    /// <summary>Awaits for some milliseconds: the thread runs other turns meanwhile.</summary>
    ValueTask Await(int milliseconds);

    /// <summary>Holds its thread for some milliseconds.</summary>
    ValueTask Block(int milliseconds);
}

/// <summary>Requests interleave, as those of a grain that only waits may.</summary>
[Reentrant]
public sealed class MaskGrain : Grain, IMaskGrain
{
    /// <inheritdoc/>
    public async ValueTask Await(int milliseconds) => await Task.Delay(milliseconds);

    /// <inheritdoc/>
    public ValueTask Block(int milliseconds)
    {
        Thread.Sleep(milliseconds);
        return default;
    }
}
