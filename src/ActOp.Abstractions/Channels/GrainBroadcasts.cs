using ActOp.Calls;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Channels;

/// <summary>One call to many grains.</summary>
/// <remarks>
/// <para>The call is made for one grain after the other, in the order of the list, without waiting for answers; at most
/// <see cref="MaxPending"/> answers are waited for at a time. A silo sends what it calls on another silo as one frame with the list of the
/// grains, for those whose silo it knows and whose calls have the same content; all others are single calls, as are all calls of a client.
/// What one caller sends to one grain is in the order of single calls (docs/channels.md). Nothing is repeated.</para>
/// <para>The delegates run on the thread and in the context of the caller, one at a time. Hold nothing; any thread.</para>
/// </remarks>
public static class GrainBroadcasts
{
    /// <summary>Calls that wait for their answers at the same time: some 30 MB.</summary>
    private const int MaxPending = 1 << 16;

    /// <summary>Calls grains, and waits until all have answered.</summary>
    /// <typeparam name="TGrain">Their interface.</typeparam>
    /// <param name="grains">The factory of the caller.</param>
    /// <param name="receivers">The grains. One that is in the list twice is called twice.</param>
    /// <param name="call">
    /// The call of one grain, by the reference that is passed. A task of the application, such as that of an <c>async</c> delegate, ends
    /// when it says so; only what it calls before its first wait goes into the common frame.
    /// </param>
    /// <exception cref="BroadcastException">Calls have failed. All others have run.</exception>
    /// <exception cref="ArgumentException">A receiver is null. No grain is called then.</exception>
    public static Task Broadcast<TGrain>(this IGrainFactory grains, IEnumerable<TGrain> receivers, Func<TGrain, Task> call)
        where TGrain : IAddressable
    {
        ArgumentNullException.ThrowIfNull(grains);
        ArgumentNullException.ThrowIfNull(receivers);
        ArgumentNullException.ThrowIfNull(call);
        TGrain[] all = [.. receivers];
        if (Array.Exists(all, static receiver => receiver is null))
            throw new ArgumentException("A receiver of a broadcast is null.", nameof(receivers));
        return CallAll(all, call);
    }

    /// <summary>Calls the grains with these keys.</summary>
    /// <inheritdoc cref="Broadcast{TGrain}(IGrainFactory, IEnumerable{TGrain}, Func{TGrain, Task})"/>
    public static Task Broadcast<TGrain>(this IGrainFactory grains, IEnumerable<string> keys, Func<TGrain, Task> call)
        where TGrain : IGrainWithStringKey
    {
        ArgumentNullException.ThrowIfNull(grains);
        ArgumentNullException.ThrowIfNull(keys);
        return grains.Broadcast(keys.Select(key => grains.GetGrain<TGrain>(key)), call);
    }

    /// <inheritdoc cref="Broadcast{TGrain}(IGrainFactory, IEnumerable{string}, Func{TGrain, Task})"/>
    public static Task Broadcast<TGrain>(this IGrainFactory grains, IEnumerable<Guid> keys, Func<TGrain, Task> call)
        where TGrain : IGrainWithGuidKey
    {
        ArgumentNullException.ThrowIfNull(grains);
        ArgumentNullException.ThrowIfNull(keys);
        return grains.Broadcast(keys.Select(key => grains.GetGrain<TGrain>(key)), call);
    }

    /// <inheritdoc cref="Broadcast{TGrain}(IGrainFactory, IEnumerable{string}, Func{TGrain, Task})"/>
    public static Task Broadcast<TGrain>(this IGrainFactory grains, IEnumerable<long> keys, Func<TGrain, Task> call)
        where TGrain : IGrainWithIntegerKey
    {
        ArgumentNullException.ThrowIfNull(grains);
        ArgumentNullException.ThrowIfNull(keys);
        return grains.Broadcast(keys.Select(key => grains.GetGrain<TGrain>(key)), call);
    }

