namespace ActOp.Partitioning;

/// <summary>What silo q decided (Algorithm 1, steps 2 to 4).</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Accepted">S0: the offered vertices that shall move from p to q.</param>
/// <param name="Given">T0: the vertices that move from q to p, with their edges.</param>
/// <param name="Gain">By how much the cut falls, in edge weight, less the cost of the moves.</param>
/// <param name="LoadChange">By how much the load of q rises (and that of p falls).</param>
public sealed record ExchangePlan<TVertex>(TVertex[] Accepted, CandidateSet<TVertex> Given, double Gain, double LoadChange)
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>The number of vertices that move.</summary>
    public int Moves => Accepted.Length + Given.Count;
}
