namespace ActOp.Lab;

/// <summary>How long one exchange took to agree on.</summary>
internal readonly record struct ExchangeTiming(double Seconds, int Offers, int Vertices, int Candidates);
