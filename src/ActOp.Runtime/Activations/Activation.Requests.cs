using System.Diagnostics;
using ActOp.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Timers;
using ActOp.Wire;
using Orleans;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>Which request may run now, and its run from start to answer.</summary>
internal sealed partial class Activation
{
    private int _runningCount;

    /// <summary>The running request that others wait for; null while only interleaving ones run.</summary>
    private Call? _blocking;

    /// <summary>False when the running request keeps every ordinary request out, so that scanning the waiting ones is useless.</summary>
    private bool MayOthersRun => _runningCount == 0 || _blocking is null || Class.Reentrant || _extras?.Sections is { Count: > 0 }
        || (_blocking.Flags & InvokeMethodOptions.ReadOnly) != 0;

    public void OnEnterReentrantSection(Guid reentrancyId)
    {
        var sections = Extras.Sections ??= [];
        sections[reentrancyId] = sections.GetValueOrDefault(reentrancyId) + 1;
    }

    public void OnExitReentrantSection(Guid reentrancyId)
    {
        if (_extras?.Sections is not { } sections || !sections.TryGetValue(reentrancyId, out var count))
            return;
        if (count > 1)
            sections[reentrancyId] = count - 1;
        else
            sections.Remove(reentrancyId);
    }

    internal override void FinishInTurn(Call call)
    {
        call.TakeResult();
        Finish(call);
    }

    private void RunCall(Call call)
    {
        switch (call.Step)
        {
            case CallStep.Resume:
                call.ResumeCaller();
                break;
            case CallStep.Finish:
                FinishInTurn(call);
                break;
            default:
                Admit(call);
                break;
        }
    }

    private void Admit(Call call)
    {
        if (Parts.Abandoned.Drops(call))
        {
            BeginNow(null, null);
            return;
        }

        if (State == ActivationState.Gone)
            SendOn(call);
        else if (State == ActivationState.Active && (_waiting is null || MayOthersRun || MayAlways(call))
            && (_life is null || MayJoin) && MayRun(call))
            StartRequest(call);
        else
            WaitForBegin(call);
    }

    /// <summary>A begin that fails at once must find the request to fail, so that waits first.</summary>
    private void WaitForBegin(Call call)
    {
        var (context, trace) = (call.Context, call.Trace);
        Wait(call);
        BeginNow(context, trace);
    }

    /// <summary>Whether a request may begin although a wish to end is there.</summary>
    private bool MayJoin => !IsLeaving || (_runningCount > 0 && Departing!.MayJoin);

    private static bool MayAlways(Call call) => (call.Flags & InvokeMethodOptions.AlwaysInterleave) != 0;

    /// <summary>The rules of Orleans, in its order: who may run while others do.</summary>
    private bool MayRun(Call call)
    {
        if (_runningCount == 0 || MayAlways(call) || _blocking is null)
            return true;
        if ((_blocking.Flags & call.Flags & InvokeMethodOptions.ReadOnly) != 0)
            return true;
        if (_extras?.Sections is { } sections && call.Context is { } context && context.ReentrancyId != Guid.Empty
            && sections.ContainsKey(context.ReentrancyId))
            return true;
        if (Class.Reentrant)
            return true;
        return Class.HasPredicate && MayInterleave(call);
    }

    private bool MayInterleave(Call call)
    {
        try
        {
            return Class.MayInterleave(call, Instance) || Class.MayInterleave(_blocking!, Instance);
        }
        catch (Exception exception)
        {
            // Admitted, so that it leaves the queue; it starts with its error and does not run.
            call.Error = exception;
            return true;
        }
    }

    private void StartRequest(Call call)
    {
        if (call.Error is not null)
        {
            Answer(call);
            return;
        }

        _runningCount++;
        Use(call);
        if (!MayAlways(call))
        {
            if (_blocking is null)
                _blocking = call;
            else
                (Extras.AlsoBlocking ??= []).Add(call);
        }

        call.Callee = this;
        // Before the context: it makes the execution context anew.
        var activity = CallTrace.IsOn ? CallTrace.Enter(call) : null;
        RequestContext.Current = call.Context;
        Parts.Edges.CountIncoming(this, call);
        if (Parts.Filters.HasIncoming || Class.Filters)
        {
            RunFiltered(call, activity);
            return;
        }

        if (activity is not null)
            call.Trace = new RunningSpan(activity);

        try
        {
            ((RequestBase)call).SetTarget(this);
        }
        catch (Exception exception)
        {
            call.Error = NotImplemented(call, exception);
            Finish(call);
            return;
        }

        if (call.Start())
            Finish(call);
    }

    private async void RunFiltered(Call call, Activity? activity)
    {
        await Parts.Filters.RunIncoming(this, call, activity);
        Finish(call);
    }

    private Exception NotImplemented(Call call, Exception exception) => exception is InvalidCastException
        ? new InvalidOperationException("The grain class " + Class.Type + " of " + GrainId + " does not implement " + call.Method.InterfaceName + ".", exception)
        : exception;

    /// <summary>A request counts as use of the activation, the tick of a timer only if the timer says so.</summary>
    private void Use(Call call)
    {
        if (call is not TimerCall { KeepAlive: false })
            LastUsed = Parts.Local.Clock.Now;
    }

    private void Finish(Call call)
    {
        _runningCount--;
        Use(call);
        if (ReferenceEquals(_blocking, call))
        {
            _blocking = null;
            if (_extras?.AlsoBlocking is { Count: > 0 } others)
            {
                _blocking = others[^1];
                others.RemoveAt(others.Count - 1);
            }
        }
        else
        {
            _extras?.AlsoBlocking?.Remove(call);
        }

        if (call.Trace is RunningSpan span)
            span.End(call.Error);
        Answer(call);
        if (_runningCount == 0 && _life is not null)
            AtRest();
    }

    private void Answer(Call call)
    {
        if (call.Origin == CallOrigin.Nobody && call.Error is { } error)
            Parts.Local.Log.OneWayFailed(call.Method.ActivityName, GrainId, error);
        if (call.Origin == CallOrigin.Local)
            IsolateResult(call);
        if (call.TryClaim())
            call.Publish();
    }

    private static void IsolateResult(Call call)
    {
        try
        {
            call.CopyResult(CopyContext.Rent());
        }
        catch (Exception exception)
        {
            call.Error = exception;
        }
    }

    /// <summary>Ends a request that never ran.</summary>
    internal static void Fail(Call call, Exception exception)
    {
        if (!call.TryClaim())
            return;
        call.Error = exception;
        call.Publish();
    }
}
