namespace ActOp.Mesh;

/// <summary>What the sources use of a link. Models say how it sends.</summary>
internal abstract class Link
{
    internal NodeKind Accepts { get; init; } = NodeKind.Silo;

    internal Session? Session { get; init; }

    internal LinkPhase Phase { get; set; } = LinkPhase.Open;

    internal DisconnectReason? Aborted { get; private set; }

    internal bool IsAborted => Aborted is not null;

    internal object? Tag { get; set; }

    internal long BytesReceived => 0;

    internal abstract long QueuedBytes { get; }

    internal abstract long FramesSent { get; }

    internal abstract SendResult TryAppend(ReadOnlySpan<byte> frame);

    internal abstract SendResult TryAppendDeferred(ReadOnlySpan<byte> frame);

    internal abstract FlushResult Flush();

    internal abstract RoomAwaiter WaitForRoomAsync(int bodyBytes);

    internal void Abort(DisconnectReason reason) => Aborted ??= reason;
}

/// <summary>Calls back when there is room.</summary>
internal sealed class RoomAwaiter(Action<Action> onRoom)
{
    internal RoomAwaiter GetAwaiter() => this;

    internal void UnsafeOnCompleted(Action continuation) => onRoom(continuation);
}

internal sealed record Session(int DataLinks);

internal enum ReadPause
{
    Requests = 1,
    Answers = 2,
}

/// <summary>A peer with one link for all.</summary>
internal sealed class Peer(Link link)
{
    internal System.Net.EndPoint? EndPoint => null;

    internal Link? Control => link;

    internal IReadOnlyList<Link> Links { get; } = [link];

    internal object? Tag { get; set; }

    internal bool IsClosed => State == PeerState.Closed;

    internal PeerState State { get; private set; }

    internal bool IsPaused { get; private set; }

    internal Link? GetLink(uint affinity, int channel) => affinity + channel == 0 ? link : link;

    internal void PauseReading(ReadPause reason) => IsPaused = reason == ReadPause.Answers;

    internal void ResumeReading(ReadPause reason) => IsPaused &= reason != ReadPause.Answers;

    internal void Close()
    {
        Point.Fence("peer");
        State = PeerState.Closed;
    }
}

/// <summary>Whether the mesh will go on with a peer.</summary>
internal enum PeerState
{
    Connecting,
    Closed,
}

internal sealed class MeshNode
{
    internal MeshOptions Options { get; init; } = new();

    internal MeshEvents Events { get; init; } = new();

    internal UnfinishedFrames Unfinished { get; } = new();
}

internal sealed class MeshOptions
{
    internal int MaxFrameBytes => 100_000;

    internal int SendQueueBytes { get; init; } = 1_000;

    internal int DeferredBytes { get; init; } = 1_000;

    internal int RetainedBufferBytes => 1_000;
}

internal sealed class MeshEvents
{
    internal Action<Link> OnSendPending { get; set; } = static _ => { };

    internal void SendPending(Link link) => OnSendPending(link);
}

/// <summary>Adds up what is counted.</summary>
internal sealed class UnfinishedFrames
{
    internal long All { get; private set; }

    internal void Add(Link link, long bytes)
    {
        Point.Fence("unfinished");
        All += link is null ? 0 : bytes;
    }
}

internal enum NodeKind
{
    Silo,
    Client,
}

internal enum LinkPhase
{
    Open,
}

internal enum DisconnectReason
{
    Reset,
    PeerClosed,
}

internal enum SendResult
{
    Accepted,
    Full,
    Closed,
    TooLarge,
}

internal enum FlushResult
{
    Idle,
    More,
    Blocked,
    Closed,
}

internal static class WireLimits
{
    internal const int PrefixBytes = 4;
    internal const uint KeepAliveMark = 0xFFFF_FFFE;
}

/// <summary>A buffer that was given back is overwritten, so that a use after that is seen.</summary>
internal static class PooledBuffer
{
    internal static void Grow(ref byte[] buffer, int used, int need)
    {
        var larger = new byte[Math.Max(need, 2 * buffer.Length)];
        buffer.AsSpan(0, used).CopyTo(larger);
        GiveBack(ref buffer);
        buffer = larger;
    }

    internal static void GiveBackIfLarge(ref byte[] buffer, int retained)
    {
        if (buffer.Length > retained)
            GiveBack(ref buffer);
    }

    internal static void GiveBack(ref byte[] buffer)
    {
        buffer.AsSpan().Fill(0xEE);
        buffer = [];
    }
}
