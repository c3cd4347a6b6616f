using ActOp.Calls;
using ActOp.Serialization;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Which peers may call which methods of system targets: by <see cref="CallersAttribute"/>, and only methods of
/// <see cref="Orleans.ISystemTarget"/> interfaces of this process. Holds nothing; any thread.
/// </summary>
internal static class SystemRights
{
    internal static bool Allows(ulong methodId, PeerRole role) => role switch
    {
        PeerRole.Member => true,
        PeerRole.Client => Of(methodId) == Callers.Everyone,
        _ => Of(methodId) != Callers.Members,
    };

    private static Callers Of(ulong methodId)
    {
        if (TypeManifest.FindMethod(methodId) is not { } method || !typeof(Orleans.ISystemTarget).IsAssignableFrom(method.InterfaceType))
            return Callers.Members;
        var call = method.Rent(null);
        var callers = call.Method.Callers;
        call.Recycle();
        return callers;
    }
}
