using Orleans.Runtime;

namespace ActOp.Grains;

/// <summary>The activation whose grain object is being made on this thread: how <see cref="Orleans.Grain"/> finds it without a constructor argument.</summary>
internal static class ConstructionScope
{
    [ThreadStatic]
    private static IGrainContext? t_context;

    /// <summary>Set by the runtime around the constructor, and cleared after it.</summary>
    internal static IGrainContext? Context
    {
        get => t_context;
        set => t_context = value;
    }
}
