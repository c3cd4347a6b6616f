namespace ActOp.Bench.Calls;

/// <summary>How long the measurements of calls take.</summary>
/// <param name="Runs">Runs of each, after one warm-up.</param>
/// <param name="Milliseconds">Length of one run.</param>
internal sealed record CallSettings(int Runs, int Milliseconds)
{
    internal TimeSpan Duration => TimeSpan.FromMilliseconds(Milliseconds);
}
