namespace ActOp.Placement;

/// <summary>
/// Lets the runtime move the marked grain between silos although it takes no part in migration (it does not implement
/// <see cref="Orleans.Runtime.IGrainMigrationParticipant"/>) and holds something in memory.
/// </summary>
/// <remarks>
/// For grains whose fields are a cache or are read anew by <c>OnActivateAsync</c>: what is in them is lost when the grain moves, and so are
/// timers that <c>OnActivateAsync</c> does not register. Without this mark such a grain stays on its silo.
/// <see cref="Orleans.Placement.ImmovableAttribute"/> on the class or one of its bases wins over this one.
/// </remarks>
[AttributeUsage(AttributeTargets.Class)]
public sealed class MovableAttribute : Attribute;
