using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using OpenTelemetry.Metrics;
using Shop;

// One command runs a silo, the shop's API and its page: http://localhost:5080.
// The state is kept in files under ./shop-data (--Data FOLDER), or in PostgreSQL (--Postgres "Host=...;Database=...").
// A deployment says in the section Orleans of the configuration how silos find each other, and where the storage "shop" is: docs/deploying.md.
var builder = WebApplication.CreateBuilder(new WebApplicationOptions { Args = args, ContentRootPath = AppContext.BaseDirectory });
builder.WebHost.UseUrls(builder.Configuration["Urls"] ?? "http://localhost:5080");
builder.UseOrleans(silo =>
{
    if (!builder.Configuration.GetSection("Orleans:Clustering").Exists())
        silo.UseLocalhostClustering(builder.Configuration.GetValue("SiloPort", 11111), builder.Configuration.GetValue("GatewayPort", 30000));
    if (builder.Configuration["Postgres"] is { } connection)
        silo.AddAdoNetGrainStorage("shop", options => (options.Invariant, options.ConnectionString) = ("Npgsql", connection));
    else if (!builder.Configuration.GetSection("Orleans:GrainStorage:shop").Exists())
        silo.AddFileGrainStorage("shop", options => options.RootDirectory = builder.Configuration["Data"] ?? "shop-data");
});
builder.Services.AddHealthChecks().AddActOp();
builder.Services.AddOpenTelemetry().WithMetrics(static metrics => metrics.AddMeter("ActOp.*").AddPrometheusExporter());
var app = builder.Build();
app.UseFileServer();

// For orchestrators and Prometheus; metrics at the management port only, if there is one.
var management = app.Configuration.GetValue<int?>("ActOp:ManagementPort");
app.UseOpenTelemetryPrometheusScrapingEndpoint(
    context => context.Request.Path == "/metrics" && (management is null || context.Connection.LocalPort == management));
// Answers to this machine only, because it has no policy: docs/dashboard.md.
app.MapActOpDashboard("/actop");
app.MapHealthChecks("/health/live", new HealthCheckOptions { Predicate = static check => check.Tags.Contains("live") });
app.MapHealthChecks("/health/ready", new HealthCheckOptions { Predicate = static check => check.Tags.Contains("ready") });

// What a grain refuses as an argument is a fault of the request.
var api = app.MapGroup("/api").AddEndpointFilter(static async (context, next) =>
{
    try
    {
        return await next(context);
    }
    catch (ArgumentException exception)
    {
        return Results.Problem(exception.Message, statusCode: StatusCodes.Status400BadRequest);
    }
});
api.MapGet("/products", async (IGrainFactory grains) =>
{
    var ids = await grains.GetGrain<ICatalogGrain>(ICatalogGrain.Key).GetProducts();
    return await Task.WhenAll(ids.Select(id => grains.GetGrain<IProductGrain>(id).Get()));
});
api.MapPut("/products/{id}", (string id, NewProduct product, IGrainFactory grains) =>
    grains.GetGrain<IProductGrain>(id).Put(product.Name, product.Price, product.InStock));

api.MapGet("/carts/{customer}", (string customer, IGrainFactory grains) => grains.GetGrain<ICartGrain>(customer).Get());
api.MapPost("/carts/{customer}/{product}", async (string customer, string product, int? quantity, IGrainFactory grains) =>
    await grains.GetGrain<ICartGrain>(customer).TryAdd(product, quantity ?? 1)
        ? Results.NoContent() : Results.Conflict("Not enough in stock."));
api.MapDelete("/carts/{customer}/{product}", (string customer, string product, IGrainFactory grains) =>
    grains.GetGrain<ICartGrain>(customer).Remove(product));
api.MapPost("/carts/{customer}/checkout", (string customer, IGrainFactory grains) => grains.GetGrain<ICartGrain>(customer).CheckOut());

await app.RunAsync();

/// <summary>What is sent to put a product on the shelf.</summary>
internal sealed record NewProduct(string Name, decimal Price, int InStock);
