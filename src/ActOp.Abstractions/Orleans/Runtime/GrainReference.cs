using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;
using Orleans.CodeGeneration;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>A reference to a grain: its identity and the interface it is called through. Generated classes derive from it.</summary>
/// <remarks>May be used from any thread. Equality is that of the grain's id.</remarks>
public class GrainReference : IAddressable, IEquatable<GrainReference>
{
    private readonly IdSpan _key;

    /// <summary>
    /// Where the grain was found last: its activation in this process, or the runtime's entry of the silo that has it. Both say themselves
    /// when they are void.
    /// </summary>
    internal object? Hint;

    /// <summary>Creates a reference; called by generated code.</summary>
    protected GrainReference(GrainReferenceShared shared, IdSpan key)
    {
        Shared = shared;
        _key = key;
    }

    /// <summary>The grain's id.</summary>
    public GrainId GrainId => GrainId.Create(Shared.GrainType, _key);

    /// <summary>The interface's name.</summary>
    public virtual string InterfaceName => Shared.InterfaceName;

    /// <summary>The interface's type.</summary>
    public GrainInterfaceType InterfaceType => Shared.InterfaceType;

    /// <summary>The interface's version.</summary>
    public ushort InterfaceVersion => Shared.InterfaceVersion;

    internal GrainReferenceShared Shared { get; }

    /// <inheritdoc/>
    public static bool operator ==(GrainReference? left, GrainReference? right) => left is null ? right is null : left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(GrainReference? left, GrainReference? right) => !(left == right);

    /// <summary>The same grain through another interface; whether the grain has it shows at the first call.</summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public virtual TGrainInterface Cast<TGrainInterface>()
        where TGrainInterface : IAddressable =>
            this is TGrainInterface same ? same : (TGrainInterface)References.Cast(this, typeof(TGrainInterface));

    /// <summary>A hash that is the same in every process.</summary>
    public uint GetUniformHashCode() => GrainId.GetUniformHashCode();

    /// <inheritdoc/>
    public bool Equals(GrainReference? other) => other is not null && GrainId.Equals(other.GrainId);

    /// <inheritdoc/>
    public sealed override bool Equals(object? obj) => obj is GrainReference other && Equals(other);

    /// <inheritdoc/>
    public sealed override int GetHashCode() => GrainId.GetHashCode();

    /// <inheritdoc/>
    public override string ToString() => "GrainReference:" + GrainId + ":" + InterfaceType;

    /// <summary>A request of the application, with the services that its constructor asks for.</summary>
    /// <typeparam name="TInvokable">A generated request class.</typeparam>
    protected TInvokable GetInvokable<TInvokable>() => ActivatorUtilities.GetServiceOrCreateInstance<TInvokable>(Shared.ServiceProvider);

    /// <summary>Sends a request that nobody waits for.</summary>
    protected void Invoke(IRequest methodDescription)
    {
        ArgumentNullException.ThrowIfNull(methodDescription);
        Shared.Runtime.InvokeMethod(this, methodDescription, methodDescription.Options);
    }

    /// <summary>Sends a request and waits for its end.</summary>
    protected ValueTask InvokeAsync(IRequest methodDescription)
    {
        ArgumentNullException.ThrowIfNull(methodDescription);
        return Shared.Runtime.InvokeMethodAsync(this, methodDescription, methodDescription.Options);
    }

    /// <summary>Sends a request and waits for its result.</summary>
    protected ValueTask<T?> InvokeAsync<T>(IRequest methodDescription)
    {
        ArgumentNullException.ThrowIfNull(methodDescription);
        return Shared.Runtime.InvokeMethodAsync<T>(this, methodDescription, methodDescription.Options);
    }
}

/// <summary>What the references of one grain type and interface have in common.</summary>
public class GrainReferenceShared
{
    private GrainReferenceShared? _collected;

    internal GrainReferenceShared(
        GrainType grainType, GrainInterfaceType interfaceType, string interfaceName, CallRuntime runtime, ushort interfaceVersion = 0,
        Type? type = null)
    {
        InterfaceVersion = interfaceVersion;
        Type = type;
        GrainType = grainType;
        InterfaceType = interfaceType;
        InterfaceName = interfaceName;
        CallRuntime = runtime;
        IsObserver = IsCollected = grainType.AsSpan().SequenceEqual("sys.observer"u8);
    }

    /// <summary>The references that a broadcast calls.</summary>
    private GrainReferenceShared(GrainReferenceShared usual)
        : this(usual.GrainType, usual.InterfaceType, usual.InterfaceName, usual.CallRuntime, usual.InterfaceVersion, usual.Type) =>
            IsCollected = true;

    /// <summary>The grain's type.</summary>
    public GrainType GrainType { get; }

    /// <summary>The interface's type.</summary>
    public GrainInterfaceType InterfaceType { get; }

    /// <summary>The version of the interface in this process; 0 if it has none.</summary>
    public ushort InterfaceVersion { get; }

