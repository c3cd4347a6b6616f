namespace ActOp.Calls;

/// <summary>The result of a method that has none.</summary>
public readonly struct NoResult;
