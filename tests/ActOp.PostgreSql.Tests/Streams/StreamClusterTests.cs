using System.Collections.Concurrent;
using System.Globalization;
using Npgsql;
using Orleans.Streams;
using Orleans.Streams.Core;
using Orleans.Streams.Filtering;
using Orleans.TestingHost;
using Orleans.TestingHost.Utils;

namespace ActOp.PostgreSql.Tests.Streams;

/// <summary>What the grains of this file have got, by the key of their stream: they may be on any silo of the process.</summary>
public static class Received
{
    private static readonly ConcurrentDictionary<string, List<int>> Lists = new();
    private static readonly ConcurrentDictionary<string, TaskCompletionSource> Holds = new();

    public static int[] Of(string key)
    {
        var list = Lists.GetOrAdd(key, static _ => []);
        lock (list)
            return [.. list];
    }

    public static void Put(string key, int item)
    {
        var list = Lists.GetOrAdd(key, static _ => []);
        lock (list)
            list.Add(item);
    }

    /// <summary>Consumers of the stream hang in an item until it is released.</summary>
    public static TaskCompletionSource Hold(string key) =>
        Holds[key] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public static Task HeldAsync(string key) => Holds.TryGetValue(key, out var hold) ? hold.Task : Task.CompletedTask;

    /// <summary>Waits until a stream has given these items at least.</summary>
    public static Task UntilAsync(string key, params int[] items) => TestingUtils.WaitUntilAsync(
        _ => Task.FromResult(!items.Except(Of(key)).Any()), PostgresFixture.Limit, Often);

    public static readonly TimeSpan Often = TimeSpan.FromMilliseconds(20);
}

public interface IReceiver : IGrainWithStringKey;

[ImplicitStreamSubscription("implicit")]
public sealed class ReceiverGrain : Grain, IReceiver, IStreamSubscriptionObserver
{
    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory) =>
        await handleFactory.Create<int>().ResumeAsync(async (item, _) =>
        {
            Received.Put(this.GetPrimaryKeyString(), item);
            await Received.HeldAsync(this.GetPrimaryKeyString());
            if (item < 0)
                throw new InvalidOperationException("Nobody wants " + item + ".");
        });
}

public sealed class EvenFilter : IStreamFilter
{
    public bool ShouldDeliver(StreamId streamId, object item, string? filterData) => filterData != "even" || (int)item % 2 == 0;
}

/// <summary>Silos with streams in PostgreSQL.</summary>
public sealed class StreamClusterTests(PostgresFixture postgres)
{
    private const string Provider = "pg";

