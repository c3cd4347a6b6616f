using ActOp.Calls;
using ActOp.Wire;

namespace Orleans.Serialization;

/// <summary>A buffer and a session that a thread reuses; a nested use gets its own.</summary>
internal sealed class WireScratch
{
    [ThreadStatic]
    private static WireScratch? t_scratch;

    private WireScratch(CallRuntime? runtime) => Session = new WireSession(runtime);

    internal WireBuffer Buffer { get; } = new();

    internal WireSession Session { get; }

    internal static WireScratch Rent(CallRuntime? runtime, object? codecProvider = null)
    {
        var scratch = t_scratch;
        t_scratch = null;
        if (scratch is null || !scratch.Session.IsOf(runtime))
            scratch = new WireScratch(runtime);
        scratch.Session.CodecProvider = codecProvider;
        return scratch;
    }

    internal void Return()
    {
        Buffer.Clear();
        Session.Reset();
        t_scratch = this;
    }
}
