using Chat;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;

// One command runs a silo and the page: http://localhost:5081. Its ports are not the defaults, so that it runs beside other samples.
var builder = WebApplication.CreateBuilder(new WebApplicationOptions { Args = args, ContentRootPath = AppContext.BaseDirectory });
builder.WebHost.UseUrls(builder.Configuration["Urls"] ?? "http://localhost:5081");
builder.UseOrleans(silo => silo
    .UseLocalhostClustering(builder.Configuration.GetValue("SiloPort", 11121), builder.Configuration.GetValue("GatewayPort", 30010))
    .AddMemoryGrainStorage("PubSubStore")
    .AddMemoryStreams(RoomGrain.Provider));
builder.Services.AddSingleton(TimeProvider.System);
builder.Services.AddHealthChecks().AddActOp();
var app = builder.Build();
app.UseFileServer();
app.MapHealthChecks("/health/live", new HealthCheckOptions { Predicate = static check => check.Tags.Contains("live") });
app.MapHealthChecks("/health/ready", new HealthCheckOptions { Predicate = static check => check.Tags.Contains("ready") });
app.MapHealthChecks("/health");

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
// The messages of a room as server-sent events, from the moment of the request until the browser goes.
api.MapGet("/rooms/{room}/events", (string room, string name, IClusterClient cluster, CancellationToken gone) =>
    TypedResults.ServerSentEvents(RoomEvents.ListenAsync(cluster, room, name, gone)));
api.MapPost("/rooms/{room}/messages", (string room, NewMessage message, IClusterClient cluster) =>
    cluster.GetGrain<IRoomGrain>(room).Say(message.Name, message.Text));
api.MapGet("/rooms/{room}/members", (string room, IClusterClient cluster) => cluster.GetGrain<IRoomGrain>(room).GetMembers());

await app.RunAsync();

/// <summary>What a browser sends.</summary>
internal sealed record NewMessage(string Name, string Text);
