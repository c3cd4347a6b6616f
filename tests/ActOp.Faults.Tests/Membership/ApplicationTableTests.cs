using System.Globalization;
using ActOp.Runtime.Cluster;
using ActOp.TestClusters;
using Microsoft.Extensions.Options;
using Orleans.Messaging;
using Orleans.Placement;

namespace ActOp.Faults.Tests.Membership;

/// <summary>Silos that find each other by a membership table of the application.</summary>
public sealed class ApplicationTableTests
{
    [Fact]
    public async Task Three_silos_find_each_other_by_the_table_of_the_application()
    {
        var table = new MapTable();
        await using var cluster = await Start(table);
        var rows = (await table.ReadAll()).Members.Select(static row => row.Item1).ToArray();
        Assert.Equal(cluster.Silos.Select(static silo => silo.SiloAddress).Order(), rows.Select(static row => row.SiloAddress).Order());
        Assert.All(rows, static row => Assert.Equal(SiloStatus.Active, row.Status));
        Assert.All(rows, static row => Assert.StartsWith("Silo_", row.SiloName, StringComparison.Ordinal));
        Assert.All(rows,
            static row => Assert.True(row.ProxyPort > 0 && row.StartTime > DateTime.UnixEpoch && row.IAmAliveTime >= row.StartTime));
        Assert.Equal((1, 3), (table.Versions, table.Initialized));
        Assert.True(table.Cancellable > 0);
        var seats = new HashSet<SiloAddress>();
        for (var key = 0; key < 60; key++)
            seats.Add(await cluster.Client.GetGrain<ISpread>(key).Seat());
        Assert.Equal(3, seats.Count);
    }

    [Fact]
    public async Task A_silo_that_stops_and_one_that_crashes_are_dead_in_the_table()
    {
        var table = new MapTable();
        await using var cluster = await Start(table);
        var (stopped, killed) = (cluster.Silos[1].SiloAddress, cluster.Silos[2].SiloAddress);
        await cluster.StopSiloAsync(cluster.Silos[1]);
        Assert.Equal(SiloStatus.Dead, (await table.ReadAll()).TryGet(stopped)!.Item1.Status);
        await cluster.KillSiloAsync(cluster.Silos[1]);
        await TestingUtils.WaitUntilAsync(
            async _ => (await table.ReadAll()).TryGet(killed)!.Item1.Status == SiloStatus.Dead, 2 * Gate.Patience);
        await cluster.StartAdditionalSiloAsync();
        Assert.Equal(2, (await table.ReadAll()).Members.Count(static row => row.Item1.Status == SiloStatus.Active));
    }

    [Fact]
    public async Task A_table_that_fails_and_refuses_delays_the_start_only()
    {
        var table = new MapTable { Failures = 10, Refusals = 3 };
        await using var cluster = await Start(table);
        Assert.Equal(3, (await table.ReadAll()).Members.Count(static row => row.Item1.Status == SiloStatus.Active));
        Assert.Equal((0, 0), (table.Failures, table.Refusals));
    }

    [Fact]
    public async Task What_a_row_says_survives_the_table_of_the_application()
    {
        var clock = new FakeClock();
        var application = new MapTable();
        var table = new ApplicationTable(application, clock);
        var (one, two) = (Silo(1), Silo(2));
        var rows = new[]
        {
            new MembershipRow(one, "one", SiloStatus.Active, new System.Net.IPEndPoint(one.Endpoint.Address, 7)) { Votes =
                [new Vote(two, 12_345, true)] },
            new MembershipRow(two, "two", SiloStatus.Joining, null) { Votes = [new Vote(one, 3, false)] },
        };
        var reply = await Write(table, 0, rows);
        Assert.True(reply.Accepted);
        Assert.Equal(2, reply.Snapshot.Version);
        foreach (var row in rows)
        {
            var read = reply.Snapshot.FindRow(row.Silo)!;
            Assert.Equal((row.Name, row.Status, row.Gateway, row.Cause), (read.Name, read.Status, read.Gateway, read.Cause));
            Assert.Equal(row.Votes.AsEnumerable(), read.Votes);
        }

        Assert.False((await Write(table, 1, rows)).Accepted);
        foreach (var cause in new[] { DeathCause.Graceful, DeathCause.Replaced, DeathCause.Refused, DeathCause.Silent })
        {
            var version = (await Read(table)).Version;
            var dead = (await Write(table, version, [rows[1].AsDead(cause)])).Snapshot;
            Assert.Equal((SiloStatus.Dead, cause), (dead.FindRow(two)!.Status, dead.FindRow(two)!.Cause));
            Assert.Equal(dead.Version, cause == DeathCause.Graceful ? dead.FindRow(two)!.ChangedAt : dead.Version);
        }

        var before = (await Read(table)).FindRow(one)!.Heartbeat;
        await table.Execute(new TableRequest(9, TableOperation.Heartbeat) { Silo = one }, default);
        Assert.True((await Read(table)).FindRow(one)!.Heartbeat > before);
    }

