using System.Text.RegularExpressions;
using ActOp.PostgreSql.Configuration;
using Npgsql;
using NpgsqlTypes;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Schema;

/// <summary>A query that a script of Orleans has put into its table OrleansQuery.</summary>
/// <param name="Key">Its name there.</param>
/// <param name="Results">The columns of its result that are read by their names.</param>
internal sealed record OrleansQuery(string Key, params string[] Results)
{
    /// <summary>Whether it returns anything.</summary>
    internal bool HasResult { get; init; } = true;
}

/// <summary>What holds the rows of one part: a table of ours, or one of Orleans with its queries.</summary>
/// <param name="Own">The table of ActOp.</param>
/// <param name="Orleans">The table of Orleans.</param>
/// <param name="Queries">The queries that must be in OrleansQuery.</param>
/// <param name="Parameters">What queries may ask for.</param>
internal sealed record TablePair(
    string Own, string Orleans, OrleansQuery[] Queries, (string Name, NpgsqlDbType Type)[] Parameters);

/// <summary>Decides whether a part uses the tables of ActOp, or those that Orleans has filled (record 0087).</summary>
/// <remarks>
/// <para>The tables of Orleans are used only by the queries that stand beside them in OrleansQuery, as Orleans does: an administrator may
/// have changed both. So each query is looked at once: it must be there, ask for nothing else than Orleans gives, and be understood by the
/// server. What is not so is an <see cref="OrleansConfigurationException"/>; nothing is written in that case.</para>
/// Decided once, by the first connection, under the lock of <see cref="Database"/>. Read by any thread afterwards.
/// </remarks>
internal sealed partial class TableChoice(PostgresTables wanted, TablePair pair, string part, string serviceId, PostgresLog log)
{
    private const string Option = nameof(PostgresOptions) + "." + nameof(PostgresOptions.Tables);

    private volatile IReadOnlyDictionary<string, string>? _queries;
    private volatile bool _isDecided;

    /// <summary>The queries of Orleans by their names; null if the tables of ActOp are used, or if nothing is decided yet.</summary>
    internal IReadOnlyDictionary<string, string>? Queries => _queries;

    /// <summary>False as soon as it is known that the tables of ActOp are used.</summary>
    internal bool MayBeOrleans => _isDecided ? _queries is not null : wanted != PostgresTables.ActOp;

    /// <summary>Decides. True for the tables of Orleans.</summary>
    internal async Task<bool> DecideAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        if (wanted != PostgresTables.ActOp && await AreOfOrleansAsync(connection, cancellationToken).ConfigureAwait(false))
        {
            var queries = await ReadQueriesAsync(connection, cancellationToken).ConfigureAwait(false);
            foreach (var query in pair.Queries)
                await CheckAsync(connection, query, queries[query.Key], cancellationToken).ConfigureAwait(false);
            _queries = queries;
            log.TablesOfOrleans(part, pair.Orleans);
        }

