using System.Collections.Concurrent;
using System.Reflection;
using ActOp.Serialization;
using Orleans;

namespace ActOp.Runtime.Routing;

/// <summary>Who may call a method of a system target.</summary>
internal enum Callers : byte
{
    /// <summary>Members of the view: the rule.</summary>
    Members,

    /// <summary>All silos, also those that join, and those that must learn that they are dead.</summary>
    Silos,

    /// <summary>Clients, too.</summary>
    Everyone,
}

/// <summary>Opens a method of a system target to others than members of the view.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class CallersAttribute(Callers callers) : Attribute
{
    internal Callers Callers => callers;
}

/// <summary>Which peers may call which methods of system targets: by <see cref="CallersAttribute"/>, and only methods of
/// <see cref="ISystemTarget"/> interfaces of this process. Any thread; one entry per such method.</summary>
internal static class SystemRights
{
    private static readonly ConcurrentDictionary<ulong, Callers> ByMethod = new();

    internal static bool Allows(ulong methodId, PeerRole role) => role switch
    {
        PeerRole.Member => true,
        PeerRole.Client => Of(methodId) == Callers.Everyone,
        _ => Of(methodId) != Callers.Members,
    };

    private static Callers Of(ulong methodId)
    {
        if (ByMethod.TryGetValue(methodId, out var callers))
            return callers;
        if (TypeManifest.FindMethod(methodId) is not { } method || !typeof(ISystemTarget).IsAssignableFrom(method.InterfaceType))
            return Callers.Members;
        var call = method.Rent(null);
        callers = call.Method.Info.GetCustomAttribute<CallersAttribute>()?.Callers ?? Callers.Members;
        call.Recycle();
        return ByMethod.GetOrAdd(methodId, callers);
    }
}
