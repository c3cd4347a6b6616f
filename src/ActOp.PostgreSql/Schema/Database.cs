using System.Data.Common;
using ActOp.Foundation;
using ActOp.PostgreSql.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Npgsql;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Schema;

/// <summary>How one part of the application reaches its database: the options of a provider, checked.</summary>
/// <param name="Part">What uses the database, for log lines and errors.</param>
/// <param name="Options">The class of the options, for errors.</param>
/// <param name="ConnectionString">Where the database is.</param>
/// <param name="Source">The application's own source of connections instead.</param>
/// <param name="Invariant">Must be Npgsql.</param>
internal sealed record DatabaseChoice(string Part, string Options, string? ConnectionString, DbDataSource? Source, string? Invariant)
{
    internal const string Npgsql = "Npgsql";

    /// <summary>Fails with the name of the option that is wrong.</summary>
    internal void Validate()
    {
        if (Invariant != Npgsql)
        {
            throw new OrleansConfigurationException(Options + ".Invariant must be \"" + Npgsql
                + "\", the only one that is supported, but is "
                + (string.IsNullOrEmpty(Invariant) ? "not set." : "\"" + Invariant + "\"."));
        }

        if (Source is not (null or NpgsqlDataSource))
        {
            throw new OrleansConfigurationException(
                Options + ".DataSource must be an NpgsqlDataSource, but is a " + Source.GetType() + ".");
        }

        if (Source is null && string.IsNullOrWhiteSpace(ConnectionString))
            throw new OrleansConfigurationException(Options + ".ConnectionString or " + Options + ".DataSource must be set.");
        try
        {
            _ = new NpgsqlConnectionStringBuilder(ConnectionString ?? "");
        }
        catch (ArgumentException)
        {
            // The message may contain the password: it is not passed on.
            throw new OrleansConfigurationException(Options + ".ConnectionString is not a connection string of Npgsql.");
        }
    }
}

/// <summary>What a transaction that failed has done.</summary>
internal enum Failure
{
    /// <summary>Nothing, and the same would fail again.</summary>
    Refused,

    /// <summary>Nothing, because others were in its way: it may be tried again.</summary>
    Blocked,

    /// <summary>Everything or nothing: the connection was lost, or the time was over.</summary>
    Unknown,
}

/// <summary>The connections of one part of a silo or client, and the tables in the database.</summary>
/// <remarks>
/// Owns the source of connections, unless the application gave one. Each part has its own, so that membership never waits for connections
/// that storage uses. Opening is repeated with growing pauses while the database cannot be reached, until the caller's token ends; a wrong
/// password or database name fails at once. After a broken connection, idle ones are dropped too: they are most likely broken as well. The
/// tables are looked for once, also which ones (<see cref="TableChoice"/>); several nodes may create them at the same time, one of them
/// does. Any thread. Disposed with the container.
/// </remarks>
internal sealed class Database : IAsyncDisposable, IDisposable
{
    /// <summary>The version of the tables that this code needs.</summary>
    internal const int SchemaVersion = 2;

    /// <summary>How long what is under way may take to end when its owner is disposed; after that its connections are closed.</summary>
    internal static readonly TimeSpan LongestEnd = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(1);

    private readonly NpgsqlDataSource _source;
    private readonly bool _isOwned;
    private readonly string _part;
    private readonly TimeProvider _time;
    private readonly PostgresLog _log;
    private readonly Random _random;
    private readonly SemaphoreSlim _schema = new(1);
    private volatile bool _hasSchema;
    private long _lostAt;

    internal Database(
        DatabaseChoice choice, int connections, TimeProvider time, PostgresLog log, int seed, TableChoice? tables = null)
    {
        Tables = tables;
        choice.Validate();
        _part = choice.Part;
        _time = time;
        _log = log;
        _random = new Random(seed);
        _isOwned = choice.Source is null;
        _source = choice.Source as NpgsqlDataSource ?? Create(choice.ConnectionString!, connections);
    }

    /// <summary>Makes the database of a part with the application's time and log.</summary>
    /// <param name="services">Time, log, and whose service it is.</param>
    /// <param name="choice">Where the database is.</param>
    /// <param name="connections">At most at the same time.</param>
    /// <param name="tables">The tables to choose from; null for those of ActOp.</param>
    /// <param name="wanted">The choice.</param>
    internal static Database FromServices(
        IServiceProvider services, DatabaseChoice choice, int connections, TablePair? tables = null,
        PostgresTables wanted = PostgresTables.ActOp)
    {
        var log = new PostgresLog(GuardedLoggers.GuardedOf(services).CreateLogger(typeof(Database).Namespace!));
        return new Database(
            choice, connections, services.GetRequiredService<TimeProvider>(), log, Guid.NewGuid().GetHashCode(),
            tables is null ? null : new TableChoice(
                wanted, tables, choice.Part, services.GetRequiredService<IOptions<ClusterOptions>>().Value.ServiceId, log));
    }

