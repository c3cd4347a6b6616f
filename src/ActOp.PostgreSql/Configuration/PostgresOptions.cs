namespace ActOp.PostgreSql.Configuration;

/// <summary>Limits of a storage or a stream provider in PostgreSQL, under the name of the provider.</summary>
public sealed class PostgresOptions
{
    /// <summary>
    /// How many reads, writes and clears of a storage wait for the database, at most; further ones fail at once. Default: 200,000.
    /// </summary>
    public int MaxWaitingOperations { get; set; } = 200_000;

    /// <summary>
    /// How many messages of a stream provider wait to be written, at most; further ones fail at once. Default: 100,000.
    /// </summary>
    public int MaxWaitingMessages { get; set; } = 100_000;
}
