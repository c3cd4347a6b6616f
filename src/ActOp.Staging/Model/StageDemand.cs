namespace ActOp.Staging.Model;

/// <summary>
/// What one stage has to do (paper section 5.2, Table 1): the rate of its events and what one of them takes. Times are means, in seconds.
/// </summary>
/// <param name="Arrivals">Events per second, lambda; not negative.</param>
/// <param name="Compute">Processor time of an event, x; above zero if there are arrivals.</param>
/// <param name="Blocked">Time an event waits in synchronous calls, w; not negative.</param>
public readonly record struct StageDemand(double Arrivals, double Compute, double Blocked = 0)
{
    /// <summary>Events per second that one thread serves with a processor of its own, s = 1/(x + w).</summary>
    public double ServiceRate => 1 / (Compute + Blocked);

    /// <summary>The share of a processor that a busy thread takes, beta = x/(x + w).</summary>
    public double ProcessorShare => Compute / (Compute + Blocked);

    /// <summary>Threads that are busy on average, lambda/s: with no more than these the queue grows without end.</summary>
    public double BusyThreads => Arrivals * (Compute + Blocked);

    /// <summary>Processors that are busy on average, lambda beta/s = lambda x.</summary>
    public double Processors => Arrivals * Compute;

    internal void Validate()
    {
        if (!(double.IsFinite(Arrivals) && Arrivals >= 0))
            throw new ArgumentOutOfRangeException(nameof(Arrivals), Arrivals, "The arrivals of a stage are finite and not negative.");
        if (!(double.IsFinite(Compute) && Compute >= 0) || (Arrivals > 0 && Compute == 0))
            throw new ArgumentOutOfRangeException(nameof(Compute), Compute, "The processor time of an event is finite and above zero.");
        if (!(double.IsFinite(Blocked) && Blocked >= 0))
            throw new ArgumentOutOfRangeException(nameof(Blocked), Blocked, "The blocked time of an event is finite and not negative.");
    }
}

/// <summary>Whole threads for each stage.</summary>
/// <param name="Threads">For each stage, in the order given.</param>
/// <param name="IsOverloaded">Some stage has no more threads than are busy: its queue grows.</param>
/// <param name="ExceedsProcessors">If all were busy they would keep more than all processors busy: even the fewest threads that are stable
/// would.</param>
public sealed record ThreadCounts(IReadOnlyList<int> Threads, bool IsOverloaded, bool ExceedsProcessors);

/// <summary>An optimum over real numbers of threads.</summary>
/// <param name="Threads">For each stage.</param>
/// <param name="Multiplier">The price of a processor, theta, in seconds: 0 when there are enough.</param>
/// <param name="IsOverloaded">The stages need all processors or more: no allocation is stable.</param>
public sealed record ThreadShares(IReadOnlyList<double> Threads, double Multiplier, bool IsOverloaded);
