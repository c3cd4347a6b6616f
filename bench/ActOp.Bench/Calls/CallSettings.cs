namespace ActOp.Bench.Calls;

/// <summary>How long the measurements of calls take.</summary>
/// <param name="Runs">Runs of each, after one warm-up.</param>
/// <param name="Milliseconds">Length of one run.</param>
/// <param name="Count">For measurements that create a number of things instead; null for none.</param>
/// <param name="Tls">Whether remote calls are measured over TLS too.</param>
/// <param name="Middleware">Whether they are measured with connection middleware too.</param>
/// <param name="OnlyEnds">Whether only the first and the last point of a figure are measured.</param>
internal sealed record CallSettings(
    int Runs, int Milliseconds, int? Count = null, bool Tls = false, bool Middleware = false, bool OnlyEnds = false)
{
    internal TimeSpan Duration => TimeSpan.FromMilliseconds(Milliseconds);
}
