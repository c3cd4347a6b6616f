using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;
using Orleans.Storage;
using Orleans.TestingHost;
using Shop;

namespace ActOp.Samples.Tests;

/// <summary>The pieces of a product are in stock or in a cart, whatever the storage does.</summary>
public class ShopGrainTests
{
    [Theory, InlineData(false), InlineData(true)]
    public async Task A_cart_that_is_not_stored_gives_its_pieces_back(bool isStored)
    {
        var (cluster, shelf) = await StartAsync();
        await using var _ = cluster;
        var (product, cart) = (cluster.Client.GetGrain<IProductGrain>("tea"), cluster.Client.GetGrain<ICartGrain>("ada"));
        await product.Put("Tea", 2.5m, 5);
        Assert.True(await cart.TryAdd("tea", 2));
        shelf.Fails("cart", isStored);
        Assert.Equal(isStored, await Record.ExceptionAsync(() => cart.TryAdd("tea", 1)) is null);
        Assert.Equal(isStored ? 3 : 2, Assert.Single(await cart.Get()).Quantity);
        Assert.Equal(isStored ? 2 : 3, (await product.Get())!.InStock);
    }

    [Theory, InlineData(false), InlineData(true)]
    public async Task A_cart_that_keeps_its_pieces_gives_none_back(bool isStored)
    {
        var (cluster, shelf) = await StartAsync();
        await using var _ = cluster;
        var (product, cart) = (cluster.Client.GetGrain<IProductGrain>("tea"), cluster.Client.GetGrain<ICartGrain>("ada"));
        await product.Put("Tea", 2.5m, 5);
        Assert.True(await cart.TryAdd("tea", 2));
        shelf.Fails("cart", isStored);
        Assert.Equal(isStored, await Record.ExceptionAsync(() => cart.Remove("tea")) is null);
        Assert.Equal(isStored ? 0 : 1, (await cart.Get()).Count);
        Assert.Equal(isStored ? 5 : 3, (await product.Get())!.InStock);
    }

    private static async Task<(InProcessTestCluster Cluster, Shelf Shelf)> StartAsync()
    {
        var shelf = new Shelf();
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => silo.Services.AddKeyedSingleton<IGrainStorage>("shop", shelf));
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return (cluster, shelf);
    }

    /// <summary>Storage in memory, of which a write can fail before or after it is done.</summary>
    private sealed class Shelf : IGrainStorage
    {
        private readonly ConcurrentDictionary<(string, GrainId), (object State, string ETag)> _stored = new();
        private (string Name, bool IsStored)? _fault;
        private int _writes;

        internal void Fails(string name, bool isStored) => _fault = (name, isStored);

        public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            grainState.RecordExists = _stored.TryGetValue((stateName, grainId), out var stored);
            grainState.State = grainState.RecordExists ? Copy((T)stored.State) : Activator.CreateInstance<T>();
            grainState.ETag = stored.ETag;
            return Task.CompletedTask;
        }

        public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            var fault = _fault is { } one && one.Name == stateName ? one : default((string Name, bool IsStored)?);
            if (fault is not { IsStored: false })
            {
                var etag = Interlocked.Increment(ref _writes).ToString();
                _stored[(stateName, grainId)] = (Copy(grainState.State)!, etag);
                (grainState.ETag, grainState.RecordExists) = (etag, true);
            }

            if (fault is null)
                return Task.CompletedTask;
            _fault = null;
            return Task.FromException(new IOException("The disk is full."));
        }

        public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            _stored.TryRemove((stateName, grainId), out _);
            (grainState.ETag, grainState.RecordExists) = (null, false);
            return Task.CompletedTask;
        }

        private static T Copy<T>(T state) =>
            System.Text.Json.JsonSerializer.Deserialize<T>(System.Text.Json.JsonSerializer.Serialize(state))!;
    }
}
