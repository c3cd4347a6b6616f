using System.Diagnostics;
using ActOp.Calls;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// Traces of calls on the activity source <c>ActOp.Runtime</c>, only while somebody listens. Whether a trace is recorded is asked where it
/// begins; from there on the answer travels with it.
/// </summary>
/// <remarks>
/// Stateless; any thread. A recorded call has a span of its own on either side. One that nobody records has none: its trace
/// (<see cref="Call.Trace"/>) goes from turn to turn, and no listener is asked again.
/// </remarks>
internal static class CallTrace
{
    internal const string SourceName = "ActOp.Runtime";

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>Some trace has come from a process in which somebody listens: it goes on from here although nobody listens here.</summary>
    private static volatile bool s_passes;

    /// <summary>True when calls may belong to a trace.</summary>
    internal static bool IsOn => Source.HasListeners() || s_passes;

    /// <summary>
    /// Gives the call its trace. Returns the caller's span when the trace is recorded; it is the thread's current activity then, and
    /// started.
    /// </summary>
    internal static Activity? StartClient(Call call)
    {
        var current = Activity.Current;
        var passed = current as PassedTrace;
        if (current is null ? UnknownTrace.IsHere : passed is { IsDropped: true })
        {
            call.Trace = (object?)passed ?? UnknownTrace.Instance;
            return null;
        }

        if (!Source.HasListeners())
        {
            call.Trace = current is { IdFormat: ActivityIdFormat.W3C } ? current : null;
            return null;
        }

        var activity = Source.CreateActivity(call.Method.ActivityName, ActivityKind.Client, passed?.Origin ?? default);
        if (activity is { IsAllDataRequested: true })
        {
            call.Trace = activity;
            return Describe(activity.Start(), call);
        }

        call.Trace = Drop(activity, current?.Context ?? default);
        return null;
    }

    /// <summary>
    /// The running turn takes up the trace of the call that it runs. Returns the callee's span when the trace is recorded, as
    /// <see cref="StartClient"/>. What the turn's execution context held before is gone.
    /// </summary>
    internal static Activity? Enter(Call call)
    {
        var trace = call.Trace;
        if (!Source.HasListeners() || IsDropped(trace))
        {
            Enter(trace);
            return null;
        }

        var parent = ContextOf(trace);
        var activity = Source.CreateActivity(call.Method.ActivityName, ActivityKind.Server, parent);
        if (activity is { IsAllDataRequested: true })
            return Describe(activity.Start(), call);
        Enter(Drop(activity, parent));
        return null;
    }

    /// <summary>What runs from here on continues <paramref name="trace"/> without a span of its own.</summary>
    internal static void Enter(object? trace)
    {
        switch (trace)
        {
            case null:
                break;
            case UnknownTrace:
                ExecutionContext.Restore(UnknownTrace.Flow);
                break;
            case PassedTrace passed:
                ExecutionContext.Restore(passed.Flow);
                break;
            case Activity { IsStopped: false } span:
                Activity.Current = span;
                break;
            default:
                ExecutionContext.Restore(new PassedTrace(ContextOf(trace), IsDropped(trace)).Flow);
                break;
        }
    }

    /// <summary>A trace has come over the wire.</summary>
    internal static object? Arrived(object? trace)
    {
        if (!s_passes && trace is not null)
            s_passes = true;
        return trace;
    }

    internal static void Fail(Activity? activity, Exception exception)
    {
        activity?.SetStatus(ActivityStatusCode.Error, exception.Message);
        activity?.AddException(exception);
    }

    /// <summary>The decision that nobody records what begins here, nor anything below it.</summary>
    /// <param name="asked">What the listeners have made of it: something with an id, or null.</param>
    /// <param name="parent">What it continues, or default.</param>
    private static object Drop(Activity? asked, ActivityContext parent)
    {
        if (parent.TraceId == default && asked is null)
            return UnknownTrace.Instance;
        // The sampler may have seen the id; it must not see another one further on.
        var trace = parent.TraceId == default ? asked!.TraceId : parent.TraceId;
        return new PassedTrace(new ActivityContext(trace, parent.SpanId, ActivityTraceFlags.None), isDropped: true);
    }

    private static bool IsDropped(object? trace) =>
        trace is PassedTrace { IsDropped: true } or UnknownTrace or TraceHeader { IsDropped: true };

    private static ActivityContext ContextOf(object? trace) => trace switch
    {
        PassedTrace passed => passed.Origin,
        Activity span => new ActivityContext(span.TraceId, span.SpanId, span.ActivityTraceFlags, span.TraceStateString, isRemote: true),
        TraceHeader header => header.Context,
        _ => default,
    };

    private static Activity Describe(Activity activity, Call call) =>
        activity.SetTag("rpc.system", "actop").SetTag("actop.grain", call.TargetId.ToString());
}
