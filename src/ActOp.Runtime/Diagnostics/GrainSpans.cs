using System.Diagnostics;
using ActOp.Runtime.Activations;
using Orleans;
using Orleans.Diagnostics;
using Orleans.Runtime;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// Spans of what the runtime does for a grain beside its calls: placement, start, end, migration and storage. Sources, names and tags are
/// those of Orleans.
/// </summary>
/// <remarks>
/// Stateless; any thread. Without a listener each costs one comparison, and none is on the path of a call to a running grain. A span
/// belongs to the trace that causes it, which may have come from another node; an unrecorded trace has none. A span is the current activity
/// until the method that has started it returns. Listeners are code of the application: what they throw costs at most the span.
/// </remarks>
internal static class GrainSpans
{
    internal const string Place = "place grain";
    internal const string Filter = "filter placement candidates";
    internal const string Activate = "activate grain";
    internal const string OnActivate = "execute OnActivateAsync";
    internal const string Register = "register directory entry";
    internal const string Rehydrate = "rehydrate activation";
    internal const string Deactivate = "deactivate grain";
    internal const string OnDeactivate = "execute OnDeactivateAsync";
    internal const string Dehydrate = "dehydrate activation";
    internal const string WaitMigration = "wait migration";

    private const string GrainIdTag = "orleans.grain.id";

    private static readonly ActivitySource Lifecycle = new(ActivitySources.LifecycleActivitySourceName);
    private static readonly ActivitySource Storage = new(ActivitySources.StorageActivitySourceName);

    /// <summary>
    /// Somebody listens to the lives of grains. Calls carry their traces from the first time on, so that these spans have parents even if
    /// nobody listens to calls.
    /// </summary>
    internal static bool IsOn
    {
        get
        {
            if (!Lifecycle.HasListeners())
                return false;
            CallTrace.PassOn();
            return true;
        }
    }

    /// <summary>Somebody listens to storage under the name of Orleans.</summary>
    internal static bool StorageIsOn => Storage.HasListeners();

    /// <summary>The trace of the running turn, for a step that follows later; null if nobody listens.</summary>
    internal static object? Current => IsOn ? CallTrace.Current : null;

    /// <summary>The current one of these spans, if there is one.</summary>
    internal static Activity? Outer =>
        Lifecycle.HasListeners() && Activity.Current is { } current && ReferenceEquals(current.Source, Lifecycle) ? current : null;

    /// <summary>A silo is chosen for a grain. Null if nobody listens, or the trace is not recorded.</summary>
    internal static Activity? Placing(GrainId grain, SiloAddress chooser, object? trace)
    {
        if (!IsOn || Start(Lifecycle, Place, ActivityKind.Internal, trace) is not { } span)
            return null;
        return span.SetTag(GrainIdTag, grain.ToString()).SetTag("orleans.grain.type", grain.Type.ToString())
            .SetTag("orleans.silo.id", chooser.ToString());
    }

    /// <summary>A filter runs within <see cref="Placing"/>.</summary>
    internal static Activity? Filtering(object filter) => Outer is { OperationName: Place } placing
        ? Start(Lifecycle, Filter, ActivityKind.Internal, placing)?.SetTag("orleans.placement.filter.type", filter.GetType().Name)
        : null;

    /// <summary>An activation starts, with state from another silo or new.</summary>
    internal static Activity? Activating(Activation activation, bool hasState, object? trace) =>
        Begin(activation, Activate, trace)?.SetTag("orleans.activation.cause", hasState ? "rehydrate" : "new");

    /// <summary>An activation that has begun ends.</summary>
    internal static Activity? Deactivating(Activation activation, in DeactivationReason reason, object? trace) =>
        Begin(activation, Deactivate, trace)?.SetTag("orleans.deactivation.reason", reason.ToString());

    /// <summary>A step of the start or the end of an activation. Null if that has no span.</summary>
    internal static Activity? Step(Activation activation, string name) => Outer is { } outer ? Begin(activation, name, outer) : null;

    /// <summary>A step of a migration to another silo. Null if the end has no span.</summary>
    internal static Activity? Migrating(Activation activation, string name, SiloAddress target) =>
        Step(activation, name)?.SetTag("orleans.migration.target.silo", target.ToString());

    /// <summary>Runs a hook of the grain, within a span if the start or the end of the activation has one.</summary>
    internal static Task Around(Activation activation, string name, Func<Task> hook, DeactivationReason? reason = null) =>
        Lifecycle.HasListeners() ? AroundAsync(activation, name, hook, reason) : hook();

    /// <summary>An operation on a state. Null if nobody listens to storage, or the trace is not recorded.</summary>
    internal static Activity? Storing(string name, GrainId grain, string state, Type stateType, object provider) =>
        Start(Storage, name, ActivityKind.Client, CallTrace.Current)?.SetTag(GrainIdTag, grain.ToString())
            .SetTag("orleans.storage.provider", provider.GetType().Name).SetTag("orleans.storage.state.name", state)
            .SetTag("orleans.storage.state.type", stateType.Name);

    private static async Task AroundAsync(Activation activation, string name, Func<Task> hook, DeactivationReason? reason)
    {
        using var span = new GrainSpan(Step(activation, name));
        if (reason is { } why)
            span.Tag("orleans.deactivation.reason", why.ToString());
        try
        {
            await hook();
        }
        catch (Exception exception)
        {
            span.Fail(exception);
            throw;
        }
    }

    private static Activity? Begin(Activation activation, string name, object? trace)
    {
        if (!IsOn || activation.Class.IsOfRuntime || Start(Lifecycle, name, ActivityKind.Internal, trace) is not { } span)
            return null;
        return span.SetTag(GrainIdTag, activation.GrainId.ToString())
            .SetTag("orleans.grain.type", activation.GrainId.Type.ToString())
            .SetTag("orleans.silo.id", activation.Parts.Local.Address.ToString())
            .SetTag("orleans.activation.id", activation.ActivationId.ToString());
    }

    /// <summary>A started span, or null if the trace is not recorded.</summary>
    private static Activity? Start(ActivitySource source, string name, ActivityKind kind, object? trace) =>
        CallTrace.IsDropped(trace) ? null
            : CallTrace.Create(source, name, kind, trace) is { IsAllDataRequested: true } span ? CallTrace.Start(span)
            : null;
}

/// <summary>A span, or none, to the end of a block.</summary>
internal readonly struct GrainSpan(Activity? span) : IDisposable
{
    internal bool IsNone => span is null;

    internal void Tag(string name, object value) => span?.SetTag(name, value);

    internal void Fail(Exception exception) => CallTrace.Fail(span, exception);

    public void Dispose() => CallTrace.End(span);
}