    [Fact]
    public async Task Rows_that_are_removed_are_dead_or_cleaned_up()
    {
        var application = new MapTable();
        var table = new ApplicationTable(application, new FakeClock());
        var (old, young) = (Silo(1), SiloAddress.New(Silo(1).Endpoint, 2));
        await Write(table, 0, [new MembershipRow(old, "old", SiloStatus.Active, null)]);
        var joined = await table.Execute(new TableRequest(1, TableOperation.Write)
        {
            ExpectedVersion = 1,
            Rows = [new MembershipRow(young, "young", SiloStatus.Joining, null)],
            Removed = [old],
        }, default);
        Assert.True(joined.Accepted);
        Assert.Equal((SiloStatus.Dead, DeathCause.Replaced), (joined.Snapshot.FindRow(old)!.Status, joined.Snapshot.FindRow(old)!.Cause));
        var trimmed = await table.Execute(
            new TableRequest(2, TableOperation.Write) { ExpectedVersion = joined.Snapshot.Version, Removed = [old] }, default);
        Assert.True(trimmed.Accepted);
        Assert.Equal([young], trimmed.Snapshot.Rows.Select(static row => row.Silo));
    }

    [Fact]
    public void Data_of_a_table_names_only_the_last_dead_silo_of_an_endpoint()
    {
        var version = new TableVersion(3, "x");
        Assert.Equal((4, "x"), (version.Next().Version, version.Next().VersionEtag));
        var rows = new[] { (1, SiloStatus.Dead), (2, SiloStatus.Dead), (3, SiloStatus.Active) }.Select(static one => Tuple.Create(
            new MembershipEntry { SiloAddress = SiloAddress.New(Silo(1).Endpoint, one.Item1), Status = one.Item2 }, "e")).ToList();
        var data = new MembershipTableData(rows, version);
        Assert.Equal([3, 2], data.WithoutDuplicateDeads().Members.Select(static row => row.Item1.SiloAddress.Generation));
        Assert.Null(data.TryGet(Silo(9)));
        Assert.NotNull(data.TryGet(rows[0].Item1.SiloAddress));
        Assert.Empty(new MembershipTableData(version).Members);
    }

    [Fact]
    public async Task A_list_of_gateways_is_a_provider()
    {
        var uri = new Uri("gwy.tcp://127.0.0.1:30000/0");
        IGatewayListProvider provider = new StaticGatewayListProvider(
            Options.Create(new StaticGatewayListProviderOptions { Gateways = [uri] }),
            Options.Create(new GatewayOptions { GatewayListRefreshPeriod = TimeSpan.FromSeconds(7) }));
        await provider.InitializeGatewayListProvider();
        Assert.Equal([uri], await provider.GetGateways());
        Assert.Equal(TimeSpan.FromSeconds(7), provider.MaxStaleness);
    }

