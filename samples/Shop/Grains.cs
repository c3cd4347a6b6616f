namespace Shop;

public sealed class ProductGrain([PersistentState("product", "shop")] IPersistentState<ProductState> product) : Grain, IProductGrain
{
    public Task<Product?> Get() => Task.FromResult(product.RecordExists ? Described() : null);

    public async Task Put(string name, decimal price, int inStock)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentOutOfRangeException.ThrowIfNegative(price);
        ArgumentOutOfRangeException.ThrowIfNegative(inStock);
        (product.State.Name, product.State.Price, product.State.InStock) = (name, price, inStock);
        await this.StoreAsync(
            product, product.WriteStateAsync,
            () => (product.State.Name, product.State.Price, product.State.InStock) == (name, price, inStock));
        await GrainFactory.GetGrain<ICatalogGrain>(ICatalogGrain.Key).Add(this.GetPrimaryKeyString());
    }

    public async Task<CartItem?> TryTake(int quantity)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(quantity);
        if (product.State.InStock < quantity)
            return null;
        await Change(-quantity);
        return new CartItem(this.GetPrimaryKeyString(), product.State.Name, product.State.Price, quantity);
    }

    public Task PutBack(int quantity)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(quantity);
        return Change(quantity);
    }

    private Task Change(int pieces)
    {
        var after = product.State.InStock += pieces;
        return this.StoreAsync(product, product.WriteStateAsync, () => product.State.InStock == after);
    }

    private Product Described() => new(this.GetPrimaryKeyString(), product.State.Name, product.State.Price, product.State.InStock);
}

public sealed class CatalogGrain([PersistentState("catalog", "shop")] IPersistentState<CatalogState> catalog) : Grain, ICatalogGrain
{
    public Task Add(string productId) => catalog.State.Products.Add(productId)
        ? this.StoreAsync(catalog, catalog.WriteStateAsync, () => catalog.State.Products.Contains(productId)) : Task.CompletedTask;

    public Task<IReadOnlyList<string>> GetProducts() => Task.FromResult<IReadOnlyList<string>>([.. catalog.State.Products]);
}

public sealed class CartGrain([PersistentState("cart", "shop")] IPersistentState<CartState> cart) : Grain, ICartGrain
{
    public Task<IReadOnlyList<CartItem>> Get() => Task.FromResult<IReadOnlyList<CartItem>>([.. cart.State.Items.Values]);

    public async Task<bool> TryAdd(string productId, int quantity)
    {
        var product = GrainFactory.GetGrain<IProductGrain>(productId);
        if (await product.TryTake(quantity) is not { } item)
            return false;
        var before = Held(productId);
        cart.State.Items[productId] = item with { Quantity = before + quantity };
        try
        {
            await this.StoreAsync(cart, cart.WriteStateAsync, () => Held(productId) != before);
        }
        catch (NotStoredException)
        {
            await product.PutBack(quantity);
            throw;
        }

        return true;
    }

    public async Task Remove(string productId)
    {
        if (!cart.State.Items.Remove(productId, out var item))
            return;
        await this.StoreAsync(cart, cart.WriteStateAsync, () => Held(productId) == 0);
        try
        {
            await GrainFactory.GetGrain<IProductGrain>(productId).PutBack(item.Quantity);
        }
        catch (NotStoredException)
        {
            // The customer keeps the pieces.
            cart.State.Items[productId] = item;
            await this.StoreAsync(cart, cart.WriteStateAsync, () => Held(productId) > 0);
            throw;
        }
    }

    private int Held(string productId) => cart.State.Items.TryGetValue(productId, out var item) ? item.Quantity : 0;

    public async Task<IReadOnlyList<CartItem>> CheckOut()
    {
        CartItem[] bought = [.. cart.State.Items.Values];
        await this.StoreAsync(cart, cart.ClearStateAsync, () => cart.State.Items.Count == 0);
        return bought;
    }
}

/// <summary>A change was not stored: the state is what it was before.</summary>
public sealed class NotStoredException(string message, Exception cause) : Exception(message, cause);

internal static class Writes
{
    /// <summary>Writes or clears a state. A write that failed may have been done all the same, so what is stored decides.</summary>
    /// <param name="grain">The grain, whose calls are made one after the other.</param>
    /// <param name="state">The state, changed.</param>
    /// <param name="write">Writes it.</param>
    /// <param name="isDone">Whether the state has the change.</param>
    /// <exception cref="NotStoredException">It was not stored.</exception>
    internal static async Task StoreAsync<T>(this Grain grain, IPersistentState<T> state, Func<Task> write, Func<bool> isDone)
    {
        try
        {
            await write();
        }
        catch (Exception exception)
        {
            try
            {
                await state.ReadStateAsync();
            }
            catch
            {
                // What memory says is not known to be what is stored: the next activation reads it.
                grain.GrainContext.Deactivate(
                    new DeactivationReason(DeactivationReasonCode.ApplicationError, exception, "A write is in doubt."));
                throw;
            }

            if (!isDone())
                throw new NotStoredException("The change was not stored: " + exception.Message, exception);
        }
    }
}

[GenerateSerializer]
public sealed class ProductState
{
    [Id(0)]
    public string Name { get; set; } = "";

    [Id(1)]
    public decimal Price { get; set; }

    [Id(2)]
    public int InStock { get; set; }
}

[GenerateSerializer]
public sealed class CatalogState
{
    [Id(0)]
    public SortedSet<string> Products { get; set; } = [];
}

[GenerateSerializer]
public sealed class CartState
{
    [Id(0)]
    public Dictionary<string, CartItem> Items { get; set; } = [];
}
