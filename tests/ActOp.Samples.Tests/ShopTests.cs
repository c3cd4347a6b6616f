using System.Net;
using System.Net.Http.Json;
using ActOp.Harness.Processes;
using static Microsoft.Playwright.Assertions;

namespace ActOp.Samples.Tests;

public class ShopTests(BrowserFixture browser)
{
    [Fact]
    public async Task Products_and_carts_in_files_survive_a_killed_silo()
    {
        var folder = Directory.CreateTempSubdirectory("actop-shop-");
        try
        {
            await SurviveAsync("--Data", folder.FullName);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Products_and_carts_in_PostgreSQL_survive_a_killed_silo()
    {
        if (PostgresServer.Programs is null)
        {
            Assert.False(
                Environment.GetEnvironmentVariable("CI") == "true", "PostgreSQL is not installed, and a pipeline must not skip this test.");
            Assert.Skip("POSTGRESQL IS NOT INSTALLED (apt-get install postgresql).");
        }

        await using var server = await PostgresServer.StartAsync("fsync=off");
        await SurviveAsync("--Postgres", server.ConnectionString);
    }

    [Fact]
    public async Task The_last_piece_is_sold_once()
    {
        var folder = Directory.CreateTempSubdirectory("actop-shop-");
        try
        {
            await using var shop = await SampleProcess.StartAsync("Shop", "--Data", folder.FullName);
            await PutAsync(shop, "tea", inStock: 5);
            var sold = await Task.WhenAll(Enumerable.Range(0, 20).Select(customer => AddAsync(shop, "customer" + customer, "tea")));
            Assert.Equal(5, sold.Count(static status => status == HttpStatusCode.NoContent));
            Assert.Equal(15, sold.Count(static status => status == HttpStatusCode.Conflict));
            Assert.Equal(0, Assert.Single(await ProductsAsync(shop)).InStock);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task A_bad_request_is_the_fault_of_the_one_who_sends_it()
    {
        var folder = Directory.CreateTempSubdirectory("actop-shop-");
        try
        {
            await using var shop = await SampleProcess.StartAsync("Shop", "--Data", folder.FullName);
            object[] wrong = [new { Name = "", Price = 1, InStock = 1 }, new { Name = "tea", Price = 1, InStock = -1 }];
            foreach (var product in wrong)
                Assert.Equal(HttpStatusCode.BadRequest, (await shop.Http.PutAsJsonAsync("/api/products/tea", product)).StatusCode);
            await PutAsync(shop, "tea", inStock: 5);
            Assert.Equal(HttpStatusCode.BadRequest, await AddAsync(shop, "ada", "tea?quantity=0"));
            Assert.Equal(HttpStatusCode.BadRequest, await AddAsync(shop, "ada", "tea?quantity=many"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task The_page_shows_products_and_fills_and_empties_a_cart()
    {
        var folder = Directory.CreateTempSubdirectory("actop-shop-");
        try
        {
            await using var shop = await SampleProcess.StartAsync("Shop", "--Data", folder.FullName);
            var page = await browser.OpenAsync(shop.Address);
            await page.ClickAsync("#fill");
            await Expect(page.Locator("#products tr")).ToHaveCountAsync(3);
            await Expect(page.Locator("#empty")).ToBeHiddenAsync();
            var pot = page.Locator("#products tr", new() { HasText = "Pot" });
            await pot.Locator("button").ClickAsync();
            await Expect(page.Locator("#cart tr")).ToHaveCountAsync(1);
            await Expect(pot.Locator("td").Nth(2)).ToHaveTextAsync("0");
            await pot.Locator("button").ClickAsync();
            await Expect(page.Locator("#status")).ToHaveTextAsync("Not enough in stock.");
            await page.ClickAsync("#cart button");
            await Expect(page.Locator("#cart tr")).ToHaveCountAsync(0);
            await Expect(pot.Locator("td").Nth(2)).ToHaveTextAsync("1");
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static async Task SurviveAsync(params string[] storage)
    {
        await using (var shop = await SampleProcess.StartAsync("Shop", storage))
        {
            await PutAsync(shop, "tea", inStock: 5);
            Assert.Equal(HttpStatusCode.NoContent, await AddAsync(shop, "ada", "tea"));
            Assert.Equal(HttpStatusCode.NoContent, await AddAsync(shop, "ada", "tea"));
            await shop.KillAsync();
        }

        await using var again = await SampleProcess.StartAsync("Shop", storage);
        Assert.Equal(new Product("tea", "tea", 2.50m, 3), Assert.Single(await ProductsAsync(again)));
        var cart = await again.Http.GetFromJsonAsync<CartItem[]>("/api/carts/ada");
        Assert.Equal(new CartItem("tea", 2), Assert.Single(cart!));
        var bought = await again.Http.PostAsync("/api/carts/ada/checkout", null);
        Assert.Equal(HttpStatusCode.OK, bought.StatusCode);
        Assert.Empty((await again.Http.GetFromJsonAsync<CartItem[]>("/api/carts/ada"))!);
    }

    private static async Task PutAsync(SampleProcess shop, string id, int inStock)
    {
        var answer = await shop.Http.PutAsJsonAsync("/api/products/" + id, new { Name = id, Price = 2.50m, InStock = inStock });
        answer.EnsureSuccessStatusCode();
    }

    private static async Task<HttpStatusCode> AddAsync(SampleProcess shop, string customer, string product)
    {
        using var answer = await shop.Http.PostAsync($"/api/carts/{customer}/{product}", null);
        return answer.StatusCode;
    }

    private static async Task<Product[]> ProductsAsync(SampleProcess shop) =>
        (await shop.Http.GetFromJsonAsync<Product[]>("/api/products"))!;

    private sealed record Product(string Id, string Name, decimal Price, int InStock);

    private sealed record CartItem(string ProductId, int Quantity);
}
