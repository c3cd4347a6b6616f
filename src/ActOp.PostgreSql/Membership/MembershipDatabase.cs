using System.Net;
using ActOp.PostgreSql.Schema;
using Npgsql;
using Orleans;
using Orleans.Messaging;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Membership;

/// <summary>The database of clustering, apart from those of other parts of the same node. Owns it; disposed with the container.</summary>
internal sealed class MembershipDatabase(Database database) : IAsyncDisposable, IDisposable
{
    /// <summary>There is one request at a time; others serve while broken ones are being closed.</summary>
    internal const int Connections = 3;

    internal Database Database => database;

    public ValueTask DisposeAsync() => database.DisposeAsync();

    public void Dispose() => database.Dispose();
}

/// <summary>
/// Before a silo joins: a database that refuses it, by a wrong password or name or for want of rights, fails the start. One that cannot be
/// reached does not: the silo joins when it can.
/// </summary>
/// <remarks>Owns nothing. Ends within <see cref="Limit"/>.</remarks>
internal sealed class MembershipStart(MembershipDatabase membership) : ILifecycleParticipant<ISiloLifecycle>, ILifecycleObserver
{
    private const int BeforeJoin = ServiceLifecycleStage.RuntimeServices - 1;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);

    public void Participate(ISiloLifecycle observer) => observer.Subscribe("membership in PostgreSQL", BeforeJoin, this);

    public async Task OnStart(CancellationToken cancellationToken = default)
    {
        using var limit = new CancellationTokenSource(Limit, membership.Database.Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            await using var connection = await membership.Database.OpenAsync(both.Token).ConfigureAwait(false);
        }
        catch (PostgresException refused)
        {
            throw new OrleansConfigurationException(
                "The database of AdoNetClusteringSiloOptions refuses this silo: " + refused.MessageText + " (" + refused.SqlState + ").",
                refused);
        }
        catch (IOException)
        {
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    public Task OnStop(CancellationToken cancellationToken = default) => Task.CompletedTask;
}

/// <summary>The gateways of the active silos, read from the membership table.</summary>
/// <remarks>
/// Owns nothing. Any thread; each list is one query, which ends within <see cref="Limit"/>. If the database does not answer, it fails, and
/// the client keeps the silos that it knows.
/// </remarks>
internal sealed class PostgresGateways(MembershipDatabase membership, string clusterId, TimeSpan period) : IGatewayListProvider
{
    private const string ListSql =
        "select gateway, silo from actop_silo where cluster_id = $1 and status = $2 and gateway is not null order by silo";

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);

    public TimeSpan MaxStaleness => period;

    public Task InitializeGatewayListProvider() => Task.CompletedTask;

    public async Task<IList<Uri>> GetGateways()
    {
        using var limit = new CancellationTokenSource(Limit, membership.Database.Time);
        try
        {
            await using var connection = await membership.Database.OpenAsync(limit.Token).ConfigureAwait(false);
            await using var list = new NpgsqlCommand(ListSql, connection)
            {
                Parameters =
                {
                    new NpgsqlParameter<string> { TypedValue = clusterId },
                    new NpgsqlParameter<int> { TypedValue = (int)SiloStatus.Active },
                },
            };
            List<Uri> gateways = [];
            await using var reader = await list.ExecuteReaderAsync(limit.Token).ConfigureAwait(false);
            while (await reader.ReadAsync(limit.Token).ConfigureAwait(false))
            {
                if (IPEndPoint.TryParse(reader.GetString(0), out var gateway) && SiloAddress.TryParse(reader.GetString(1), out var silo))
                    gateways.Add(new Uri("gwy.tcp://" + gateway + "/" + silo.Generation));
            }

            membership.Database.NoteReached();
            return gateways;
        }
        catch (Exception exception) when (exception is NpgsqlException or TimeoutException or OperationCanceledException)
        {
            membership.Database.IsLost(exception);
            throw new IOException("The gateways could not be read from PostgreSQL: " + exception.Message, exception);
        }
    }
}
