using System.Diagnostics;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// Traces of calls on the activity source <c>ActOp.Runtime</c>, only while there is a listener. The decision whether a trace is recorded is
/// made where the trace starts, and travels with it. Listeners are code of the application: what they throw costs at most the span.
/// </summary>
/// <remarks>
/// Stateless; any thread. A recorded call has a span of its own on either side. An unrecorded call has none: its trace
/// (<see cref="Call.Trace"/>) is passed from turn to turn, and no listener is called again.
/// </remarks>
internal static class CallTrace
{
    internal const string SourceName = "ActOp.Runtime";

    private const string GrainTag = "actop.grain";

    private static readonly ActivitySource Own = new(SourceName);

    /// <summary>For applications that name the source of Orleans. Used when nobody listens to our own.</summary>
    private static readonly ActivitySource OfOrleans = new(Orleans.Diagnostics.ActivitySources.ApplicationGrainActivitySourceName);

    /// <summary>Set when a trace has arrived from another process. It is passed on even without a listener here.</summary>
    private static volatile bool s_passes;

    /// <summary>True when calls may belong to a trace.</summary>
    internal static bool IsOn => HasListeners || s_passes;

    private static bool HasListeners => Own.HasListeners() || OfOrleans.HasListeners();

    private static ActivitySource Source => Own.HasListeners() ? Own : OfOrleans;

    /// <summary>The trace that the running code belongs to, as <see cref="Call.Trace"/> has it.</summary>
    internal static object? Current =>
        (object?)Activity.Current ?? (UnknownTrace.IsHere ? UnknownTrace.Instance : IsUnaskedHere ? UnknownTrace.Unasked : null);

    /// <summary>The running turn is of a request for which <see cref="Enter(Call, Activation)"/> has left the context as it was.</summary>
    private static bool IsUnaskedHere => CallHost.Current is Activation activation
        && ReferenceEquals(activation.Admission.Blocking?.Trace, UnknownTrace.Unasked);

    /// <summary>
    /// Gives the call the trace that it belongs to, or begins, if that is not recorded and no listener needs to be asked: the usual case,
    /// which allocates nothing.
    /// </summary>
    internal static bool TryPass(Call call, RootTraces roots)
    {
        // The usual contexts are told apart without reading the values in them.
        var context = ExecutionContext.Capture();
        if (!Turn.IsClean(context))
        {
            if (ReferenceEquals(context, UnknownTrace.Flow))
            {
                call.Trace = UnknownTrace.Instance;
                return true;
            }

            if (Activity.Current is { } current)
            {
                if (current is not PassedTrace { IsDropped: true })
                    return false;
                call.Trace = current;
                return true;
            }

            if (UnknownTrace.IsHere)
            {
                call.Trace = UnknownTrace.Instance;
                return true;
            }
        }

        if (!(roots.DropsAny && IsUnaskedHere) && (!HasListeners || roots.Ask()))
            return false;
        call.Trace = UnknownTrace.Unasked;
        return true;
    }

    /// <summary>
    /// Gives the call its trace, if <see cref="TryPass"/> has not. Returns the caller's span when the trace is recorded; it is the thread's
    /// current activity then, and started.
    /// </summary>
    internal static Activity? StartClient(Call call)
    {
        var current = Activity.Current;
        if (!HasListeners)
        {
            call.Trace = current is { IdFormat: ActivityIdFormat.W3C } ? current : null;
            return null;
        }

        var activity = Create(Source, call.Method.ActivityName, ActivityKind.Client, current);
        if (activity is { IsAllDataRequested: true })
        {
            call.Trace = activity;
            return Begin(activity, call.TargetId.ToString());
        }

        call.Trace = Drop(activity, current);
        return null;
    }

    /// <summary>
    /// The running turn continues the trace of its call. Returns the callee's span when the trace is recorded, as
    /// <see cref="StartClient"/>. The previous execution context of the turn is replaced, unless the request runs alone and has not asked:
    /// then its turns are known by it.
    /// </summary>
    internal static Activity? Enter(Call call, Activation activation)
    {
        var trace = call.Trace;
        // A tick of a timer, or a call from a node where nobody listens, has none.
        if (trace is null && HasListeners && !activation.Parts.Local.Roots.Ask())
            call.Trace = trace = UnknownTrace.Unasked;
        if (trace is UnknownTrace)
        {
            if (!ReferenceEquals(trace, UnknownTrace.Unasked) || !activation.Admission.RunsAlone(call))
                ExecutionContext.Restore(UnknownTrace.Flow);
            return null;
        }

        if (IsDropped(trace) || !HasListeners)
        {
            Enter(trace);
            return null;
        }

        var activity = Create(Source, call.Method.ActivityName, ActivityKind.Server, trace);
        if (activity is { IsAllDataRequested: true })
            return Begin(activity, NameIn(trace) ?? call.TargetId.ToString());
        Enter(Drop(activity, trace));
        return null;
    }

