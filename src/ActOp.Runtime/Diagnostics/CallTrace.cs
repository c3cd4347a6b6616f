using System.Diagnostics;

namespace ActOp.Runtime.Diagnostics;

/// <summary>Traces of calls on the activity source <c>ActOp.Runtime</c>, only while somebody listens. The W3C context travels in the request context.</summary>
internal static class CallTrace
{
    internal const string SourceName = "ActOp.Runtime";
    internal const string ParentKey = "actop.traceparent";

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>True while somebody listens.</summary>
    internal static bool IsOn => Source.HasListeners();

    internal static Activity? StartClient(string method, string target)
    {
        var activity = Source.StartActivity(method, ActivityKind.Client);
        activity?.SetTag("rpc.system", "actop").SetTag("actop.grain", target);
        return activity;
    }

    internal static Activity? StartServer(string method, string target, string? parent)
    {
        ActivityContext.TryParse(parent, null, isRemote: true, out var context);
        var activity = Source.StartActivity(method, ActivityKind.Server, context);
        activity?.SetTag("rpc.system", "actop").SetTag("actop.grain", target);
        return activity;
    }

    internal static void Fail(Activity? activity, Exception exception)
    {
        activity?.SetStatus(ActivityStatusCode.Error, exception.Message);
        activity?.AddException(exception);
    }
}
