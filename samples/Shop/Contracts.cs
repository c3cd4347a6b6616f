namespace Shop;

/// <summary>What the shop sells, and how many of it are in stock.</summary>
[GenerateSerializer]
public sealed record Product(
    [property: Id(0)] string Id, [property: Id(1)] string Name, [property: Id(2)] decimal Price, [property: Id(3)] int InStock);

/// <summary>A product in a cart. Its price is that of the moment when it was taken.</summary>
[GenerateSerializer]
public sealed record CartItem(
    [property: Id(0)] string ProductId, [property: Id(1)] string Name, [property: Id(2)] decimal Price, [property: Id(3)] int Quantity);

/// <summary>One product.</summary>
public interface IProductGrain : IGrainWithStringKey
{
    /// <summary>The product, or null if there is none of this id.</summary>
    Task<Product?> Get();

    /// <summary>Sets what the product is and how many are in stock.</summary>
    Task Put(string name, decimal price, int inStock);

    /// <summary>Takes pieces out of stock. Null if fewer are left.</summary>
    Task<CartItem?> TryTake(int quantity);

    /// <summary>Puts pieces back into stock.</summary>
    Task PutBack(int quantity);
}

/// <summary>The ids of all products: one grain with the key <see cref="Key"/>.</summary>
public interface ICatalogGrain : IGrainWithStringKey
{
    const string Key = "all";

    Task Add(string productId);

    Task<IReadOnlyList<string>> GetProducts();
}

/// <summary>
/// The cart of one customer. Cart and stock are two writes: a write that fails is taken back, so that no piece is lost or sold twice. A
/// silo that ends between the two, or a storage that fails again when it is asked what is stored, leaves pieces that nobody has; no piece is
/// ever sold twice.
/// </summary>
public interface ICartGrain : IGrainWithStringKey
{
    Task<IReadOnlyList<CartItem>> Get();

    /// <summary>Takes pieces of a product into the cart. False if fewer are left.</summary>
    Task<bool> TryAdd(string productId, int quantity);

    /// <summary>Puts all pieces of a product back into stock.</summary>
    Task Remove(string productId);

    /// <summary>Empties the cart, and returns what was in it.</summary>
    Task<IReadOnlyList<CartItem>> CheckOut();
}
