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

    /// <summary>
    /// For how long operations of a storage, and messages of a stream provider, are sent again while the database cannot be reached; then
    /// they fail. Default: 20 s, less than the usual response timeout (30 s), so that the caller gets the reason and not a timeout.
    /// </summary>
    /// <exception cref="Orleans.Runtime.OrleansConfigurationException">At the start: it is not positive, or more than 24 days.</exception>
    public TimeSpan RetryTime { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>Fails with the name of the option that is wrong.</summary>
    internal PostgresOptions Checked() => RetryTime > TimeSpan.Zero && RetryTime < TimeSpan.FromDays(24) ? this
        : throw new Orleans.Runtime.OrleansConfigurationException(
            "PostgresOptions.RetryTime must be positive, up to 24 days, but is " + RetryTime + ".");
}
