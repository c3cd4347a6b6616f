namespace ActOp.Staging.Measuring;

/// <summary>What a thread's clocks show, in nanoseconds.</summary>
/// <param name="Wall">Time.</param>
/// <param name="Cpu">Processor time of the thread.</param>
/// <param name="Ready">Time that the thread was ready to run and had no processor; 0 where the system does not say.</param>
internal readonly record struct ThreadMark(long Wall, long Cpu, long Ready);
