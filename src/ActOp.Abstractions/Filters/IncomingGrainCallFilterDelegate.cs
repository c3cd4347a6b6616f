namespace Orleans;

/// <summary>Wraps calls on the callee's side, see <see cref="IIncomingGrainCallFilter"/>.</summary>
public delegate Task IncomingGrainCallFilterDelegate(IIncomingGrainCallContext context);
