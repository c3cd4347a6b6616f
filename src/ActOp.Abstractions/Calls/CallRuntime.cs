using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>
/// Sends the calls of one silo or client. The only implementation is the runtime's; it is a class so that the call is a plain virtual one.
/// </summary>
public abstract class CallRuntime
{
    internal CallRuntime() => Weak = new WeakReference<CallRuntime>(this);

    /// <summary>What outlives a node, as the scratch of threads, refers to it by this.</summary>
    internal WeakReference<CallRuntime> Weak { get; }

    /// <summary>The calls that were sent and wait for their answers.</summary>
    internal CallRegistry Registry { get; } = new();

    /// <summary>
    /// Sends <paramref name="call"/> to the grain of <paramref name="reference"/>. Never throws for what can go wrong on the
    /// way: the call is completed with the exception.
    /// </summary>
    internal abstract void Send(Call call, GrainReference reference);

    /// <summary>Answers a request that came over the wire; called once, on the callee's turn, after the call was claimed.</summary>
    internal abstract void SendReply(Call call);

    /// <summary>A one-way call never ran, for the reason that it carries, and nobody waits who could be told.</summary>
    internal abstract void Lost(Call call);

    /// <summary>The id of a grain with these bytes.</summary>
    internal abstract GrainId FindId(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key);

    /// <summary>Runs the rest of a caller that is no activation (application threads) away from the stages.</summary>
    internal abstract void Resume(Call call);

    /// <summary>A reference that was read from the wire, bound to this runtime.</summary>
    /// <param name="grainId">The grain.</param>
    /// <param name="interfaceType">A registered grain interface; constructed if it is generic.</param>
    internal abstract GrainReference CreateReference(GrainId grainId, Type interfaceType);

    /// <summary>Rebinds a reference to another interface of the same grain.</summary>
    internal abstract object Cast(GrainReference reference, Type interfaceType);
}
