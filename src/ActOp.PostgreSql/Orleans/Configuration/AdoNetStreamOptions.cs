using System.Data.Common;
using ActOp.PostgreSql.Schema;
using Orleans.Runtime;

namespace Orleans.Configuration;

/// <summary>Streams whose queues are in PostgreSQL.</summary>
public class AdoNetStreamOptions
{
    /// <summary>A connection string of Npgsql. It may contain a password and is not logged.</summary>
    public string? ConnectionString { get; set; }

    /// <summary>An NpgsqlDataSource instead of the connection string. The application disposes it.</summary>
    public DbDataSource? DataSource { get; set; }

    /// <summary>How long dead letters are kept. Default: 7 days.</summary>
    public TimeSpan DeadLetterEvictionTimeout { get; set; } = TimeSpan.FromDays(7);

    /// <summary>How many dead letters of a queue are removed at once, at most. Default: 1000.</summary>
    public int EvictionBatchSize { get; set; } = 1000;

    /// <summary>How often the dead letters of a queue that are due are removed. Default: 10 s.</summary>
    public TimeSpan EvictionInterval { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>A message that no agent has read within this time becomes a dead letter. Default: 10 min.</summary>
    public TimeSpan ExpiryTimeout { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>The start of the silo or client fails if the database does not answer within this time. Default: 30 s.</summary>
    public TimeSpan InitializationTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Must be set to "Npgsql": PostgreSQL is the only database that is supported.</summary>
    public string Invariant { get; set; } = "";

    /// <summary>
    /// How many agents may be lost while they have a message, until it becomes a dead letter. An agent that stops, or that gives its queue
    /// to another silo, does not count. Default: 5.
    /// </summary>
    public int MaxAttempts { get; set; } = 5;

    /// <summary>
    /// For how long a queue belongs to an agent that does not answer any more, unless its silo is known to be dead. Then another agent
    /// takes the messages that were not confirmed. Default: 1 min.
    /// </summary>
    public TimeSpan VisibilityTimeout { get; set; } = TimeSpan.FromMinutes(1);

    internal DatabaseChoice Choice(string name) => new(
        "Streams " + name, nameof(AdoNetStreamOptions), ConnectionString, DataSource, Invariant);

    internal void Validate()
    {
        Positive(DeadLetterEvictionTimeout, nameof(DeadLetterEvictionTimeout));
        Positive(EvictionInterval, nameof(EvictionInterval));
        Positive(ExpiryTimeout, nameof(ExpiryTimeout));
        Positive(InitializationTimeout, nameof(InitializationTimeout));
        Positive(VisibilityTimeout, nameof(VisibilityTimeout));
        if (EvictionBatchSize < 1 || MaxAttempts < 1)
        {
            throw new OrleansConfigurationException(nameof(AdoNetStreamOptions) + "."
                + (MaxAttempts < 1 ? nameof(MaxAttempts) : nameof(EvictionBatchSize)) + " must be at least 1.");
        }
    }

    private static void Positive(TimeSpan time, string option)
    {
        if (time <= TimeSpan.Zero)
        {
            throw new OrleansConfigurationException(
                nameof(AdoNetStreamOptions) + "." + option + " must be longer than 0, but is " + time + ".");
        }
    }
}
