namespace ActOp.Lab.Seda;

/// <summary>An event in the hands of a thread. Used again and again.</summary>
internal sealed class Turn
{
    /// <summary>The stage.</summary>
    public int Stage { get; set; }

    /// <summary>Whose event it is.</summary>
    public Request Request { get; set; }

    /// <summary>How long the thread blocks once it has computed, in seconds.</summary>
    public double Blocked { get; set; }

    /// <summary>The processor time of an always runnable thread when this one began.</summary>
    public double UsedBefore { get; set; }

    /// <summary>The processor time it took, what switching costs included: what an operating system would report.</summary>
    public double Compute { get; set; }
}
