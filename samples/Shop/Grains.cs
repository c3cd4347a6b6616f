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
        var product = GrainFactory.GetGrain<IProductGrain>(productId);
        if (await product.TryTake(quantity) is not { } item)
            return false;
        var before = Held(productId);
        cart.State.Items[productId] = item with { Quantity = before + quantity };
        try
        {
            await cart.WriteStateAsync();
        }
        catch
        {
            // A write that failed may have been done all the same. What is stored decides who has the pieces.
            await cart.ReadStateAsync();
            if (Held(productId) == before)
            {
                await product.PutBack(quantity);
                throw;
            }
        }

        return true;
    }

    public async Task Remove(string productId)
    {
        if (!cart.State.Items.Remove(productId, out var item))
            return;
        try
        {
            await cart.WriteStateAsync();
        }
        catch
        {
            await cart.ReadStateAsync();
            if (Held(productId) > 0)
                throw;
        }

        await GrainFactory.GetGrain<IProductGrain>(productId).PutBack(item.Quantity);
    }

    private int Held(string productId) => cart.State.Items.TryGetValue(productId, out var item) ? item.Quantity : 0;

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
