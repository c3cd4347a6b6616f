using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>One activation of a grain.</summary>
public interface IGrainContext : ITargetHolder
{
    /// <summary>The activation's id.</summary>
    ActivationId ActivationId { get; }

    /// <summary>The services of this activation.</summary>
    IServiceProvider ActivationServices { get; }

    /// <summary>Where the activation is.</summary>
    GrainAddress Address { get; }

    /// <summary>Completes when the activation has ended.</summary>
    Task Deactivated { get; }

    /// <summary>The grain's id.</summary>
    GrainId GrainId { get; }

    /// <summary>The grain's object; null before it is made and after it is gone.</summary>
    object? GrainInstance { get; }

    /// <summary>A reference to the grain.</summary>
    GrainReference GrainReference { get; }

    /// <summary>Where code can join the start and the end of the activation.</summary>
    IGrainLifecycle ObservableLifecycle { get; }

    /// <summary>Runs work on turns of the activation.</summary>
    IWorkItemScheduler Scheduler { get; }

    /// <summary>Starts to get the activation ready; does not wait for it.</summary>
    /// <param name="requestContext">The context of the call that made it, or null.</param>
    /// <param name="cancellationToken">Gives activation up.</param>
    void Activate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default);

    /// <summary>Starts to end the activation; does not wait for it.</summary>
    /// <param name="deactivationReason">Why.</param>
    /// <param name="cancellationToken">Hurries what the grain does at its end.</param>
    void Deactivate(DeactivationReason deactivationReason, CancellationToken cancellationToken = default);

    /// <summary>Starts to move the activation to the silo that placement chooses; does not wait for it.</summary>
    /// <param name="requestContext">May name the silo under <c>IPlacementDirector.PlacementHintKey</c>.</param>
    /// <param name="cancellationToken">Hurries what the grain does at its end here.</param>
    void Migrate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default);

    /// <summary>Puts a message of the runtime into the mailbox.</summary>
    void ReceiveMessage(object message);

    /// <summary>Takes over what the activation left behind on another silo.</summary>
    void Rehydrate(IRehydrationContext context);

    /// <summary>Sets or, with null, removes a component.</summary>
    void SetComponent<TComponent>(TComponent? value)
        where TComponent : class;
}
