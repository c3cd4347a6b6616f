using Chat;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;
using Orleans.TestingHost;

namespace ActOp.Samples.Tests;

/// <summary>Who enters a room misses nothing and reads nothing twice.</summary>
public class ChatRoomTests
{
    [Theory, InlineData(false), InlineData(true)]
    public async Task What_is_said_while_somebody_enters_is_read_once(bool beforeHistory)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo.AddMemoryGrainStorage("PubSubStore").AddMemoryStreams(RoomGrain.Provider)
            .Services.AddSingleton(TimeProvider.System));
        builder.ConfigureClient(client => client.AddMemoryStreams(RoomGrain.Provider).AddOutgoingGrainCallFilter(async context =>
        {
            if (context.MethodName != nameof(IRoomGrain.GetHistory))
            {
                await context.Invoke();
                return;
            }

            var room = (IRoomGrain)context.Grain;
            if (beforeHistory)
                await room.Say("Bob", "between");
            await context.Invoke();
            if (!beforeHistory)
                await room.Say("Bob", "between");
        }));
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        await cluster.Client.GetGrain<IRoomGrain>("lobby").Say("Bob", "before");
        var read = new List<string>();
        await foreach (var message in RoomEvents.ListenAsync(cluster.Client, "lobby", "Ada", CancellationToken.None))
        {
            read.Add(message.Text);
            if (message.Text == "Ada came in.")
                break;
        }

        Assert.Equal(["before", "between", "Ada came in."], read);
    }
}
