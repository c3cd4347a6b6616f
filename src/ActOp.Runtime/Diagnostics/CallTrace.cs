using System.Diagnostics;
using ActOp.Calls;
using Orleans.Runtime;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// Traces of calls on the activity source <c>ActOp.Runtime</c>, only while somebody listens. The W3C context travels in the request
/// context, also that of a trace which is not recorded: so the decision that was made at its beginning holds to its end.
/// </summary>
internal static class CallTrace
{
    internal const string SourceName = "ActOp.Runtime";
    internal const string ParentKey = "actop.traceparent";

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>True while somebody listens.</summary>
    internal static bool IsOn => Source.HasListeners();

    /// <summary>The caller's span; null when nobody listens or no listener wants it. It is the thread's current activity then.</summary>
    internal static Activity? StartClient(Call call)
    {
        if (!IsOn)
            return null;
        // Within a call whose trace nobody records, the request context is all that knows of it.
        var activity = Activity.Current is null && ParentOf(call.Context) is { } parent && ActivityContext.TryParse(parent, null, isRemote: false, out var context)
            ? Source.StartActivity(call.Method.ActivityName, ActivityKind.Client, context)
            : Source.StartActivity(call.Method.ActivityName, ActivityKind.Client);
        return Describe(activity, call);
    }

    /// <summary>The callee's span, as <see cref="StartClient"/>.</summary>
    internal static Activity? StartServer(Call call)
    {
        if (!IsOn)
            return null;
        ActivityContext.TryParse(ParentOf(call.Context), null, isRemote: true, out var context);
        return Describe(Source.StartActivity(call.Method.ActivityName, ActivityKind.Server, context), call);
    }

    /// <summary>
    /// The request context with the trace that the callee is to continue: that of <paramref name="activity"/>, or without one that of the
    /// caller.
    /// </summary>
    internal static RequestContextData? AddParent(RequestContextData? context, Activity? activity)
    {
        if (IdOf(activity) is not { } id || id == ParentOf(context))
            return context;
        var values = context?.Values is { } before ? new Dictionary<string, object>(before) : [];
        values[ParentKey] = id;
        return new RequestContextData { Values = values, ReentrancyId = context?.ReentrancyId ?? Guid.Empty };
    }

    /// <summary>What the callee continues, or null.</summary>
    internal static string? IdOf(Activity? activity) => IsOn ? (activity ?? Activity.Current)?.Id : null;

    internal static void Fail(Activity? activity, Exception exception)
    {
        activity?.SetStatus(ActivityStatusCode.Error, exception.Message);
        activity?.AddException(exception);
    }

    private static string? ParentOf(RequestContextData? context) => context?.Values is { } values && values.TryGetValue(ParentKey, out var parent) ? parent as string : null;

    private static Activity? Describe(Activity? activity, Call call)
    {
        if (activity is { IsAllDataRequested: true })
            activity.SetTag("rpc.system", "actop").SetTag("actop.grain", call.TargetId.ToString());
        return activity;
    }
}