    private static async Task CallAll<TGrain>(TGrain[] receivers, Func<TGrain, Task> call)
        where TGrain : IAddressable
    {
        List<BroadcastFailure> failures = [];
        List<(TGrain Receiver, Task Call)> pending = [];
        Notification collected = default;
        try
        {
            foreach (var receiver in receivers)
            {
                if (Begin(ref collected, receiver, call, failures) is not { IsCompletedSuccessfully: false } task)
                    continue;
                pending.Add((receiver, task));
                if (pending.Count < MaxPending)
                    continue;
                collected.Send();
                await End(pending, failures);
            }
        }
        finally
        {
            collected.Send();
        }

        await End(pending, failures);
        if (failures.Count > 0)
            throw new BroadcastException(receivers.Length, failures);
    }

    /// <summary>Calls one grain. Null if the call has failed at once.</summary>
    private static Task? Begin<TGrain>(
        ref Notification collected, TGrain receiver, Func<TGrain, Task> call, List<BroadcastFailure> failures)
        where TGrain : IAddressable
    {
        var isEntered = false;
        try
        {
            // Its calls may be collected; those by other references to the grain are not even asked.
            var own = receiver is GrainReference reference ? (TGrain)(object)reference.Shared.CallRuntime.Collected(reference) : receiver;
            isEntered = collected.TryEnter(own);
            return Given.Task(call(own));
        }
        catch (Exception exception)
        {
            failures.Add(new BroadcastFailure(IdOf(receiver), exception));
            return null;
        }
        finally
        {
            if (isEntered)
                collected.Leave();
        }
    }

    private static async Task End<TGrain>(List<(TGrain Receiver, Task Call)> pending, List<BroadcastFailure> failures)
        where TGrain : IAddressable
    {
        // One wait for all: after one for each, the caller would run a turn for each.
        await Task.WhenAll(pending.Select(static one => one.Call))
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        foreach (var (receiver, call) in pending)
        {
            if (call.IsCanceled)
                failures.Add(new BroadcastFailure(IdOf(receiver), new TaskCanceledException(call)));
            else if (call.Exception is { } exception)
                failures.Add(new BroadcastFailure(IdOf(receiver), exception.InnerExceptions is [var single] ? single : exception));
        }

        pending.Clear();
    }

    /// <summary>None for an object of a test that stands for a grain.</summary>
    private static GrainId IdOf(IAddressable receiver) => receiver is GrainReference or IGrainBase { GrainContext: not null }
        ? References.IdOf(receiver) : default;
}

/// <summary>A call of a broadcast that has failed.</summary>
/// <param name="Grain">The grain; default for an object that is no grain.</param>
/// <param name="Exception">The exception of the grain, or that of the runtime.</param>
public readonly record struct BroadcastFailure(GrainId Grain, Exception Exception);

/// <summary>Calls of a broadcast have failed; all others have run.</summary>
/// <remarks>
/// <see cref="Exception.InnerException"/> has all exceptions, and the message names the first grains: these travel with the exception. The
/// list of <see cref="Failures"/> does not.
/// </remarks>
public sealed class BroadcastException : OrleansException
{
    /// <summary>Grains that the message names.</summary>
    private const int Named = 3;

    private readonly IReadOnlyList<BroadcastFailure>? _failures;

    /// <summary>Creates the exception with a message of its own.</summary>
    public BroadcastException()
        : base("Calls of a broadcast have failed.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public BroadcastException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public BroadcastException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    internal BroadcastException(int receivers, IReadOnlyList<BroadcastFailure> failures)
        : base(Describe(receivers, failures), new AggregateException(failures.Select(static failure => failure.Exception))) =>
            _failures = failures;

    /// <summary>Which calls have failed, and why. Empty in an exception that comes from another process.</summary>
    public IReadOnlyList<BroadcastFailure> Failures => _failures ?? [];

    private static string Describe(int receivers, IReadOnlyList<BroadcastFailure> failures) =>
        failures.Count + " of " + receivers + " calls of a broadcast have failed: "
            + string.Join(", ", failures.Take(Named).Select(static failure => failure.Grain + " (" + failure.Exception.Message + ")"))
            + (failures.Count > Named ? ", ..." : "");
}
