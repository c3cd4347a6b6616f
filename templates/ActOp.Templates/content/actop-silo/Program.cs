using ActOpSilo;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;

var builder = WebApplication.CreateBuilder(args);
builder.UseOrleans(silo =>
{
    var siloPort = builder.Configuration.GetValue("Silo:Port", 11111);
    var gatewayPort = builder.Configuration.GetValue("Silo:Gateway", 30000);
#if (postgres)
    silo.ConfigureEndpoints(siloPort, gatewayPort);
    // Others reach this silo, so it needs a secret (or UseTls): a long random text that all its silos and clients know.
    silo.UseClusterSecret(builder.Configuration["ClusterSecret"]
        ?? throw new InvalidOperationException("The setting \"ClusterSecret\" is missing."));
    var database = builder.Configuration.GetConnectionString("Cluster")
        ?? throw new InvalidOperationException("The connection string \"Cluster\" of a PostgreSQL database is missing.");
    silo.UseAdoNetClustering(options => (options.Invariant, options.ConnectionString) = ("Npgsql", database));
    silo.AddAdoNetGrainStorageAsDefault(options => (options.Invariant, options.ConnectionString) = ("Npgsql", database));
#else
    silo.UseLocalhostClustering(siloPort, gatewayPort);
    silo.AddFileGrainStorageAsDefault(options => options.RootDirectory = builder.Configuration["Data"] ?? "data");
#endif
});
builder.Services.AddHealthChecks().AddActOp();

var app = builder.Build();
app.MapHealthChecks("/health/live", new HealthCheckOptions { Predicate = check => check.Tags.Contains("live") });
app.MapHealthChecks("/health/ready", new HealthCheckOptions { Predicate = check => check.Tags.Contains("ready") });
app.MapGet("/counters/{name}", (string name, IGrainFactory grains) => grains.GetGrain<ICounterGrain>(name).Get());
app.MapPost("/counters/{name}", (string name, IGrainFactory grains) => grains.GetGrain<ICounterGrain>(name).Add(1));
app.Run();
