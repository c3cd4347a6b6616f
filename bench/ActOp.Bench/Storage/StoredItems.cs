using System.Diagnostics;
using ActOp.Bench.Calls;
using ActOp.Floors;
using ActOp.Harness.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Bench.Storage;

/// <summary>
/// Streams in PostgreSQL: producers of one silo, each with a stream of its own, add items of 200 bytes one after the other, and a grain per
/// stream gets them. The rate is that of items that were committed, delivered and confirmed.
/// </summary>
internal static class StoredItems
{
    private const string Provider = "items";

    internal static async Task RunAsync(int runs, int seconds, int producers, Func<PostgresServer, int, int, Task<double>> commits)
    {
        await using var server = await PostgresServer.StartAsync();
        await commits(server, producers, 0);
        using var host = await StartAsync(server.ConnectionString);
        await ProduceAsync(host, producers, 500);
        List<double> floors = [], items = [];
        for (var run = 0; run < runs; run++)
        {
            floors.Add(await commits(server, producers, seconds));
            items.Add(await ProduceAsync(host, producers, seconds * 1000));
        }

        await host.StopAsync();
        Console.WriteLine(new Row($"pgbench -N, {producers} clients", "commits/s", Spread.Of(floors)));
        Console.WriteLine(new Row($"items of 200 bytes, {producers} streams", "items/s", Spread.Of(items)));
    }

    private static async Task<double> ProduceAsync(IHost host, int producers, int milliseconds)
    {
        var grains = host.Services.GetRequiredService<IGrainFactory>();
        var start = Stopwatch.GetTimestamp();
        var first = StoredItemConsumer.Received;
        var keys = Enumerable.Range(0, producers).Select(static key => "stream" + key).ToArray();
        var sent = await Task.WhenAll(keys.Select(key => grains.GetGrain<IStoredItemProducer>(key).Produce(milliseconds)));
        while (StoredItemConsumer.Received - first < sent.Sum() && Stopwatch.GetElapsedTime(start).TotalSeconds < 60)
            await Task.Delay(1);
        if (StoredItemConsumer.Received - first < sent.Sum())
        {
            throw new InvalidOperationException(
                sent.Sum() + " items were sent, " + (StoredItemConsumer.Received - first) + " have arrived.");
        }

        return sent.Sum() / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }

    private static async Task<IHost> StartAsync(string connectionString)
    {
        var ports = Ports.FindFree(2);
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleans(silo => silo.UseLocalhostClustering(ports[0], ports[1]).AddMemoryGrainStorage("PubSubStore").AddAdoNetStreams(
            Provider, (AdoNetStreamOptions options) =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = connectionString;
            }));
        var host = builder.Build();
        await host.StartAsync();
        return host;
    }
}

/// <summary>Adds items to the stream of its key.</summary>
public interface IStoredItemProducer : IGrainWithStringKey
{
    /// <summary>For so long, one after the other; returns how many.</summary>
    Task<int> Produce(int milliseconds);
}

/// <inheritdoc/>
public sealed class StoredItemProducer : Grain, IStoredItemProducer
{
    /// <inheritdoc/>
    public async Task<int> Produce(int milliseconds)
    {
        var stream = this.GetStreamProvider("items").GetStream<byte[]>(StreamId.Create("stored", this.GetPrimaryKeyString()));
        var item = new byte[200];
        var sent = 0;
        for (var start = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(start).TotalMilliseconds < milliseconds; sent++)
            await stream.OnNextAsync(item);
        return sent;
    }
}

/// <summary>Gets the items of the stream of its key.</summary>
public interface IStoredItemConsumer : IGrainWithStringKey;

/// <inheritdoc/>
[ImplicitStreamSubscription("stored")]
public sealed class StoredItemConsumer : Grain, IStoredItemConsumer, IStreamSubscriptionObserver
{
    private static long s_received;

    /// <summary>The items of all streams so far.</summary>
    public static long Received => Interlocked.Read(ref s_received);

    /// <inheritdoc/>
    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory) =>
        await handleFactory.Create<byte[]>().ResumeAsync((_, _) =>
    {
        Interlocked.Increment(ref s_received);
        return Task.CompletedTask;
    });
}
