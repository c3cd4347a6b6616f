using ActOp.Calls;
using ActOp.Tenants;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Foundation;

/// <summary>Refuses what crosses from one tenant to another: calls where they arrive, and streams where they are used.</summary>
/// <remarks>
/// Owns counters only. Any thread; the policy of the application is asked on the thread that has the call.
/// Failures of it: throws: what it was asked for is refused, and the exception is logged. Hangs: it holds a thread of the work stage or
/// of the receivers, as a filter does.
/// </remarks>
internal sealed class NodeTenants(ICrossTenantAuthorizer? authorizer, TimeProvider time, Log log)
{
    private const string NotForClients = "A client that is bound to a tenant uses streams, channels and management through grains of its"
        + " tenant";

    private long _refused;
    private CountedLine _line;

    /// <summary>Calls and uses of streams that were refused.</summary>
    internal long Refused => Interlocked.Read(ref _refused);

    /// <summary>
    /// The exception to refuse a request with, or null. Requests of the runtime may go anywhere, unless a client of a tenant makes them.
    /// </summary>
    internal CrossTenantException? FindRefusal(Call call, GrainId target)
    {
        // Which of them a client may call was asked when its request was read.
        if (call.Method.IsSystem)
            return null;
        var caller = call.SourceId;
        var source = TenantKey.Extract(caller.Key.AsSpan());
        var isClient = !source.IsEmpty && caller.Type.IsClient();
        if (isClient && IsClosedToClients(call.Method))
            return Refuse(TenantKey.Name(source), null, call.Method.ActivityName + ". " + NotForClients, null);
        if (!isClient && call.Method.IsOfRuntime)
            return null;
        var to = TenantKey.Extract(target.Key.AsSpan());
        return source.SequenceEqual(to) ? null : FindRefusal(TenantKey.Name(source), TenantKey.Name(to), call.Method.ActivityName);
    }

    /// <summary>
    /// Queues, subscriptions and channels are common to all tenants, and a request to them names its stream somewhere in its arguments. So
    /// they are closed to clients of a tenant, as management is.
    /// </summary>
    private static bool IsClosedToClients(CallMethod method) => method.Callers != Callers.Everyone
        || (method.IsOfRuntime && method.InterfaceType != typeof(ICancellationSourcesExtension));

    /// <exception cref="CrossTenantException">The grain may not use the stream.</exception>
    internal void Check(GrainId source, in QualifiedStreamId stream)
    {
        var from = TenantKey.Extract(source.Key.AsSpan());
        var to = TenantKey.Extract(stream.StreamId.Key.Span);
        if (!from.SequenceEqual(to)
            && FindRefusal(TenantKey.Name(from), TenantKey.Name(to), "the stream " + stream) is { } refusal)
        {
            throw refusal;
        }
    }

    /// <summary>Without a policy a tenant may use what has none, and clients and grains without a tenant may use everything.</summary>
    private CrossTenantException? FindRefusal(string? source, string? target, string what)
    {
        if (authorizer is null)
            return source is null || target is null ? null : Refuse(source, target, what, null);
        try
        {
            return authorizer.IsAccessAuthorized(source, target) ? null : Refuse(source, target, what, null);
        }
        catch (Exception failure)
        {
            return Refuse(source, target, what, failure);
        }
    }

    private CrossTenantException Refuse(string? source, string? target, string what, Exception? failure)
    {
        Interlocked.Increment(ref _refused);
        if (_line.Add((long)time.GetElapsedTime(0).TotalMilliseconds, out var count))
            log.TenantsSeparated(count, Shown(source), Shown(target), what, failure);
        return new CrossTenantException(
            "The " + Shown(source) + " may not use what belongs to the " + Shown(target) + ". Refused: " + what + "."
            + (failure is null ? "" : " The policy of the application has failed."), source, target);
    }

    private static string Shown(string? tenant) => tenant is null ? "code without a tenant" : "tenant \"" + tenant + "\"";
}

/// <summary>That tenants are separated on this silo, and by which policy.</summary>
/// <param name="Make">Makes the policy; null for that of the services, if there is one.</param>
internal sealed record TenantSeparation(Func<IServiceProvider, ICrossTenantAuthorizer>? Make)
{
    internal NodeTenants Create(IServiceProvider services, TimeProvider time, Log log) =>
        new(Make?.Invoke(services) ?? (ICrossTenantAuthorizer?)services.GetService(typeof(ICrossTenantAuthorizer)), time, log);
}
