using System.ComponentModel;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>
/// The calls of one notification to many observers, or of one broadcast to many grains. Calls with the same content are collected, so that
/// each node gets one frame with the list of its receivers. Implemented by the runtime.
/// </summary>
/// <remarks>
/// Belongs to the thread that notifies. A call is collected only while its receiver is entered (<see cref="Enter"/>), and only by the
/// reference that was entered; every other call goes its usual way. Nothing is sent before <see cref="Send"/>, or before the limits of a
/// frame are reached.
/// </remarks>
internal abstract class Fanout(CallRuntime runtime)
{
    [ThreadStatic]
    private static Fanout? t_current;

    private Fanout? _outer;

    /// <summary>What collects the calls of this thread, or null.</summary>
    internal static Fanout? Current => t_current;

    /// <summary>Sends the calls.</summary>
    internal CallRuntime Runtime => runtime;

    /// <summary>The receiver that is called now; null between two.</summary>
    internal GrainReference? Receiver { get; private set; }

    /// <summary>How many receivers were entered.</summary>
    internal int Entered { get; private set; }

    /// <summary>Calls to this receiver are collected from here on. A notification within another one is collected apart.</summary>
    internal void Enter(GrainReference receiver)
    {
        Receiver = receiver;
        Entered++;
        _outer = t_current;
        t_current = this;
    }

    /// <summary>Ends <see cref="Enter"/>.</summary>
    internal void Leave()
    {
        t_current = _outer;
        _outer = null;
        Receiver = null;
    }

    /// <summary>Takes a call of the entered receiver. False if it must go its usual way.</summary>
    internal abstract bool TryTake(Call call, GrainReference reference);

    /// <summary>Sends what was collected. Does not throw: what cannot be sent fails its calls.</summary>
    internal abstract void Send();
}

/// <summary>The fan-out of one notification or broadcast: made with the first receiver that has a reference. One thread.</summary>
internal struct Notification
{
    private Fanout? _fanout;

    /// <summary>Begins the call of a receiver. False if its calls are not collected.</summary>
    internal bool TryEnter(object? receiver)
    {
        if (receiver is not GrainReference { Shared: { IsCollected: true } shared } reference)
            return false;
        _fanout ??= shared.CallRuntime.NewFanout();
        if (_fanout is null || !ReferenceEquals(_fanout.Runtime, shared.CallRuntime))
            return false;
        _fanout.Enter(reference);
        return true;
    }

    /// <summary>Ends the call of a receiver that was entered.</summary>
    internal readonly void Leave() => _fanout!.Leave();

    /// <summary>Sends what was collected.</summary>
    internal readonly void Send() => _fanout?.Send();
}

/// <summary>Compares arguments of calls. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class CallArgument
{
    /// <summary>
    /// Whether two values of a type that is never changed are the same value for certain: the same object, or the same bytes. False does
    /// not say that they differ.
    /// </summary>
    /// <typeparam name="T">The type of the argument.</typeparam>
    /// <param name="one">A value.</param>
    /// <param name="other">Another one.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsSame<T>(in T one, in T other)
    {
        if (!typeof(T).IsValueType)
            return ReferenceEquals(one, other);
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
            return false;
        return BytesOf(one).SequenceEqual(BytesOf(other));
    }

    private static ReadOnlySpan<byte> BytesOf<T>(in T value) => MemoryMarshal.CreateReadOnlySpan(
        ref Unsafe.As<T, byte>(ref Unsafe.AsRef(in value)), Unsafe.SizeOf<T>());
}