    private static SiloAddress Silo(int number) => SiloAddress.New(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, number), 1);

    private static async Task<TableReply> Write(ApplicationTable table, long version, MembershipRow[] rows) =>
        await table.Execute(new TableRequest(1, TableOperation.Write) { ExpectedVersion = version, Rows = [.. rows] }, default);

    private static async Task<TableSnapshot> Read(ApplicationTable table) =>
        (await table.Execute(new TableRequest(1, TableOperation.Read), default)).Snapshot;

    private static async Task<InProcessTestCluster> Start(MapTable table)
    {
        var builder = new InProcessTestClusterBuilder(3);
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<IMembershipTable>(table);
            silo.Configure<ClusterMembershipOptions>(static options =>
            {
                options.ProbeTimeout = TimeSpan.FromSeconds(2);
                options.TableRefreshTimeout = TimeSpan.FromSeconds(1);
            });
        });
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }

    /// <summary>A table as applications write them: etags are numbers, and times have milliseconds.</summary>
    private sealed class MapTable : IMembershipTable
    {
        private readonly Lock _gate = new();
        private readonly Dictionary<SiloAddress, (MembershipEntry Entry, int Etag)> _rows = [];
        private TableVersion? _version;
        private int _etags;

        internal int Versions { get; private set; }

        internal int Initialized { get; private set; }

        internal int Failures { get; set; }

        internal int Refusals { get; set; }

        public Task InitializeMembershipTable(bool tryInitTableVersion) => Do(() =>
        {
            Initialized++;
            if (!tryInitTableVersion || _version is not null)
                return true;
            Versions++;
            _version = new TableVersion(0, "0");
            return true;
        });

        public Task DeleteMembershipTableEntries(string clusterId) => Do(() => _rows.Count > 0);

        public Task CleanupDefunctSiloEntries(DateTimeOffset beforeDate) => Do(() =>
        {
            foreach (var (silo, (entry, _)) in _rows)
            {
                if (entry.Status == SiloStatus.Dead && entry.IAmAliveTime < beforeDate.UtcDateTime)
                    _rows.Remove(silo);
            }

            return true;
        });

        public Task<MembershipTableData> ReadRow(SiloAddress key) => Do(() => _rows.TryGetValue(key, out var row)
            ? new MembershipTableData(Tuple.Create(row.Entry, Text(row.Etag)), _version!)
            : new MembershipTableData(_version!));

        /// <summary>Reads that could be cancelled.</summary>
        internal int Cancellable { get; private set; }

        public Task<MembershipTableData> ReadAllAsync(CancellationToken cancellationToken)
        {
            Cancellable += cancellationToken.CanBeCanceled ? 1 : 0;
            return ReadAll();
        }

        public Task<MembershipTableData> ReadAll() => Do(() =>
            new MembershipTableData([.. _rows.Values.Select(static row => Tuple.Create(row.Entry, Text(row.Etag)))], _version!));

        public Task<bool> InsertRow(MembershipEntry entry, TableVersion tableVersion) => Do(() =>
            !_rows.ContainsKey(entry.SiloAddress) && TryWrite(entry, tableVersion));

        public Task<bool> UpdateRow(MembershipEntry entry, string etag, TableVersion tableVersion) => Do(() =>
            _rows.TryGetValue(entry.SiloAddress, out var row) && Text(row.Etag) == etag && TryWrite(entry, tableVersion));

        public Task UpdateIAmAlive(MembershipEntry entry) => Do(() =>
        {
            _rows[entry.SiloAddress].Entry.IAmAliveTime = entry.IAmAliveTime;
            return true;
        });

        private static string Text(int etag) => etag.ToString(CultureInfo.InvariantCulture);

        private static DateTime Truncated(DateTime time) => new(time.Ticks - (time.Ticks % TimeSpan.TicksPerMillisecond), time.Kind);

        private bool TryWrite(MembershipEntry entry, TableVersion version)
        {
            if (version.VersionEtag != _version!.VersionEtag || version.Version != _version.Version + 1)
                return false;
            if (Refusals > 0)
            {
                Refusals--;
                return false;
            }

            _version = new TableVersion(version.Version, Text(++_etags));
            entry.SuspectTimes = entry.SuspectTimes?.ConvertAll(static vote => Tuple.Create(vote.Item1, Truncated(vote.Item2)));
            _rows[entry.SiloAddress] = (entry, ++_etags);
            return true;
        }

        private async Task<T> Do<T>(Func<T> step)
        {
            await Task.Yield();
            lock (_gate)
            {
                if (Failures > 0)
                {
                    Failures--;
                    throw new InvalidOperationException("broken on purpose");
                }

                return step();
            }
        }
    }
    public interface ISpread : IGrainWithIntegerKey
    {
        Task<SiloAddress> Seat();
    }

    [RandomPlacement]
    public sealed class SpreadGrain(ILocalSiloDetails silo) : Grain, ISpread
    {
        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);
    }
}
