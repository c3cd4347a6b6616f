using ActOp.Calls;
using ActOp.Wire;

namespace ActOp.Runtime.Routing;

/// <summary>What a thread encodes and decodes messages with; kept from message to message, without keeping the node alive.</summary>
internal sealed class Scratch
{
    [ThreadStatic]
    private static Scratch? t_instance;

    private Scratch(CallRuntime runtime) => Session = new WireSession(runtime);

    internal WireBuffer Buffer { get; } = new(4096);

    internal WireSession Session { get; }

    /// <summary>This thread's scratch for messages of <paramref name="runtime"/>, emptied.</summary>
    internal static Scratch Rent(CallRuntime runtime)
    {
        var scratch = t_instance;
        if (scratch is null || !scratch.Session.IsOf(runtime))
            t_instance = scratch = new Scratch(runtime);
        scratch.Buffer.Clear();
        scratch.Session.Reset();
        return scratch;
    }
}
