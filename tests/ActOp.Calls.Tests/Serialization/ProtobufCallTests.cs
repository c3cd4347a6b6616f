using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Orleans.Serialization;

namespace ActOp.Calls.Tests.Serialization;

/// <summary>Messages of Google.Protobuf in calls: from a client, between silos and within one.</summary>
public class ProtobufCallTests
{
    [Fact]
    public async Task Messages_are_arguments_and_results_and_are_copied_within_a_silo()
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo(static (_, silo) => silo.Services.AddSerializer(static codecs => codecs.AddProtobufSerializer()));
        builder.ConfigureClient(static client => client.Services.AddSerializer(static codecs => codecs.AddProtobufSerializer()));
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        IGrainFactory[] callers =
            [cluster.Client, .. cluster.Silos.Select(static s => s.ServiceProvider.GetRequiredService<IGrainFactory>())];
        foreach (var caller in callers)
        {
            for (var key = 0; key < 4; key++)
            {
                var sent = new Struct { Fields = { ["a"] = Value.ForString("first"), ["b"] = Value.ForList(Value.ForNumber(1)) } };
                var grain = caller.GetGrain<IMessageGrain>(key);
                var got = await grain.Add(sent, new Held(sent));
                Assert.Equal("added", got.Fields["added"].StringValue);
                Assert.False(sent.Fields.ContainsKey("added")); // The grain changed its own.
                got.Fields.Clear();
                var again = Assert.IsType<Struct>(await grain.Last());
                Assert.Equal(3, again.Fields.Count);
            }
        }
    }

    public interface IMessageGrain : IGrainWithIntegerKey
    {
        Task<Struct> Add(Struct message, Held held);

        Task<IMessage> Last();
    }

    public sealed class MessageGrain : Grain, IMessageGrain
    {
        private Struct _last = new();

        public Task<Struct> Add(Struct message, Held held)
        {
            Assert.Same(message, held.Message);
            message.Fields["added"] = Value.ForString("added");
            _last = message;
            return Task.FromResult(_last);
        }

        public Task<IMessage> Last() => Task.FromResult<IMessage>(_last);
    }

    [GenerateSerializer]
    public sealed record Held([property: Id(0)] Struct Message);
}
