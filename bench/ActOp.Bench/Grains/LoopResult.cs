namespace ActOp.Bench.Grains;

/// <summary>What a loop of calls saw.</summary>
/// <param name="Calls">Calls answered.</param>
/// <param name="MedianMicroseconds">Median time of a call; 0 unless timed exactly.</param>
/// <param name="MaxMilliseconds">Longest time of a call; 0 unless timed.</param>
[GenerateSerializer]
public sealed record LoopResult(
    [property: Id(0)] long Calls, [property: Id(1)] double MedianMicroseconds, [property: Id(2)] double MaxMilliseconds);
