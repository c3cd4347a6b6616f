using System.Runtime.CompilerServices;
using System.Threading.Channels;
using Chat;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using Orleans.Streams;

// One command runs a silo and the page: http://localhost:5081.
var builder = WebApplication.CreateBuilder(new WebApplicationOptions { Args = args, ContentRootPath = AppContext.BaseDirectory });
builder.WebHost.UseUrls(builder.Configuration["Urls"] ?? "http://localhost:5081");
builder.UseOrleans(silo => silo
    .UseLocalhostClustering(builder.Configuration.GetValue("SiloPort", 11111), builder.Configuration.GetValue("GatewayPort", 30000))
    .AddMemoryGrainStorage("PubSubStore")
    .AddMemoryStreams(RoomGrain.Provider));
builder.Services.AddSingleton(TimeProvider.System);
builder.Services.AddHealthChecks().AddActOp();
var app = builder.Build();
app.UseFileServer();
app.MapHealthChecks("/health/live", new HealthCheckOptions { Predicate = static check => check.Tags.Contains("live") });
app.MapHealthChecks("/health/ready", new HealthCheckOptions { Predicate = static check => check.Tags.Contains("ready") });
app.MapHealthChecks("/health");

// The messages of a room as server-sent events, from the moment of the request until the browser goes.
app.MapGet("/api/rooms/{room}/events", (string room, string name, IClusterClient cluster, CancellationToken gone) =>
    TypedResults.ServerSentEvents(Listen(cluster, room, name, gone)));
app.MapPost("/api/rooms/{room}/messages", (string room, NewMessage message, IClusterClient cluster) =>
    cluster.GetGrain<IRoomGrain>(room).Say(message.Name, message.Text));
app.MapGet("/api/rooms/{room}/members", (string room, IClusterClient cluster) => cluster.GetGrain<IRoomGrain>(room).GetMembers());

await app.RunAsync();

static async IAsyncEnumerable<ChatMessage> Listen(
    IClusterClient cluster, string room, string name, [EnumeratorCancellation] CancellationToken gone)
{
    var grain = cluster.GetGrain<IRoomGrain>(room);
    // A browser that does not read loses the oldest messages, and never slows the room.
    var received = Channel.CreateBounded<ChatMessage>(new BoundedChannelOptions(1_000) { FullMode = BoundedChannelFullMode.DropOldest });
    foreach (var message in await grain.GetHistory())
        yield return message;
    var stream = cluster.GetStreamProvider(RoomGrain.Provider).GetStream<ChatMessage>(StreamId.Create("room", room));
    var subscription = await stream.SubscribeAsync((message, _) =>
    {
        received.Writer.TryWrite(message);
        return Task.CompletedTask;
    });
    try
    {
        await grain.Join(name);
        await foreach (var message in received.Reader.ReadAllAsync(gone))
            yield return message;
    }
    finally
    {
        await subscription.UnsubscribeAsync();
        await grain.Leave(name);
    }
}

/// <summary>What a browser sends.</summary>
internal sealed record NewMessage(string Name, string Text);
