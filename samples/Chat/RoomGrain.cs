using Orleans.Streams;

namespace Chat;

/// <summary>One message, as it travels on the stream of its room.</summary>
[GenerateSerializer]
public sealed record ChatMessage(
    [property: Id(0)] string Author, [property: Id(1)] string Text, [property: Id(2)] DateTimeOffset Sent, [property: Id(3)] string Id);

/// <summary>A room: who is there, and what was said last. What is said goes to the stream of the room.</summary>
public interface IRoomGrain : IGrainWithStringKey
{
    /// <summary>Enters the room, and returns its stream.</summary>
    Task<StreamId> Join(string name);

    Task Leave(string name);

    Task Say(string name, string text);

    Task<IReadOnlyList<ChatMessage>> GetHistory();

    Task<IReadOnlyList<string>> GetMembers();
}

public sealed class RoomGrain(TimeProvider time) : Grain, IRoomGrain
{
    public const string Provider = "chat";
    private const int Remembered = 100;

    private readonly Queue<ChatMessage> _history = new(Remembered);
    private readonly SortedSet<string> _members = new(StringComparer.Ordinal);
    private readonly long _since = time.GetUtcNow().Ticks;
    private IAsyncStream<ChatMessage> _stream = null!;
    private int _published;

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _stream = this.GetStreamProvider(Provider).GetStream<ChatMessage>(StreamId.Create("room", this.GetPrimaryKeyString()));
        return Task.CompletedTask;
    }

    public async Task<StreamId> Join(string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        if (_members.Add(name))
            await Publish("", name + " came in.");
        return _stream.StreamId;
    }

    public Task Leave(string name) =>
        _members.Remove(name) ? Publish("", name + " left.") : Task.CompletedTask;

    public Task Say(string name, string text)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentException.ThrowIfNullOrWhiteSpace(text);
        return Publish(name, text);
    }

    public Task<IReadOnlyList<ChatMessage>> GetHistory() => Task.FromResult<IReadOnlyList<ChatMessage>>([.. _history]);

    public Task<IReadOnlyList<string>> GetMembers() => Task.FromResult<IReadOnlyList<string>>([.. _members]);

    private Task Publish(string author, string text)
    {
        // Activations follow each other, so no two messages have the same id.
        var message = new ChatMessage(author, text, time.GetUtcNow(), _since + "-" + _published++);
        if (_history.Count == Remembered)
            _history.Dequeue();
        _history.Enqueue(message);
        return _stream.OnNextAsync(message);
    }
}
