namespace ActOp.Bench.Grains;

/// <summary>A grain that answers at once, and can call others in a loop.</summary>
public interface IEchoGrain : IGrainWithIntegerKey
{
    /// <summary>Answers with <paramref name="value"/> + 1.</summary>
    ValueTask<int> Next(int value);

    /// <summary>As <see cref="Next"/>, for callers with a token.</summary>
    ValueTask<int> NextUnless(int value, CancellationToken cancellationToken);

    /// <summary>Gives the numbers from 0, without a pause.</summary>
    IAsyncEnumerable<int> Numbers(int count);

    /// <summary>Answers with what it got.</summary>
    ValueTask<TenFields> Send(TenFields record);

    /// <summary>The silo that the grain runs on.</summary>
    ValueTask<string> Where();

    /// <summary>Calls <see cref="Next"/> of another grain, one call after the other.</summary>
    /// <param name="peer">The other grain.</param>
    /// <param name="milliseconds">For how long.</param>
    /// <param name="timing">How calls are timed.</param>
    ValueTask<LoopResult> Loop(long peer, int milliseconds, LoopTiming timing);

    /// <summary>Calls several grains at once and waits for all, again and again.</summary>
    /// <param name="first">The first of the grains.</param>
    /// <param name="width">How many.</param>
    /// <param name="milliseconds">For how long.</param>
    ValueTask<LoopResult> FanOut(long first, int width, int milliseconds);
}
