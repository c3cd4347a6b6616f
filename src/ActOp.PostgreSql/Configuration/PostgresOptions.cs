namespace ActOp.PostgreSql.Configuration;

/// <summary>Which tables hold the states of a storage, or the reminders.</summary>
public enum PostgresTables
{
    /// <summary>
    /// Those of Orleans if they are in the database, else those of ActOp. If both have rows of the service, the start fails. A service
    /// that has rows only in the tables of ActOp goes on with them.
    /// </summary>
    Automatic,

    /// <summary>The tables that this package makes.</summary>
    ActOp,

    /// <summary>
    /// The tables that the scripts of Orleans make: OrleansStorage, OrleansRemindersTable and OrleansQuery. Orleans 7 or later can go on
    /// with what ActOp has written. The start fails if they are missing or incomplete.
    /// </summary>
    Orleans,
}

/// <summary>
/// Limits and tables of a storage or a stream provider in PostgreSQL, under the name of the provider; without a name, of the reminders.
/// </summary>
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

    /// <summary>Which tables hold the states of a storage or the reminders. Default: <see cref="PostgresTables.Automatic"/>.</summary>
    /// <exception cref="Orleans.Runtime.OrleansConfigurationException">At the start: the tables are missing, or incomplete.</exception>
    public PostgresTables Tables { get; set; }

    /// <summary>Fails with the name of the option that is wrong.</summary>
    internal PostgresOptions Checked()
    {
        if (RetryTime <= TimeSpan.Zero || RetryTime >= TimeSpan.FromDays(24))
        {
            throw new Orleans.Runtime.OrleansConfigurationException(
                "PostgresOptions.RetryTime must be positive, up to 24 days, but is " + RetryTime + ".");
        }

        return Enum.IsDefined(Tables) ? this : throw new Orleans.Runtime.OrleansConfigurationException(
            "PostgresOptions.Tables must be a value of PostgresTables, but is " + Tables + ".");
    }
}
