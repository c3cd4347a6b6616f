using ActOp.PostgreSql.Schema;
using ActOp.PostgreSql.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Npgsql;
using Orleans;
using Orleans.Configuration;
using Orleans.GrainDirectory;
using Orleans.GrainDirectory.AdoNet;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Directory;

/// <summary>Registrations of activations in PostgreSQL: one row per grain of a cluster and a directory.</summary>
/// <remarks>
/// <para>Owns its connections until disposed with the container. Any thread. Each method is one transaction in one round trip.</para>
/// <para>Failures. The connection breaks, or the database is away: the statement is sent again, for <see cref="RetryTime"/>, then the start
/// of the activation or the lookup fails; calls that wait get the reason. Doing one twice is doing it once: a row has the id of its
/// activation. Two silos register at the same time: the key of the table lets one of them be first, and both are told who. A silo
/// dies: its rows are removed by the others, and a row that is left is replaced by the next registration, which names it. It hangs: the
/// time of the command ends it.</para>
/// </remarks>
internal sealed class PostgresGrainDirectory(Database database, string clusterId, string name)
    : IGrainDirectory, ILifecycleParticipant<ISiloLifecycle>, ILifecycleObserver, IAsyncDisposable, IDisposable
{
    private const int Connections = 4;

    /// <summary>Less than the usual response timeout.</summary>
    private static readonly TimeSpan RetryTime = TimeSpan.FromSeconds(20);

    /// <summary>The start of the silo fails if the database does not answer within this time.</summary>
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);

    /// <summary>Nothing is replaced except the registration of $7 and $8, if they are given.</summary>
    private const string RegisterSql = """
        insert into actop_directory as d (cluster_id, directory, grain_id, silo, activation, view) values ($1, $2, $3, $4, $5, $6)
        on conflict (cluster_id, directory, grain_id) do update
        set silo = excluded.silo, activation = excluded.activation, view = excluded.view where d.activation = $7 and d.silo = $8
        """;

    private const string LookupSql = """
        select silo, activation, view from actop_directory where cluster_id = $1 and directory = $2 and grain_id = $3
        """;

    private const string UnregisterSql = """
        delete from actop_directory where cluster_id = $1 and directory = $2 and grain_id = $3 and activation = $4
        """;

    private const string UnregisterSilosSql = "delete from actop_directory where cluster_id = $1 and directory = $2 and silo = any($3)";

    internal static PostgresGrainDirectory Create(IServiceProvider services, string name) => new(
        Database.FromServices(
            services, services.GetRequiredService<IOptionsMonitor<AdoNetGrainDirectoryOptions>>().Get(name).Choice(name), Connections),
        services.GetRequiredService<IOptions<ClusterOptions>>().Value.ClusterId, name);

    public Task<GrainAddress?> Register(GrainAddress address) => Register(address, null);

    public Task<GrainAddress?> Register(GrainAddress address, GrainAddress? previousAddress)
    {
        ArgumentNullException.ThrowIfNull(address);
        return ExecuteAsync(address.GrainId, () =>
        [
            Database.Command(
                RegisterSql, Text(clusterId), Text(name), Text(GrainKeys.TextOf(address.GrainId)),
                Text(address.SiloAddress!.ToParsableString()), Text(address.ActivationId.ToParsableString()),
                new NpgsqlParameter<long> { TypedValue = address.MembershipVersion.Value },
                Text(previousAddress?.ActivationId.ToParsableString() ?? ""), Text(previousAddress?.SiloAddress?.ToParsableString() ?? "")),
            SelectGrain(address.GrainId),
        ]);
    }

    public Task<GrainAddress?> Lookup(GrainId grainId) => ExecuteAsync(grainId, () => [SelectGrain(grainId)]);

    public Task Unregister(GrainAddress address)
    {
        ArgumentNullException.ThrowIfNull(address);
        return ExecuteAsync(address.GrainId, () =>
        [
            Database.Command(
                UnregisterSql, Text(clusterId), Text(name), Text(GrainKeys.TextOf(address.GrainId)),
                Text(address.ActivationId.ToParsableString())),
        ]);
    }

    public Task UnregisterSilos(List<SiloAddress> siloAddresses) => ExecuteAsync(default, () =>
    [
        Database.Command(
            UnregisterSilosSql, Text(clusterId), Text(name),
            new NpgsqlParameter<string[]> { TypedValue = [.. siloAddresses.Select(static silo => silo.ToParsableString())] }),
    ]);

    /// <summary>Before grains can start.</summary>
    public void Participate(ISiloLifecycle observer) =>
        observer.Subscribe("grain directory " + name, ServiceLifecycleStage.RuntimeServices, this);

    public async Task OnStart(CancellationToken cancellationToken = default)
    {
        using var limit = new CancellationTokenSource(StartLimit, database.Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        await using var connection = await database.OpenAsync(both.Token).ConfigureAwait(false);
        database.NoteReached();
    }

    public Task OnStop(CancellationToken cancellationToken = default) => Task.CompletedTask;

    public ValueTask DisposeAsync() => database.DisposeAsync();

    public void Dispose() => database.Dispose();

    private static NpgsqlParameter Text(string value) => new NpgsqlParameter<string> { TypedValue = value };

    private NpgsqlBatchCommand SelectGrain(GrainId grain) =>
        Database.Command(LookupSql, Text(clusterId), Text(name), Text(GrainKeys.TextOf(grain)));

    /// <summary>What the last command has found.</summary>
    private Task<GrainAddress?> ExecuteAsync(GrainId grain, Func<NpgsqlBatchCommand[]> commands) =>
        database.RepeatAsync(RetryTime, async (connection, _, cancellationToken) =>
        {
            await using var batch = new NpgsqlBatch(connection);
            foreach (var command in commands())
                batch.BatchCommands.Add(command);

            await using var reader = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
            GrainAddress? found = null;
            while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                found = new GrainAddress
                {
                    GrainId = grain,
                    SiloAddress = SiloAddress.Parse(reader.GetString(0)),
                    ActivationId = ActivationId.FromParsableString(reader.GetString(1)),
                    MembershipVersion = new MembershipVersion(reader.GetInt64(2)),
                };
            }

            return found;
        });
}