        _isDecided = true;
        return _queries is not null;
    }

    private async Task<bool> AreOfOrleansAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        if (!await ExistsAsync(connection, pair.Orleans, cancellationToken).ConfigureAwait(false))
        {
            return wanted == PostgresTables.Orleans
                ? throw Refused(Option + " is Orleans, but there is no table " + pair.Orleans + ". Run the scripts of Orleans, or "
                    + "check the search path of the connection.")
                : false;
        }

        if (wanted == PostgresTables.Orleans
            || !await ExistsAsync(connection, pair.Own, cancellationToken).ConfigureAwait(false)
            || !await HasRowsAsync(connection, pair.Own, "service_id", cancellationToken).ConfigureAwait(false))
        {
            return true;
        }

        return await HasRowsAsync(connection, pair.Orleans, "ServiceId", cancellationToken).ConfigureAwait(false)
            ? throw Refused("Both " + pair.Orleans + " and " + pair.Own + " have rows of the service " + serviceId + ". Set " + Option
                + " to Orleans or to ActOp.")
            : false;
    }

    private static Task<bool> ExistsAsync(NpgsqlConnection connection, string table, CancellationToken cancellationToken) =>
        IsTrueAsync(connection, "select to_regclass($1) is not null", table, cancellationToken);

    private Task<bool> HasRowsAsync(NpgsqlConnection connection, string table, string column, CancellationToken cancellationToken) =>
        IsTrueAsync(connection, "select exists (select 1 from " + table + " where " + column + " = $1)", serviceId, cancellationToken);

    private async Task<Dictionary<string, string>> ReadQueriesAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        if (!await ExistsAsync(connection, "OrleansQuery", cancellationToken).ConfigureAwait(false))
        {
            throw Refused("There is a table " + pair.Orleans + ", but no table OrleansQuery, which has its queries. Run the scripts of "
                + "Orleans, or set " + Option + " to ActOp.");
        }

        Dictionary<string, string> queries = new(StringComparer.Ordinal);
        await using (var command = new NpgsqlCommand("select QueryKey, QueryText from OrleansQuery where QueryKey = any($1)", connection))
        {
            command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = Array.ConvertAll(pair.Queries, static one => one.Key) });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
            while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
                queries[reader.GetString(0)] = reader.GetString(1);
        }

        var missing = Array.FindAll(pair.Queries, query => !queries.ContainsKey(query.Key));
        return missing.Length == 0 ? queries : throw Refused("OrleansQuery has no "
            + string.Join(", no ", missing.Select(static query => query.Key)) + ". Run the newest script of Orleans for " + pair.Orleans
            + ", or set " + Option + " to ActOp.");
    }

    /// <summary>The server parses the query and tells its result; nothing is executed.</summary>
    private async Task CheckAsync(NpgsqlConnection connection, OrleansQuery query, string text, CancellationToken cancellationToken)
    {
        var others = Names().Matches(text).Select(static match => match.Groups[1].Value).Distinct()
            .Where(name => !Array.Exists(pair.Parameters, known => known.Name.Equals(name, StringComparison.OrdinalIgnoreCase))).ToArray();
        if (others.Length > 0)
        {
            throw Refused("The query " + query.Key + " in OrleansQuery asks for " + string.Join(", ", others)
                + ", which is not given. The scripts of Orleans 7 to 10 fit: migrate the tables to them first.");
        }

        try
        {
            await using var command = new NpgsqlCommand(text, connection);
            foreach (var (name, type) in pair.Parameters)
                command.Parameters.Add(new NpgsqlParameter(name, type) { Value = DBNull.Value });
            await using var reader = await command.ExecuteReaderAsync(System.Data.CommandBehavior.SchemaOnly, cancellationToken)
                .ConfigureAwait(false);
            var columns = Enumerable.Range(0, reader.FieldCount).Select(reader.GetName).ToHashSet(StringComparer.OrdinalIgnoreCase);
            var absent = Array.FindAll(query.Results, result => !columns.Contains(result));
            if (absent.Length > 0 || (query.HasResult && columns.Count == 0))
            {
                throw Refused("The query " + query.Key + " in OrleansQuery does not return "
                    + (absent.Length > 0 ? string.Join(", ", absent) : "anything") + ".");
            }
        }
        catch (PostgresException exception) when (exception.SqlState.StartsWith("42", StringComparison.Ordinal))
        {
            // Class 42: syntax, a missing function or column, or a right that is missing.
            throw Refused("PostgreSQL refuses the query " + query.Key + " in OrleansQuery: " + exception.MessageText + ".", exception);
        }
    }

    private static async Task<bool> IsTrueAsync(
        NpgsqlConnection connection, string sql, string value, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(sql, connection);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = value });
        return await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false) is true;
    }

    private OrleansConfigurationException Refused(string text, Exception? cause = null) =>
        cause is null ? new(part + ": " + text) : new(part + ": " + text, cause);

    /// <summary>Parameters in the text of a query; of <c>@@</c>, none.</summary>
    [GeneratedRegex("(?<![@\\w])@(\\w+)", RegexOptions.CultureInvariant)]
    private static partial Regex Names();
}
