using ActOp.PostgreSql.Schema;
using Npgsql;

namespace ActOp.Tool.Checks;

/// <summary>Looks whether the database can be reached, and has the tables that this version needs. It changes nothing there.</summary>
/// <remarks>Holds a connection while it runs.</remarks>
internal static class DatabaseProbe
{
    private const string Name = "database";
    private const string HowToMake = "The first silo that starts makes them, or run schema/actop.sql of the package ActOp.PostgreSql.";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>Checks a database.</summary>
    /// <param name="connectionString">As silos have it; null if there is none to check.</param>
    /// <param name="cancellationToken">Ends it.</param>
    internal static async Task<CheckLine> RunAsync(string? connectionString, CancellationToken cancellationToken)
    {
        if (connectionString is null)
            return CheckLine.Skipped(Name, "No connection string was given: --postgres-file or ACTOP_POSTGRES.");
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(Patience);
        try
        {
            var source = NpgsqlDataSource.Create(connectionString);
            await using (source.ConfigureAwait(false))
            {
                var connection = await source.OpenConnectionAsync(limit.Token).ConfigureAwait(false);
                await using (connection.ConfigureAwait(false))
                    return LineFor(await Database.VersionAsync(connection, limit.Token).ConfigureAwait(false));
            }
        }
        catch (ArgumentException)
        {
            // The message may contain the password.
            return CheckLine.Failed(
                Name, "What was given is not a connection string of Npgsql, as in Host=db;Database=shop;Username=actop.");
        }
        catch (Exception exception) when (exception is NpgsqlException or TimeoutException or OperationCanceledException
            && !cancellationToken.IsCancellationRequested)
        {
            return CheckLine.Failed(Name, exception is OperationCanceledException
                ? "No answer within " + Patience.TotalSeconds + " s." : exception.Message);
        }
    }

    private static CheckLine LineFor(int version) => version switch
    {
        0 => CheckLine.Failed(Name, "It has no tables of ActOp. " + HowToMake),
        < Database.SchemaVersion => CheckLine.Failed(Name, "Its tables have version " + version
            + ", and silos of this version of ActOp need " + Database.SchemaVersion + ". " + HowToMake),
        > Database.SchemaVersion => CheckLine.Ok(Name, "Its tables have version " + version + ", of a later ActOp than this tool ("
            + Database.SchemaVersion + ")."),
        _ => CheckLine.Ok(Name, "Its tables have version " + version + "."),
    };
}