    /// <summary>Sends requests of applications.</summary>
    public IGrainReferenceRuntime Runtime => CallRuntime.References;

    /// <summary>The services of the silo or client.</summary>
    public IServiceProvider ServiceProvider => CallRuntime.Services;

    /// <summary>Options of all calls by these references: none, because methods have their own.</summary>
    public InvokeMethodOptions InvokeMethodOptions => InvokeMethodOptions.None;

    internal string InterfaceName { get; }

    /// <summary>The interface.</summary>
    internal Type? Type { get; }

    /// <summary>What the runtime has found out about the versions on other nodes. Any thread: replaced as a whole.</summary>
    internal object? VersionNote { get; set; }

    internal CallRuntime CallRuntime { get; }

    /// <summary>Whether the references are those of observers.</summary>
    internal bool IsObserver { get; }

    /// <summary>Whether a <see cref="Fanout"/> may collect their calls: those of observers, and those of <see cref="Collected"/>.</summary>
    internal bool IsCollected { get; }

    /// <summary>
    /// For references to the same grains, whose calls a broadcast may collect. One object, so that calls with the same content are found.
    /// </summary>
    internal GrainReferenceShared Collected => IsCollected ? this
        : _collected ?? Interlocked.CompareExchange(ref _collected, new GrainReferenceShared(this), null) ?? _collected!;
}

/// <summary>Finds the reference or the id of anything that can be addressed.</summary>
internal static class References
{
    /// <summary>The reference that stands for <paramref name="target"/>: itself, or that of the activation it belongs to.</summary>
    /// <exception cref="NotSupportedException">It is an observer's own object: only a reference to it can be passed on.</exception>
    /// <exception cref="ArgumentException">It is something else.</exception>
    internal static GrainReference ReferenceOf(IAddressable target)
    {
        ArgumentNullException.ThrowIfNull(target);
        return target switch
        {
            GrainReference reference => reference,
            IGrainBase grain => ContextOf(grain).GrainReference,
            IGrainObserver => throw new NotSupportedException(
                "An object of type " + target.GetType() +
                    " is an observer and cannot be passed on itself: pass what IGrainFactory.CreateObjectReference returns for it."),
            _ => throw NeitherNor(target),
        };
    }

    /// <summary>The id of the grain, or of what the reference refers to.</summary>
    internal static GrainId IdOf(IAddressable target)
    {
        ArgumentNullException.ThrowIfNull(target);
        return target switch
        {
            GrainReference reference => reference.GrainId,
            IGrainBase grain => ContextOf(grain).GrainId,
            _ => throw NeitherNor(target),
        };
    }

    /// <summary>The reference through another interface.</summary>
    internal static object Cast(IAddressable target, Type interfaceType)
    {
        ArgumentNullException.ThrowIfNull(interfaceType);
        var reference = ReferenceOf(target);
        if (!interfaceType.IsInterface)
        {
            throw new ArgumentException(
                "A grain can only be referred to through an interface, and " + interfaceType + " is none.", nameof(interfaceType));
        }

        return interfaceType.IsInstanceOfType(reference) ? reference : reference.Shared.CallRuntime.Cast(reference, interfaceType);
    }

    private static IGrainContext ContextOf(IGrainBase grain) =>
        grain.GrainContext ?? throw new InvalidOperationException("This " + grain.GetType().Name + " belongs to no activation.");

    private static ArgumentException NeitherNor(IAddressable target) =>
        new("An object of type " + target.GetType() + " is neither a grain nor a reference to one.", nameof(target));
}

/// <summary>Sends requests by references. A service of silos and clients, for request classes of the application.</summary>
public interface IGrainReferenceRuntime
{
    /// <summary>A reference to the same grain through another interface.</summary>
    /// <param name="grain">A reference, or a grain.</param>
    /// <param name="interfaceType">A grain interface.</param>
    object Cast(IAddressable grain, Type interfaceType);

    /// <summary>Sends a request that nobody waits for.</summary>
    /// <param name="reference">The grain.</param>
    /// <param name="request">A generated request, used for one call only.</param>
    /// <param name="options">Options of this call, beside those of its method.</param>
    void InvokeMethod(GrainReference reference, IInvokable request, InvokeMethodOptions options);

    /// <summary>Sends a request and waits for its end.</summary>
    /// <inheritdoc cref="InvokeMethod"/>
    ValueTask InvokeMethodAsync(GrainReference reference, IInvokable request, InvokeMethodOptions options);

    /// <summary>Sends a request and waits for its result.</summary>
    /// <typeparam name="T">The result in the response of the request.</typeparam>
    /// <exception cref="InvalidCastException">The result is of another type.</exception>
    /// <inheritdoc cref="InvokeMethod"/>
    ValueTask<T?> InvokeMethodAsync<T>(GrainReference reference, IInvokable request, InvokeMethodOptions options);
}
