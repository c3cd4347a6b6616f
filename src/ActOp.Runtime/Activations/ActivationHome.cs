using ActOp.Calls;
using ActOp.Runtime.Hosting;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>What all activations of a class on a node share. Immutable; any thread.</summary>
internal sealed class ActivationHome(Node node, GrainClass grainClass, Stage stage)
{
    internal Node Node { get; } = node;

    internal GrainClass Class { get; } = grainClass;

    /// <summary>Where their turns run.</summary>
    internal Stage Stage { get; } = stage;

    /// <summary>The runtime's own targets have no limit: a registration that is refused is lost.</summary>
    internal bool HasLimit { get; } = !ReferenceEquals(stage, node.ControlStage);
}

/// <summary>
/// What few activations have, or have for a while only. Made with the first of it by any thread, and kept until the activation goes. Which
/// thread may touch what is said where <see cref="Activation"/> uses it; nothing says otherwise for the turn's own.
/// </summary>
internal sealed class ActivationExtras
{
    internal Dictionary<Type, object>? Components;
    internal GrainAddress? Address;
    internal GrainReference? Reference;
    internal WeakReference<object>? WeakInstance;
    internal GrainLifecycle? Lifecycle;
    internal IServiceScope? Scope;
    internal List<IDisposable>? Timers;
    internal TaskCompletionSource? Deactivated;
    internal long KeepAliveUntil;

    /// <summary>
    /// Further running requests that would block, admitted beside the first one (reentrant, read-only, same chain).
    /// </summary>
    internal List<Call>? AlsoBlocking;
    internal Dictionary<Guid, int>? Sections;

    /// <summary>The last of the waiting requests, while there are several.</summary>
    internal Work? LastWaiting;
    internal long LastDrop;
}
