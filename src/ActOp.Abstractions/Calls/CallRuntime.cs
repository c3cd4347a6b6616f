using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>
/// Sends the calls of one silo or client. Implemented by the runtime only. A class, because a virtual call is cheaper than an interface
/// call.
/// </summary>
public abstract class CallRuntime
{
    internal CallRuntime()
    {
        Weak = new WeakReference<CallRuntime>(this);
        References = new ReferenceRuntime(this);
    }

    /// <summary>For objects that outlive a node, such as the buffers of threads.</summary>
    internal WeakReference<CallRuntime> Weak { get; }

    /// <summary>The codecs of the services of the silo or client, set once at its start.</summary>
    internal object? CodecProvider { get; set; }

    /// <summary>Sends requests of applications.</summary>
    internal IGrainReferenceRuntime References { get; }

    /// <summary>The services of the silo or client.</summary>
    internal virtual IServiceProvider Services => throw new NotSupportedException("This runtime has no services.");

    /// <summary>The calls that were sent and wait for their answers.</summary>
    internal CallRegistry Registry { get; } = new();

    /// <summary>The requests of other nodes that can be cancelled.</summary>
    internal CancellableCalls Cancellables { get; } = new();

    /// <summary>A call that has no answer in time is cancelled at the callee, even if the caller has passed no token.</summary>
    internal bool CancelsOnTimeout { get; init; }

    /// <summary>The token of a caller of this process was cancelled. Called once, by the thread that cancels it.</summary>
    internal abstract void CallerCancelled(CallCancellation cancellation, CancellationToken token);

    /// <summary>
    /// Sends <paramref name="call"/> to the grain of <paramref name="reference"/>. Does not throw if sending fails: the call is completed
    /// with the exception.
    /// </summary>
    internal abstract void Send(Call call, GrainReference reference);

    /// <summary>Collects the calls of one notification to many receivers; null if this runtime does not.</summary>
    internal virtual Fanout? NewFanout() => null;

    /// <summary>A reference to the same grain whose calls <see cref="NewFanout"/> collects; the given one if there is none.</summary>
    internal virtual GrainReference Collected(GrainReference reference) => reference;

    /// <summary>Answers a request from the wire; called once, by the party that has claimed the call.</summary>
    internal abstract void SendReply(Call call);

    /// <summary>The caller takes the answer of a call that was measured or traced (<see cref="Call.Began"/>). Does not throw.</summary>
    internal abstract void Answered(Call call, Exception? error);

    /// <summary>A one-way call did not run, for the reason in its error. No caller waits for it, so it is counted and logged.</summary>
    internal abstract void Lost(Call call);

    /// <summary>The grain id with these bytes.</summary>
    internal abstract GrainId FindId(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key);

    /// <summary>Runs the continuation of a caller that is not an activation (an application thread), outside of the stages.</summary>
    internal abstract void Resume(Call call);

    /// <summary>The context of a caller has not taken its continuation. Any thread.</summary>
    internal abstract void ContextFailed(Exception exception);

    /// <summary>A reference that was read from the wire, bound to this runtime.</summary>
    /// <param name="grainId">The grain.</param>
    /// <param name="interfaceType">A registered grain interface; constructed if it is generic.</param>
    internal abstract GrainReference CreateReference(GrainId grainId, Type interfaceType);

    /// <summary>Rebinds a reference to another interface of the same grain.</summary>
    internal abstract object Cast(GrainReference reference, Type interfaceType);
}