    /// <summary>The following code continues <paramref name="trace"/> without its own span.</summary>
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
                ExecutionContext.Restore(new PassedTrace(ContextOf(trace), IsDropped(trace), trace).Flow);
                break;
        }
    }

    /// <summary>The trace that finding a place for the call belongs to.</summary>
    internal static object? OfRoute(Call call) => call.Method.IsOfRuntime ? UnknownTrace.Instance : call.Trace;

    /// <summary>A trace has arrived from another node.</summary>
    internal static object? Arrived(object? trace)
    {
        if (trace is not null)
            PassOn();
        return trace;
    }

    /// <summary>From now on calls carry the traces that they belong to, even without a listener to calls.</summary>
    internal static void PassOn()
    {
        if (!s_passes)
            s_passes = true;
    }

    internal static void Fail(Activity? activity, Exception exception)
    {
        if (activity is null)
            return;
        try
        {
            activity.SetStatus(ActivityStatusCode.Error, exception.Message);
            activity.AddException(exception);
        }
        catch (Exception failure)
        {
            Border.Failed(BorderKind.TraceListener, failure);
        }
    }

    /// <summary>
    /// The caller takes the answer of a call that <see cref="StartClient"/> has given a span. What follows goes on in its own activity, not
    /// in that from before the call.
    /// </summary>
    /// <param name="trace"><see cref="Call.Trace"/>.</param>
    /// <param name="error">The exception that the caller gets, or null.</param>
    internal static void EndClient(object? trace, Exception? error)
    {
        var span = (Activity?)(trace is RunningSpan { Caller: { } caller } ? caller : trace);
        var current = Activity.Current;
        if (error is not null)
            Fail(span, error);
        End(span);
        if (!ReferenceEquals(Activity.Current, current))
            Activity.Current = current;
    }

    internal static void End(Activity? activity)
    {
        try
        {
            activity?.Dispose();
        }
        catch (Exception failure)
        {
            Border.Failed(BorderKind.TraceListener, failure);
        }
    }

    /// <summary>Nothing of the trace is recorded, and no listener is called again.</summary>
    internal static bool IsDropped(object? trace) =>
        trace is PassedTrace { IsDropped: true } or UnknownTrace or TraceHeader { IsDropped: true };

    /// <summary>
    /// The activity for which a listener asks, with the baggage of the trace; null if none does. A listener that throws asks for nothing.
    /// </summary>
    internal static Activity? Create(ActivitySource source, string name, ActivityKind kind, object? trace)
    {
        // A child in the same flow has its parent as an object, and reads state and baggage there.
        var isCurrent = kind != ActivityKind.Server && trace is not PassedTrace && ReferenceEquals(trace, Activity.Current);
        try
        {
            var activity = source.CreateActivity(name, kind, isCurrent ? default : ContextOf(trace));
            if (!isCurrent && activity is { IsAllDataRequested: true })
                TraceBaggage.Copy(trace, activity);
            return activity;
        }
        catch (Exception exception)
        {
            Border.Failed(BorderKind.TraceListener, exception);
            return null;
        }
    }

    /// <summary>Starts the activity. It has started even if a listener throws.</summary>
    internal static Activity Start(Activity activity)
    {
        try
        {
            activity.Start();
        }
        catch (Exception exception)
        {
            Border.Failed(BorderKind.TraceListener, exception);
        }

        return activity;
    }

    /// <summary>The decision that the trace that starts or arrives here is not recorded.</summary>
    /// <param name="asked">The activity that the listeners created: with an id, or null.</param>
    /// <param name="trace">The parent, or null.</param>
    private static object Drop(Activity? asked, object? trace)
    {
        var parent = ContextOf(trace);
        if (parent.TraceId == default && asked is null)
            return UnknownTrace.Instance;
        // The sampler may have seen this id, so it must not change.
        var id = parent.TraceId == default ? asked!.TraceId : parent.TraceId;
        return new PassedTrace(
            new ActivityContext(id, parent.SpanId, ActivityTraceFlags.None, parent.TraceState ?? asked?.TraceStateString), isDropped: true,
            trace);
    }

    private static ActivityContext ContextOf(object? trace) => trace switch
    {
        PassedTrace passed => passed.Origin,
        Activity span => new ActivityContext(span.TraceId, span.SpanId, span.ActivityTraceFlags, span.TraceStateString, isRemote: true),
        TraceHeader header => header.Context,
        _ => default,
    };

    private static Activity Begin(Activity activity, string grain) =>
        Start(activity).AddTag("rpc.system", "actop").AddTag(GrainTag, grain);

    /// <summary>The text of the grain's id, if the caller's span is in this process and has it.</summary>
    private static string? NameIn(object? trace) =>
        trace is Activity { Kind: ActivityKind.Client } caller and not PassedTrace && ReferenceEquals(caller.Source, Source)
            ? caller.GetTagItem(GrainTag) as string
            : null;
}