    /// <summary>Who uses it, for log lines and errors.</summary>
    internal string Part => _part;

    /// <summary>Which tables the part uses; null for those of ActOp.</summary>
    internal TableChoice? Tables { get; }

    /// <summary>The queries of Orleans if its tables are used; null if those of ActOp are, or before the first connection.</summary>
    internal IReadOnlyDictionary<string, string>? OrleansQueries => Tables?.Queries;

    internal TimeProvider Time => _time;

    internal PostgresLog Log => _log;

    public async ValueTask DisposeAsync()
    {
        if (_isOwned)
            await _source.DisposeAsync().ConfigureAwait(false);
        _schema.Dispose();
    }

    public void Dispose()
    {
        if (_isOwned)
            _source.Dispose();
        _schema.Dispose();
    }

    /// <summary>A connection to a database that has the tables.</summary>
    /// <exception cref="IOException">The token ended before the database could be reached.</exception>
    internal async ValueTask<NpgsqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        for (var failures = 0; ; failures++)
        {
            var connection = await ConnectAsync(cancellationToken).ConfigureAwait(false);
            if (_hasSchema)
                return connection;
            try
            {
                await EnsureSchemaAsync(connection, cancellationToken).ConfigureAwait(false);
                return connection;
            }
            catch (Exception exception)
            {
                await CloseAsync(connection).ConfigureAwait(false);
                // A database that is slow or lost here is as one that could not be connected to.
                if (cancellationToken.IsCancellationRequested && (exception is OperationCanceledException || IsLost(exception)))
                    throw Unreachable(exception);
                if (!IsLost(exception))
                    throw;
                await PauseAsync(failures, exception, cancellationToken).ConfigureAwait(false);
            }
        }
    }

    /// <summary>
    /// Runs work that may be done twice, and does it again while the database is lost, until <paramref name="longest"/> has passed. The
    /// work is told whether an earlier attempt may have been done.
    /// </summary>
    internal async Task<T> RepeatAsync<T>(TimeSpan longest, Func<NpgsqlConnection, bool, CancellationToken, Task<T>> work)
    {
        using var limit = new CancellationTokenSource(longest, _time);
        for (var failures = 0; ; failures++)
        {
            try
            {
                await using var connection = await OpenAsync(limit.Token).ConfigureAwait(false);
                var result = await work(connection, failures > 0, limit.Token).ConfigureAwait(false);
                NoteReached();
                return result;
            }
            catch (Exception exception) when (!limit.IsCancellationRequested && IsLost(exception))
            {
                await Task.Delay(PauseAfter(failures), _time, limit.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    /// <summary>
    /// Says whether a failure means that the connection was lost or the database is not there, so that what was asked may have been done or
    /// not. If so, idle connections are dropped.
    /// </summary>
    internal bool IsLost(Exception exception)
    {
        if (!IsOutage(exception))
            return false;
        NoteLost(exception);
        _source.Clear();
        return true;
    }

    /// <summary>What a transaction that failed has done. If the connection was lost, idle ones are dropped.</summary>
    internal Failure FailureOf(Exception exception) => exception switch
    {
        PostgresException { SqlState: PostgresErrorCodes.SerializationFailure or PostgresErrorCodes.DeadlockDetected } => Failure.Blocked,
        OperationCanceledException => Failure.Unknown,
        _ => IsLost(exception) ? Failure.Unknown : Failure.Refused,
    };

    /// <summary>How long a transaction may take whose last caller gives up at that timestamp: a little, if that has passed.</summary>
    internal TimeSpan Remaining(long givenUpAt)
    {
        var shortest = TimeSpan.FromMilliseconds(100);
        var left = _time.GetElapsedTime(_time.GetTimestamp(), givenUpAt);
        return left > shortest ? left : shortest;
    }

    internal static NpgsqlBatchCommand Command(string sql, params ReadOnlySpan<NpgsqlParameter> parameters)
    {
        var command = new NpgsqlBatchCommand(sql);
        foreach (var parameter in parameters)
            command.Parameters.Add(parameter);
        return command;
    }

    /// <summary>A connection that broke may throw when it is closed; there is nothing left to be done about it.</summary>
    internal static async Task CloseAsync(NpgsqlConnection connection)
    {
        try
        {
            await connection.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is NpgsqlException or IOException or InvalidOperationException)
        {
            // The pool has dropped it.
        }
    }

    /// <summary>The pause before the next attempt: twice as long each time, up to a second, and never the same in two silos.</summary>
    internal TimeSpan PauseAfter(int failures)
    {
        var longest = Math.Min(LongestPause.TotalMilliseconds, FirstPause.TotalMilliseconds * Math.Pow(2, Math.Min(failures, 10)));
        lock (_random)
            return TimeSpan.FromMilliseconds(longest * (0.5 + (_random.NextDouble() / 2)));
    }

    /// <summary>An answer has arrived.</summary>
    internal void NoteReached()
    {
        var lostAt = Volatile.Read(ref _lostAt);
        if (lostAt != 0 && Interlocked.CompareExchange(ref _lostAt, 0, lostAt) == lostAt)
            _log.DatabaseReached(_part, _time.GetElapsedTime(lostAt).TotalSeconds);
    }

    private static NpgsqlDataSource Create(string connectionString, int connections)
    {
        var given = new NpgsqlConnectionStringBuilder(connectionString);
        var settings = new NpgsqlConnectionStringBuilder(connectionString);
        if (!given.ContainsKey("Application Name"))
            settings.ApplicationName = "ActOp";
        if (!given.ContainsKey("Maximum Pool Size"))
            settings.MaxPoolSize = connections;
        if (!given.ContainsKey("Max Auto Prepare"))
            settings.MaxAutoPrepare = 16;
        if (!given.ContainsKey("Auto Prepare Min Usages"))
            settings.AutoPrepareMinUsages = 2;
        return NpgsqlDataSource.Create(settings);
    }

    /// <summary>Not the fault of what was asked: the connection, the server's state, or too many connections.</summary>
    private static bool IsOutage(Exception exception) => exception switch
    {
        // Classes of the SQL standard: 08 connection, 53 resources, 57P the server stops or starts, 25006 a standby that cannot write.
        PostgresException refused => refused.SqlState.StartsWith("08", StringComparison.Ordinal)
            || refused.SqlState.StartsWith("53", StringComparison.Ordinal) || refused.SqlState.StartsWith("57P", StringComparison.Ordinal)
            || refused.SqlState == PostgresErrorCodes.ReadOnlySqlTransaction,
        NpgsqlException or IOException or TimeoutException => true,
        _ => false,
    };

    private void NoteLost(Exception exception)
    {
        if (Interlocked.CompareExchange(ref _lostAt, Math.Max(1, _time.GetTimestamp()), 0) == 0)
            _log.DatabaseLost(_part, exception);
    }

    private async ValueTask<NpgsqlConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        Exception? last = null;
        for (var failures = 0; ; failures++)
        {
            try
            {
                return await _source.OpenConnectionAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (Exception exception) when (IsLost(exception))
            {
                last = exception;
            }
            catch (OperationCanceledException exception) when (cancellationToken.IsCancellationRequested)
            {
                throw Unreachable(last ?? exception);
            }

            await PauseAsync(failures, last, cancellationToken).ConfigureAwait(false);
        }
    }

    private async Task PauseAsync(int failures, Exception last, CancellationToken cancellationToken)
    {
        try
        {
            await Task.Delay(PauseAfter(failures), _time, cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            throw Unreachable(last);
        }
    }

    private IOException Unreachable(Exception cause) => new(_part + " cannot reach the database: " + cause.Message, cause);

    private async Task EnsureSchemaAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await _schema.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (_hasSchema)
                return;
            var areOfOrleans = Tables is not null && await Tables.DecideAsync(connection, cancellationToken).ConfigureAwait(false);
            if (!areOfOrleans && await VersionAsync(connection, cancellationToken).ConfigureAwait(false) < SchemaVersion)
                await ApplyAsync(connection, cancellationToken).ConfigureAwait(false);
            _hasSchema = true;
        }
        finally
        {
            _schema.Release();
        }
    }

    /// <summary>The version of the tables of ActOp in a database; 0 if there are none.</summary>
    internal static async Task<int> VersionAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var exists = new NpgsqlCommand("select to_regclass('actop_schema') is not null", connection);
        if (await exists.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false) is not true)
            return 0;
        await using var version = new NpgsqlCommand("select coalesce(max(version), 0) from actop_schema", connection);
        return (int)(await version.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false))!;
    }

    /// <summary>All or nothing. The script takes the lock by which one of several nodes goes first.</summary>
    private async Task ApplyAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        try
        {
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken).ConfigureAwait(false);
            await using var script = new NpgsqlCommand(Script, connection, transaction);
            await script.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
            await transaction.CommitAsync(cancellationToken).ConfigureAwait(false);
            _log.SchemaApplied(SchemaVersion);
        }
        catch (PostgresException exception) when (exception.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            throw new OrleansConfigurationException("The tables of ActOp (version " + SchemaVersion + ") are not in the database, and "
                + _part + " may not create them: " + exception.MessageText + ". Run actop.sql as a role that may.", exception);
        }
    }

    /// <summary>The script that makes the tables.</summary>
    internal static string Script
    {
        get
        {
            using var reader = new StreamReader(typeof(Database).Assembly.GetManifestResourceStream("actop.sql")!);
            return reader.ReadToEnd();
        }
    }
}
