using System.Diagnostics;

namespace HaloPresence.Bench.Silos;

/// <summary>
/// Times the calls of games to their players (ActOp paper, Figure 10(c)): from the call to its answer, as the game sees it. Counts by bounds
/// that grow by a fourth, so that counts at two times can be subtracted. Any thread.
/// </summary>
public sealed class ActorLatency : IOutgoingGrainCallFilter
{
    private const int Count = 80;
    private const double FirstMs = 0.0005;
    private const double Growth = 1.25;
    private readonly long[] _counts = new long[Count + 1];

    /// <summary>The bounds in milliseconds, the last one infinite: half a microsecond to half a minute.</summary>
    public static IReadOnlyList<double> BoundsMs { get; } =
        [.. Enumerable.Range(0, Count).Select(static index => FirstMs * Math.Pow(Growth, index)), double.PositiveInfinity];

    /// <summary>Calls so far that took at most each of the bounds and more than the one before it.</summary>
    public long[] Counts => [.. Enumerable.Range(0, _counts.Length).Select(index => Volatile.Read(ref _counts[index]))];

    /// <inheritdoc/>
    public async Task Invoke(IOutgoingGrainCallContext context)
    {
        if (context.SourceContext?.GrainInstance is not GameGrain)
        {
            await context.Invoke();
            return;
        }

        var begin = Stopwatch.GetTimestamp();
        await context.Invoke();
        var ms = Stopwatch.GetElapsedTime(begin).TotalMilliseconds;
        var bucket = ms <= FirstMs ? 0 : Math.Min(Count, (int)Math.Ceiling(Math.Log(ms / FirstMs) / Math.Log(Growth)));
        Interlocked.Increment(ref _counts[bucket]);
    }
}
