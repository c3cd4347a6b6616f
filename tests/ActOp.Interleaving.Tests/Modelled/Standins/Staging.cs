namespace ActOp.Staging;

/// <summary>The namespace is named by sources that take their stage from nearer.</summary>
internal static class NoStage;
