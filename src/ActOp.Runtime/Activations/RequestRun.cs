using System.Diagnostics;
using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Timers;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Runs one admitted request of an activation, from its start to its answer. Has no state: the call has it. On the turns of the activation.
/// </summary>
internal static class RequestRun
{
    /// <summary>Starts a request that <see cref="Admission"/> has admitted.</summary>
    internal static void Start(Activation activation, Call call)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(call.Step == CallStep.Request);
        GrainGroup.Release(call);
        if (call.Error is not null)
        {
            Answer(activation, call);
            return;
        }

        if ((call.Flags & Call.Cancellable) != 0 && !call.Cancellation!.TryStart(activation))
        {
            Fail(call, Cancellations.NeverRan(call));
            return;
        }

        Use(activation, call);
        activation.Admission.Started(activation, call);
        call.Callee = activation;
        bool hasEnded;
        try
        {
            hasEnded = Invoke(activation, call);
        }
        catch (Exception exception)
        {
            // The method did not run: whatever has failed before it, the caller gets its answer and the activation its next request.
            call.Error = NotImplemented(activation, call, exception);
            hasEnded = true;
        }

        if (hasEnded)
            Finish(activation, call);
        else
            activation.Watch();
    }

    /// <summary>Invokes filters and method. True if the method has ended; otherwise its end is another item of the mailbox.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool Invoke(Activation activation, Call call)
    {
        // Before the request context is set: this replaces the execution context.
        // The runtime's own calls are not the application's: no filter of a silo sees them, and no trace contains them.
        var activity = (call.Trace is not null || CallTrace.IsOn) && !call.Method.IsOfRuntime
            ? CallTrace.Enter(call, activation)
            : null;
        RequestContext.Current = call.Context;
        activation.Parts.Edges.CountIncoming(activation, call);
        if ((activation.Parts.Filters.HasIncoming && !call.Method.IsOfRuntime) || (activation.Class.Filters && !call.Method.IsSystem))
        {
            _ = RunFiltered(activation, call, activity);
            return false;
        }

        if (activity is not null)
            call.Trace = new RunningSpan(activity, call.Trace);
        ((RequestBase)call).SetTarget(activation);
        return call.Start();
    }

    /// <summary>The method has ended: answers the call and lets the activation go on.</summary>
    internal static void Finish(Activation activation, Call call)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(ReferenceEquals(call.Callee, activation));
        Use(activation, call);
        activation.Admission.Ended(activation, call);
        if (call.Trace is RunningSpan span)
            span.End(call.Error);
        if (call.Error is InconsistentStateException conflict)
            activation.Life.EndInconsistent(activation, conflict);
        Answer(activation, call);
        activation.Life.OnRequestEnded(activation);
    }

    /// <summary>Ends a request that never ran. Any thread that holds the call.</summary>
    internal static void Fail(Call call, Exception exception)
    {
        GrainGroup.Release(call);
        if (!call.TryClaim())
            return;
        call.Error = exception;
        NameLostCaller(call, exception);
        call.Publish();
    }

    /// <summary>Runs the filters of the application around the method. The task does not fail, so nobody needs it.</summary>
    private static async Task RunFiltered(Activation activation, Call call, Activity? activity)
    {
        try
        {
            await activation.Parts.Filters.RunIncoming(activation, call, activity);
            Finish(activation, call);
        }
        catch (Exception exception)
        {
            activation.Parts.Local.Log.TurnFailed(activation.GrainId, exception);
        }
    }

    private static Exception NotImplemented(Activation activation, Call call, Exception exception) => exception is InvalidCastException
        ? new InvalidCastException(
            "The grain class " + activation.Class.Type + " of " + activation.GrainId + " does not implement " + call.Method.InterfaceName +
                ".",
            exception)
        : exception;

    /// <summary>A request counts as use of the activation. The tick of a timer counts only if the timer has KeepAlive.</summary>
    private static void Use(Activation activation, Call call)
    {
        if (call is not TimerCall { KeepAlive: false })
            activation.LastUsed = activation.Parts.Local.Clock.Now;
    }

    private static void Answer(Activation activation, Call call)
    {
        if (call.Error is { } error)
            Report(activation, call, error);
        if (call.Origin == CallOrigin.Local)
            IsolateResult(call);
        if (call.TryClaim())
            call.Publish();
    }

    private static void Report(Activation activation, Call call, Exception error)
    {
        if (call.Origin == CallOrigin.Nobody)
            activation.Parts.Local.Log.OneWayFailed(call.Method.ActivityName, activation.GrainId, error);
        NameLostCaller(call, error);
    }

    /// <summary>
    /// The answer may reach a caller that only its link has lost. It has cancelled nothing, so it must not hear that it has.
    /// </summary>
    private static void NameLostCaller(Call call, Exception error)
    {
        if (error is not OperationCanceledException cancelled || call.Cancellation is not { IsCallerLost: true })
            return;
        call.Error = new SiloUnavailableException(
            "The call " + call.Method.ActivityName + " to " + call.TargetId + " was cancelled: the link to its caller was lost.",
            cancelled);
    }

    private static void IsolateResult(Call call)
    {
        var copies = CopyContext.Rent(call.Runtime);
        try
        {
            call.CopyResult(copies);
        }
        catch (Exception exception)
        {
            call.Error = exception;
        }
        finally
        {
            copies.Reset();
        }
    }
}
