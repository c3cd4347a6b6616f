namespace ActOp.Serialization;

internal sealed class TypeShare;
