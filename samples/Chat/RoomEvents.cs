using System.Runtime.CompilerServices;
using System.Threading.Channels;
using Orleans.Streams;

namespace Chat;

/// <summary>A room as one browser sees it.</summary>
public static class RoomEvents
{
    /// <summary>What was said before, and then what is said until the listener goes; each message once, in order.</summary>
    public static async IAsyncEnumerable<ChatMessage> ListenAsync(
        IClusterClient cluster, string room, string name, [EnumeratorCancellation] CancellationToken gone)
    {
        var grain = cluster.GetGrain<IRoomGrain>(room);
        // A browser that does not read loses the oldest messages, and never slows the room.
        var received = Channel.CreateBounded<ChatMessage>(
            new BoundedChannelOptions(1_000) { FullMode = BoundedChannelFullMode.DropOldest });
        var stream = cluster.GetStreamProvider(RoomGrain.Provider).GetStream<ChatMessage>(StreamId.Create("room", room));
        var subscription = await stream.SubscribeAsync((message, _) =>
        {
            received.Writer.TryWrite(message);
            return Task.CompletedTask;
        });
        try
        {
            // The subscription comes first: what is said between the two is then in both, and otherwise in neither.
            var history = await grain.GetHistory();
            var shown = history.Select(static message => message.Id).ToHashSet();
            foreach (var message in history)
                yield return message;
            await grain.Join(name);
            await foreach (var message in received.Reader.ReadAllAsync(gone))
            {
                if (!shown.Remove(message.Id))
                    yield return message;
            }
        }
        finally
        {
            await subscription.UnsubscribeAsync();
            await grain.Leave(name);
        }
    }
}
