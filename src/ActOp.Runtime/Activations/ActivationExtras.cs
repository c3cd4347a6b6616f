using ActOp.Calls;
using ActOp.Foundation;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// What few activations have, or have only for a while. Created with the first of it, by any thread, and kept until the activation is
/// collected. A member belongs to the turns of the activation unless it says otherwise.
/// </summary>
internal sealed class ActivationExtras
{
    /// <summary>Makes the object if no other thread has. Any thread.</summary>
    internal static ActivationExtras Publish(ref ActivationExtras? extras)
    {
        var made = new ActivationExtras();
        return Interlocked.CompareExchange(ref extras, made, null) ?? made;
    }

    internal Dictionary<Type, object>? Components;
    internal GrainAddress? Address;
    internal GrainReference? Reference;
    internal WeakReference<object>? WeakInstance;

    /// <summary>The enumerations that others consume.</summary>
    internal Calls.Enumerations? Enumerations;

    /// <summary>Called when the end is decided, while requests may still run.</summary>
    internal Action? Ending;

    /// <summary>Other threads may read it.</summary>
    internal GrainLifecycle? Lifecycle;

    /// <summary>Any thread.</summary>
    internal IServiceScope? Scope;

    /// <summary>Any thread.</summary>
    internal TaskCompletionSource? Deactivated;

    /// <summary>Any thread.</summary>
    internal long KeepAliveUntil;

    /// <summary>
    /// Further running requests that would block, admitted beside the first one (reentrant, read-only, same call chain).
    /// </summary>
    internal List<Call>? AlsoBlocking;

    /// <summary>The call chains whose requests may interleave, and how often each section was entered.</summary>
    internal Dictionary<Guid, int>? Sections;

    /// <summary>The last of the waiting requests, while there are several.</summary>
    internal MailboxItem? LastWaiting;

    /// <summary>Once a request has waited for the time of its group.</summary>
    internal HeldActivation? Held;

    /// <summary>Coarse time in ms when the waiting requests were last searched for abandoned ones.</summary>
    internal long LastDrop;

    private List<IDisposable>? _timers;

    /// <summary>Keeps a timer until it is disposed.</summary>
    internal void AddTimer(IDisposable timer) => (_timers ??= []).Add(timer);

    internal void RemoveTimer(IDisposable timer) => _timers?.Remove(timer);

    /// <summary>Disposes the timers, each of which signals its token.</summary>
    internal void StopTimers(Action<AggregateException> onFailure)
    {
        foreach (var timer in _timers?.ToArray() ?? [])
        {
            try
            {
                timer.Dispose();
            }
            catch (AggregateException exception)
            {
                onFailure(exception);
            }
        }

        _timers = null;
    }

    internal void EnterSection(Guid reentrancyId)
    {
        Sections ??= [];
        Sections[reentrancyId] = Sections.GetValueOrDefault(reentrancyId) + 1;
    }

    internal void ExitSection(Guid reentrancyId)
    {
        if (Sections is not { } sections || !sections.TryGetValue(reentrancyId, out var count))
            return;
        if (count > 1)
            sections[reentrancyId] = count - 1;
        else
            sections.Remove(reentrancyId);
    }

    /// <summary>The service scope of the activation, created on first use. Any thread.</summary>
    internal IServiceScope ScopeOf(IServiceProvider services)
    {
        if (Volatile.Read(ref Scope) is { } scope)
            return scope;
        var made = services.CreateScope();
        if (Interlocked.CompareExchange(ref Scope, made, null) is not { } other)
            return made;
        made.Dispose();
        return other;
    }

    /// <summary>Completes when the activation has ended. Any thread.</summary>
    internal Task EndOfActivation()
    {
        if (Volatile.Read(ref Deactivated) is { } source)
            return source.Task;
        var made = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        return (Interlocked.CompareExchange(ref Deactivated, made, null) ?? made).Task;
    }

    /// <summary>Releases what refers to the grain.</summary>
    internal void Clear()
    {
        Scope = null;
        Lifecycle = null;
        Components = null;
        Ending = null;
        Enumerations = null;
        Sections = null;
    }

    /// <summary>The object behind an observer's activation; null for one without.</summary>
    /// <exception cref="OrleansMessageRejectionException">The object was collected.</exception>
    internal object? TargetOfObserver(Activation activation)
    {
        if (WeakInstance is not { } weak)
            return null;
        if (weak.TryGetTarget(out var observer))
            return observer;
        activation.EndObserver();
        throw new OrleansMessageRejectionException("The observer " + activation.GrainId + " of " + activation.Parts.Local.Address
            + " no longer exists: the application has not kept the object.");
    }
}

/// <summary>What an activation and its parts do with their state when it migrates.</summary>
[Flags]
internal enum CarriedState
{
    /// <summary>Nobody takes part.</summary>
    None = 0,

    /// <summary>The grain, or a part that the application has added, takes part and is trusted.</summary>
    ByItself = 1,

    /// <summary>A persistent state goes along.</summary>
    Persistent = 2,

    /// <summary>A persistent state stays behind: changes that were not written would be lost.</summary>
    LeftBehind = 4,
}

/// <summary>The stages of one activation's life that services and facets subscribe to.</summary>
internal sealed class GrainLifecycle : StagedLifecycle, IGrainLifecycle
{
    /// <summary>Replaced as a whole: other threads read it.</summary>
    private IGrainMigrationParticipant[] _participants = [];

    internal IReadOnlyList<IGrainMigrationParticipant> MigrationParticipants => _participants;

    /// <summary>Any thread. A racy snapshot.</summary>
    internal CarriedState CarriedState
    {
        get
        {
            var carried = CarriedState.None;
            foreach (var participant in Volatile.Read(ref _participants))
            {
                carried |= participant is not IStateCarrier state ? CarriedState.ByItself
                    : state.CarriesState ? CarriedState.Persistent : CarriedState.LeftBehind;
            }

            return carried;
        }
    }

    public void AddMigrationParticipant(IGrainMigrationParticipant participant)
    {
        if (!_participants.Contains(participant))
            Volatile.Write(ref _participants, [.. _participants, participant]);
    }

    public void RemoveMigrationParticipant(IGrainMigrationParticipant participant) =>
        Volatile.Write(ref _participants, [.. _participants.Where(one => !ReferenceEquals(one, participant))]);
}
