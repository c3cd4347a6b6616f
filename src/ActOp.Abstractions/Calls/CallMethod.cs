using System.Reflection;
using Orleans.CodeGeneration;

namespace ActOp.Calls;

/// <summary>
/// Describes one method of a grain interface: one object per method and, for generic methods, per instantiation. Created by generated
/// code. Immutable; any thread.
/// </summary>
/// <param name="interfaceType">The grain interface.</param>
/// <param name="interfaceName">The display name of the interface.</param>
/// <param name="name">The method's name.</param>
/// <param name="id">Stable id on the wire, see the generator: hash of the interface's name and the method's signature or alias.</param>
/// <param name="options">Options from the method's attributes.</param>
/// <param name="responseTimeout">The method's own timeout, null for the configured one.</param>
/// <param name="method">Looks the reflection object up; called once at most.</param>
public sealed class CallMethod(
    Type interfaceType, string interfaceName, string name, ulong id, InvokeMethodOptions options, TimeSpan? responseTimeout,
    Func<MethodInfo> method)
{
    private MethodInfo? _method;
    private Callers _callers;

    /// <summary>The grain interface.</summary>
    public Type InterfaceType { get; } = interfaceType;

    /// <summary>The display name of the interface, as filters and traces show it.</summary>
    public string InterfaceName { get; } = interfaceName;

    /// <summary>The method's name.</summary>
    public string Name { get; } = name;

    /// <summary>Name in traces: <c>interface/method</c>.</summary>
    public string ActivityName { get; } = interfaceName + "/" + name;

    /// <summary>Stable id on the wire.</summary>
    public ulong Id { get; } = id;

    /// <summary>Options from the method's attributes.</summary>
    public InvokeMethodOptions Options { get; } = options;

    /// <summary>The method's own response timeout, or null for the configured one.</summary>
    public TimeSpan? ResponseTimeout { get; } = responseTimeout;

    /// <summary>The interface is that of a system target.</summary>
    internal bool IsSystem { get; } = interfaceType.IsAssignableTo(typeof(Orleans.ISystemTarget));

    /// <summary>
    /// The call is the runtime's own: a system target, or an interface with <see cref="OfRuntimeAttribute"/>. No filter and no trace of the
    /// application contains it.
    /// </summary>
    internal bool IsOfRuntime { get; } = interfaceType.IsAssignableTo(typeof(Orleans.ISystemTarget))
        || interfaceType.IsDefined(typeof(OfRuntimeAttribute), inherit: false);

    /// <summary>
    /// Who may call it: what <see cref="CallersAttribute"/> says on the method, else on its interface, else members for the runtime's own
    /// interfaces and everyone for those of the application. Looked up at the first question.
    /// </summary>
    internal Callers Callers => _callers != Callers.Unknown ? _callers : _callers = FindCallers();

    /// <summary>Type arguments of a generic interface or method, in the manifest's notation, or null; travels with requests.</summary>
    public string? TypeArguments { get; init; }

    /// <summary>The channel of its calls (<c>ChannelAttribute</c>), or null.</summary>
    public string? Channel { get; init; }

    /// <summary>The interface's method.</summary>
    public MethodInfo Info => _method ??= method();

    /// <summary>Asks for the method, by reflection, only where an answer may be: interfaces of applications have no mark.</summary>
    private Callers FindCallers()
    {
        var ofInterface = InterfaceType.GetCustomAttribute<CallersAttribute>(inherit: false)?.Callers;
        if (ofInterface is null && !IsOfRuntime)
            return Callers.Everyone;
        return Info.GetCustomAttribute<CallersAttribute>(inherit: false)?.Callers ?? ofInterface ?? Callers.Members;
    }

    /// <summary>The same method with another timeout.</summary>
    internal CallMethod With(TimeSpan? timeout) =>
        new(InterfaceType, InterfaceName, Name, Id, Options, timeout, () => Info) { TypeArguments = TypeArguments, Channel = Channel };
}

/// <summary>
/// Marks an interface of grains, extensions or observers that only the runtime calls, on behalf of its own parts: queues of memory streams,
/// subscriptions, deliveries, positions, leases. The application has not made these calls, so its filters and traces must not see them.
/// On an assembly: its grain classes are the runtime's own.
/// </summary>
[AttributeUsage(AttributeTargets.Interface | AttributeTargets.Assembly, Inherited = false)]
internal sealed class OfRuntimeAttribute : Attribute;

/// <summary>Who may call a method, in ascending order. The rule for what the runtime calls for its own parts is members.</summary>
internal enum Callers : byte
{
    /// <summary>Not looked up yet.</summary>
    Unknown,

    /// <summary>Members of the view.</summary>
    Members,

    /// <summary>All silos, also those that join, and those that must learn that they are dead.</summary>
    Silos,

    /// <summary>Silos, and clients that have the right to manage the cluster.</summary>
    Administrators,

    /// <summary>All clients, too.</summary>
    Everyone,
}

/// <summary>
/// Says who may call a method, or the methods of an interface, other than by the rule: members for system targets and for interfaces with
/// <see cref="OfRuntimeAttribute"/>, everyone for all others.
/// </summary>
[AttributeUsage(AttributeTargets.Interface | AttributeTargets.Method, Inherited = false)]
internal sealed class CallersAttribute(Callers callers) : Attribute
{
    internal Callers Callers => callers;
}
