namespace ActOp.Generators.Model;

/// <summary>What a grain method returns.</summary>
internal enum ReturnKind
{
    Void,
    Task,
    TaskOf,
    ValueTask,
    ValueTaskOf,
    Unsupported,
}
