namespace Shop;

public sealed class ProductGrain([PersistentState("product", "shop")] IPersistentState<ProductState> product) : Grain, IProductGrain
{
    public Task<Product?> Get() => Task.FromResult(product.RecordExists ? Described() : null);

    public async Task Put(string name, decimal price, int inStock)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(inStock);
        (product.State.Name, product.State.Price, product.State.InStock) = (name, price, inStock);
        await product.WriteStateAsync();
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

    private async Task Change(int pieces)
    {
        product.State.InStock += pieces;
        try
        {
            await product.WriteStateAsync();
        }
        catch
        {
            // What memory says must be what is stored: the next activation reads it.
            DeactivateOnIdle();
            throw;
        }
    }

    private Product Described() => new(this.GetPrimaryKeyString(), product.State.Name, product.State.Price, product.State.InStock);
}

public sealed class CatalogGrain([PersistentState("catalog", "shop")] IPersistentState<CatalogState> catalog) : Grain, ICatalogGrain
{
    public Task Add(string productId) => catalog.State.Products.Add(productId) ? catalog.WriteStateAsync() : Task.CompletedTask;

    public Task<IReadOnlyList<string>> GetProducts() => Task.FromResult<IReadOnlyList<string>>([.. catalog.State.Products]);
}

public sealed class CartGrain([PersistentState("cart", "shop")] IPersistentState<CartState> cart) : Grain, ICartGrain
{
    public Task<IReadOnlyList<CartItem>> Get() => Task.FromResult<IReadOnlyList<CartItem>>([.. cart.State.Items.Values]);

    public async Task<bool> TryAdd(string productId, int quantity)
    {
        if (await GrainFactory.GetGrain<IProductGrain>(productId).TryTake(quantity) is not { } item)
            return false;
        var before = cart.State.Items.TryGetValue(productId, out var held) ? held.Quantity : 0;
        cart.State.Items[productId] = item with { Quantity = before + quantity };
        await cart.WriteStateAsync();
        return true;
    }

    public async Task Remove(string productId)
    {
        if (!cart.State.Items.Remove(productId, out var item))
            return;
        await cart.WriteStateAsync();
        await GrainFactory.GetGrain<IProductGrain>(productId).PutBack(item.Quantity);
    }

    public async Task<IReadOnlyList<CartItem>> CheckOut()
    {
        CartItem[] bought = [.. cart.State.Items.Values];
        await cart.ClearStateAsync();
        return bought;
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
