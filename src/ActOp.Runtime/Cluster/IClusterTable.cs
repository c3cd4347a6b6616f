namespace ActOp.Runtime.Cluster;

/// <summary>
/// The membership table: a small versioned set of rows with compare-and-swap. One atomic operation per request; a database does it in one
/// transaction (<c>update version set version = version + 1 where version = expected</c>, then the rows).
/// </summary>
internal interface IClusterTable
{
    /// <summary>Does one operation.</summary>
    /// <exception cref="IOException">The table cannot be reached; the write may or may not have been done.</exception>
    ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken);
}