    [Fact]
    public async Task Every_subscription_gets_every_item_in_order_and_the_table_is_empty_afterwards()
    {
        var connectionString = await postgres.CreateAsync();
        await using var cluster = await DeployAsync(connectionString, 2);
        var stream = StreamOf(cluster, StreamId.Create("explicit", "two"));
        List<string> one = [], other = [];
        await stream.SubscribeAsync((item, _) => PutAsync(one, item, RequestContext.Get("who")));
        await cluster.Silos[0].ServiceProvider.GetRequiredService<IClusterClient>().GetStreamProvider(Provider)
            .GetStream<int>(stream.StreamId).SubscribeAsync((item, _) => PutAsync(other, item, RequestContext.Get("who")));
        RequestContext.Set("who", "me");
        await stream.OnNextBatchAsync([1, 2, 3]);
        RequestContext.Clear();
        for (var i = 4; i <= 50; i++)
            await stream.OnNextAsync(i);
        string[] expected = [.. Enumerable.Range(1, 50).Select(static i => i + (i < 4 ? "me" : ""))];
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Count(one) >= 50 && Count(other) >= 50), PostgresFixture.Limit, Received.Often);
        Assert.Equal(expected, one);
        Assert.Equal(expected, other);
        await EmptyAsync(connectionString);
        await Assert.ThrowsAsync<ArgumentException>(
            () => stream.OnNextAsync(1, new Orleans.Providers.Streams.Common.EventSequenceTokenV2(1)));
    }

    [Fact]
    public async Task A_subscription_begins_at_its_token()
    {
        await using var cluster = await DeployAsync(await postgres.CreateAsync(), 1);
        var stream = StreamOf(cluster, StreamId.Create("explicit", "token"));
        List<StreamSequenceToken> tokens = [];
        await stream.SubscribeAsync((_, token) =>
        {
            lock (tokens)
                tokens.Add(token!);
            return Task.CompletedTask;
        });
        for (var i = 0; i < 5; i++)
            await stream.OnNextAsync(i);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(tokens.Count == 5), PostgresFixture.Limit, Received.Often);
        List<string> again = [];
        await stream.SubscribeAsync((item, _) => PutAsync(again, item), tokens[2]);
        await stream.OnNextAsync(5);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Count(again) == 4), PostgresFixture.Limit, Received.Often);
        Assert.Equal(["2", "3", "4", "5"], again);
    }

    [Fact]
    public async Task A_filter_keeps_items_from_a_subscription_and_they_are_confirmed_too()
    {
        var connectionString = await postgres.CreateAsync();
        await using var cluster = await DeployAsync(connectionString, 1, static silo => silo.AddStreamFilter<EvenFilter>(Provider));
        var stream = StreamOf(cluster, StreamId.Create("explicit", "filter"));
        List<string> got = [];
        await stream.SubscribeAsync(new Observer(got), null, "even");
        for (var i = 0; i < 7; i++)
            await stream.OnNextAsync(i);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Count(got) == 4), PostgresFixture.Limit, Received.Often);
        Assert.Equal(["0", "2", "4", "6"], got);
        await EmptyAsync(connectionString);
    }

    /// <summary>Between a delivery and its confirmation, and with items that nobody has read.</summary>
    [Fact]
    public async Task The_loss_of_a_silo_with_agents_and_consumers_loses_no_item()
    {
        var connectionString = await postgres.CreateAsync();
        await using var cluster = await DeployAsync(connectionString, 2);
        string[] keys = [.. Enumerable.Range(0, 16).Select(static i => "lost" + i)];
        var holds = keys.Select(Received.Hold).ToArray();
        foreach (var key in keys)
            await StreamOf(cluster, StreamId.Create("implicit", key)).OnNextAsync(1);
        foreach (var key in keys)
            await Received.UntilAsync(key, 1);
        foreach (var key in keys)
            await StreamOf(cluster, StreamId.Create("implicit", key)).OnNextBatchAsync([2, 3, 4]);

        await cluster.KillSiloAsync(cluster.Silos[1]);
        foreach (var hold in holds)
            hold.SetResult();
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        foreach (var key in keys)
            await StreamOf(cluster, StreamId.Create("implicit", key)).OnNextAsync(5);

        foreach (var key in keys)
        {
            await Received.UntilAsync(key, 1, 2, 3, 4, 5);
            Assert.Equal([1, 2, 3, 4, 5], Received.Of(key).Distinct());
        }

        await EmptyAsync(connectionString);
    }

    [Fact]
    public async Task Queues_move_between_silos_that_come_and_go_without_loss_or_attempts()
    {
        var connectionString = await postgres.CreateAsync();
        await using var cluster = await DeployAsync(connectionString, 1);
        string[] keys = [.. Enumerable.Range(0, 16).Select(static i => "moved" + i)];
        var item = 0;
        await ProduceAsync();
        var joined = await cluster.StartAdditionalSiloAsync();
        await ProduceAsync();
        await cluster.WaitForLivenessToStabilizeAsync();
        await ProduceAsync();
        await cluster.StopSiloAsync(joined);
        await ProduceAsync();
        foreach (var key in keys)
        {
            await Received.UntilAsync(key, [.. Enumerable.Range(1, item)]);
            Assert.Equal(Enumerable.Range(1, item), Received.Of(key).Distinct());
        }

        await EmptyAsync(connectionString);

        async Task ProduceAsync()
        {
            item++;
            foreach (var key in keys)
                await StreamOf(cluster, StreamId.Create("implicit", key)).OnNextAsync(item);
        }
    }

    /// <summary>The claim of an agent that does not want its queue any more would stand in the way until its time is over.</summary>
    [Fact]
    public async Task An_agent_that_stops_while_it_claims_its_queue_leaves_it_to_the_next_one()
    {
        var connectionString = await postgres.CreateAsync();
        await using (await DeployAsync(connectionString, 1, static silo => silo.Services.Configure<StreamLifecycleOptions>(
            Provider, static options => options.StartupState = StreamLifecycleOptions.RunState.Initialized)))
        {
            // It makes the queues.
        }

        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var holder = await source.OpenConnectionAsync();
        await using var transaction = await holder.BeginTransactionAsync();
        await using (var hold = new NpgsqlCommand("select queue_id from actop_stream_reader for update", holder))
            await hold.ExecuteNonQueryAsync();
        await using var cluster = await DeployAsync(connectionString, 1, static silo => silo.Services.Configure<AdoNetStreamOptions>(
            Provider, static options => options.VisibilityTimeout = TimeSpan.FromMinutes(10)));
        await TestingUtils.WaitUntilAsync(
            async _ => await ScalarAsync(connectionString, "select count(*) from pg_locks where not granted") is > 3L,
            PostgresFixture.Limit, Received.Often);
        await cluster.StartAdditionalSiloAsync();
        await cluster.WaitForLivenessToStabilizeAsync();
        await transaction.CommitAsync();
        string[] keys = [.. Enumerable.Range(0, 16).Select(static i => "claimed" + i)];
        foreach (var key in keys)
            await StreamOf(cluster, StreamId.Create("implicit", key)).OnNextAsync(1);
        foreach (var key in keys)
            await Received.UntilAsync(key, 1);
        await EmptyAsync(connectionString);
    }

    [Fact]
    public async Task An_outage_of_the_database_delays_items_and_loses_none()
    {
        Assert.NotNull(postgres.Server);
        await using var server = await PostgresFixture.StartServerAsync();
        await using var cluster = await DeployAsync(server.ConnectionString, 1);
        var stream = StreamOf(cluster, StreamId.Create("implicit", "outage"));
        await stream.OnNextAsync(1);
        await Received.UntilAsync("outage", 1);
        await server.KillAsync();
        var waiting = stream.OnNextAsync(2);
        Assert.False(waiting.IsCompleted);
        await server.StartAgainAsync();
        await waiting.WaitAsync(PostgresFixture.Limit);
        await stream.OnNextAsync(3);
        await Received.UntilAsync("outage", 1, 2, 3);
        Assert.Equal([1, 2, 3], Received.Of("outage").Distinct());
        await EmptyAsync(server.ConnectionString);
    }

    [Fact]
    public async Task What_was_not_delivered_outlives_the_cluster()
    {
        var connectionString = await postgres.CreateAsync();
        await using (var first = await DeployAsync(connectionString, 1, static silo => silo.Services.Configure<StreamLifecycleOptions>(
            Provider, static options => options.StartupState = StreamLifecycleOptions.RunState.Initialized)))
        {
            await StreamOf(first, StreamId.Create("implicit", "outlived")).OnNextBatchAsync([1, 2]);
        }

        await using var second = await DeployAsync(connectionString, 1);
        await Received.UntilAsync("outlived", 1, 2);
        await EmptyAsync(connectionString);
    }

    [Fact]
    public async Task An_item_that_its_consumer_refuses_for_too_long_becomes_a_dead_letter()
    {
        var connectionString = await postgres.CreateAsync();
        await using var cluster = await DeployAsync(connectionString, 1, static silo => silo.Services.Configure<StreamPullingAgentOptions>(
            Provider, static options => options.MaxEventDeliveryTime = TimeSpan.FromMilliseconds(200)));
        var stream = StreamOf(cluster, StreamId.Create("implicit", "refused"));
        await stream.OnNextAsync(-1);
        await stream.OnNextAsync(2);
        await Received.UntilAsync("refused", -1, 2);
        await EmptyAsync(connectionString);
        Assert.Equal(
            1L, await ScalarAsync(connectionString, "select count(*) from actop_stream_dead where reason like 'not delivered to %'"));
    }

    [Fact]
    public async Task A_provider_without_a_database_fails_the_start_and_is_named()
    {
        await using var cluster = Build("Host=/nowhere", 1, static silo => silo.Services.Configure<AdoNetStreamOptions>(
            Provider, static options => options.InitializationTimeout = TimeSpan.FromMilliseconds(200)));
        var exception = await Assert.ThrowsAnyAsync<Exception>(cluster.DeployAsync);
        Assert.Contains("The stream provider pg could not be started", exception.ToString(), StringComparison.Ordinal);
    }

    private static Task PutAsync(List<string> list, int item, object? context = null)
    {
        lock (list)
            list.Add(item.ToString(CultureInfo.InvariantCulture) + context);
        return Task.CompletedTask;
    }

    private static int Count(List<string> list)
    {
        lock (list)
            return list.Count;
    }

    private static IAsyncStream<int> StreamOf(InProcessTestCluster cluster, StreamId stream) =>
        cluster.Client.GetStreamProvider(Provider).GetStream<int>(stream);

    /// <summary>Waits until all was confirmed.</summary>
    private static Task EmptyAsync(string connectionString) => TestingUtils.WaitUntilAsync(
        async isLast =>
        {
            var left = await ScalarAsync(connectionString, """
                select string_agg(concat(queue_id, ':', number, ' ', convert_from(key, 'UTF8'), ' of ', owner, ' ', epoch, ' ', read_to, ' ', confirmed_to, ' ',
                  lease_until - now()), ', ') from actop_stream_message join actop_stream_reader using (queue_id)
                """);
            Assert.False(isLast && left is string, "Not confirmed: " + left);
            return left is not string;
        },
        PostgresFixture.Limit, Received.Often);

    private static async Task<object?> ScalarAsync(string connectionString, string sql)
    {
        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var command = source.CreateCommand(sql);
        return await command.ExecuteScalarAsync();
    }

    private static async Task<InProcessTestCluster> DeployAsync(
        string connectionString, short silos, Action<ISiloBuilder>? configure = null)
    {
        var cluster = Build(connectionString, silos, configure);
        await cluster.DeployAsync();
        return cluster;
    }

    private static InProcessTestCluster Build(string connectionString, short silos, Action<ISiloBuilder>? configure)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.Options.ServiceId = "streams";
        builder.ConfigureSilo((_, silo) =>
        {
            silo.AddMemoryGrainStorage("PubSubStore");
            silo.AddAdoNetStreams(Provider, (SiloAdoNetStreamConfigurator streams) => streams.ConfigurePartitioning(4).ConfigureCache(1000)
                .ConfigureAdoNet(options => options.Configure(Choose)));
            configure?.Invoke(silo);
        });
        builder.ConfigureClient(client => client.AddAdoNetStreams(Provider, (ClusterClientAdoNetStreamConfigurator streams) =>
            streams.ConfigurePartitioning(4).ConfigureAdoNet(options => options.Configure(Choose))));
        return builder.Build();

        void Choose(AdoNetStreamOptions options)
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = connectionString;
        }
    }

    private sealed class Observer(List<string> got) : IAsyncObserver<int>
    {
        public Task OnNextAsync(int item, StreamSequenceToken? token = null) => PutAsync(got, item);

        public Task OnCompletedAsync() => Task.CompletedTask;

        public Task OnErrorAsync(Exception ex) => Task.CompletedTask;
    }
}
