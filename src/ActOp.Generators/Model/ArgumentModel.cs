namespace ActOp.Generators.Model;

/// <summary>One parameter of a grain method.</summary>
/// <param name="Type">The type in source text.</param>
/// <param name="Primitive">How it is written inline, see <c>Primitives</c>; empty when its codec writes it.</param>
/// <param name="SkipCopy">True when values are known to be immutable.</param>
internal sealed record ArgumentModel(string Type, string Primitive, bool SkipCopy);
