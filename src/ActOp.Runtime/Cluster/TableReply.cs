namespace ActOp.Runtime.Cluster;

/// <summary>The answer to a <see cref="TableRequest"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="Accepted">Write: whether the version matched and the write was done. Always true for the other operations.</param>
/// <param name="Snapshot">The table after the operation, so that a refused writer can try again at once.</param>
[Orleans.GenerateSerializer]
internal sealed record TableReply(long Id, bool Accepted, TableSnapshot Snapshot);
