using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>Two slots of a chunk, two tickets of a magazine, eight slots in all.</summary>
internal static class CallSlots
{
    internal const int ChunkBits = 1;
    internal const int SlotBits = 3;
    internal const int MagazineSize = 2;
}

/// <summary>The members that the sources use.</summary>
public abstract class CallRuntime
{
    internal CallRegistry Registry { get; } = new();

    internal CancellableCalls Cancellables { get; } = new();

    internal bool CancelsOnTimeout { get; init; }

    internal abstract void CallerCancelled(CallCancellation cancellation, CancellationToken token);

    internal abstract void SendReply(Call call);

    internal abstract void Resume(Call call);

    internal void Lost(Call call) => throw new NotSupportedException(call + " is no one-way call.");

    internal GrainId FindId(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) => default;

    internal void ContextFailed(Exception exception) => throw new NotSupportedException("There is no context.", exception);
}

/// <summary>The name of a method.</summary>
public sealed class CallMethod
{
    internal string ActivityName => "method";
}

/// <summary>A request with the token that its caller has passed.</summary>
public abstract class RequestBase : Call
{
    internal CancellationToken Token { get; set; }

    internal CancellationToken GetCancellationToken() => Token;
}
