namespace Orleans;

/// <summary>Wraps calls on the caller's side, see <see cref="IOutgoingGrainCallFilter"/>.</summary>
public delegate Task OutgoingGrainCallFilterDelegate(IOutgoingGrainCallContext context);
