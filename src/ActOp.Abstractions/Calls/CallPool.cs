using System.Runtime.CompilerServices;

namespace ActOp.Calls;

/// <summary>
/// Pool of one type of call: a magazine (a small stack) per thread, and a shared stack of full magazines. Threads that mostly rent (those
/// that send calls or read requests) get full magazines from the threads that mostly return (those that complete calls).
/// </summary>
/// <remarks>Any thread. A magazine belongs to its thread; the shared stack is used under its lock.</remarks>
/// <typeparam name="TCall">The generated call type.</typeparam>
public static class CallPool<TCall>
    where TCall : Call, new()
{
    /// <summary>Calls in a magazine. A thread that returns one more first moves its full magazine to the shared stack.</summary>
    private const int Magazine = 64;

    /// <summary>
    /// Magazines in the shared stack: 4,096 calls, more than any measured pipeline needs. The garbage collector gets the rest.
    /// </summary>
    private const int MaxShared = 64;

    private static readonly Stack<TCall?[]> Shared = new();

    [ThreadStatic]
    private static TCall?[]? t_calls;

    [ThreadStatic]
    private static int t_count;

    /// <summary>A call in its initial state, from the pool or new.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TCall Rent()
    {
        var calls = t_calls;
        var count = t_count;
        if (calls is not null && count > 0)
        {
            t_count = --count;
            return calls[count]!;
        }

        return RentSlow();
    }

    /// <summary>Takes back a call that was reset.</summary>
    public static void Return(TCall call)
    {
        var calls = t_calls ??= new TCall?[Magazine];
        if (t_count == Magazine)
            calls = Exchange(calls);
        if (Invariant.AreChecked)
        {
            Invariant.Holds(t_count >= 0 && t_count < Magazine && Array.IndexOf(calls, call, 0, t_count) < 0);
            Invariant.Holds(!call.Unpooled && !call.IsClaimed && call.Runtime is null);
        }
        calls[t_count++] = call;
    }

    private static TCall RentSlow()
    {
        TCall?[]? full = null;
        lock (Shared)
        {
            if (Shared.Count > 0)
                full = Shared.Pop();
        }

        if (full is not null)
        {
            t_calls = full;
            t_count = Magazine - 1;
            Invariant.Holds(full.Length == Magazine && full[Magazine - 1] is not null);
            return full[Magazine - 1]!;
        }

        return new TCall();
    }

    private static TCall?[] Exchange(TCall?[] full)
    {
        lock (Shared)
        {
            if (Shared.Count < MaxShared)
                Shared.Push(full);
            Invariant.Holds(Shared.Count <= MaxShared);
        }

        t_count = 0;
        return t_calls = new TCall?[Magazine];
    }
}
