using System.Reflection;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace Orleans;

/// <summary>A step of a call on either side; goes on with <see cref="IGrainCallContext.Invoke"/>.</summary>
public delegate Task GrainCallFilterDelegate(IGrainCallContext context);

/// <summary>A call on its way through the filters.</summary>
public interface IGrainCallContext
{
    /// <summary>The grain's object, or, on the way out, the reference.</summary>
    object Grain { get; }

    /// <summary>The method of the interface.</summary>
    MethodInfo InterfaceMethod { get; }

    /// <summary>The interface's name for people.</summary>
    string InterfaceName { get; }

    /// <summary>The interface's name.</summary>
    GrainInterfaceType InterfaceType { get; }

    /// <summary>The method's name.</summary>
    string MethodName { get; }

    /// <summary>The call with its arguments.</summary>
    IInvokable Request { get; }

    /// <summary>The outcome; null until there is one. Setting it replaces the outcome.</summary>
    Response? Response { get; set; }

    /// <summary>The result; throws the exception if there is one. Setting it replaces the outcome.</summary>
    object? Result { get; set; }

    /// <summary>Who calls: a grain, or the client whose code does; null when it is not known.</summary>
    GrainId? SourceId { get; }

    /// <summary>Which grain is called.</summary>
    GrainId TargetId { get; }

    /// <summary>Goes on to the next filter and at last to the method. May be called again to repeat the call.</summary>
    Task Invoke();
}

/// <summary>A call on the callee's side.</summary>
public interface IIncomingGrainCallContext : IGrainCallContext
{
    /// <summary>The method of the class.</summary>
    MethodInfo ImplementationMethod { get; }

    /// <summary>The activation that is called.</summary>
    IGrainContext TargetContext { get; }
}

/// <summary>A call on the caller's side.</summary>
public interface IOutgoingGrainCallContext : IGrainCallContext
{
    /// <summary>The activation that calls; null when no grain does.</summary>
    IGrainContext? SourceContext { get; }
}

/// <summary>Wraps calls on the callee's side. A service, or a grain for the calls to itself.</summary>
public interface IIncomingGrainCallFilter
{
    /// <summary>Wraps a call: continues with <see cref="IGrainCallContext.Invoke"/>, or sets the result itself.</summary>
    Task Invoke(IIncomingGrainCallContext context);
}

/// <summary>Wraps calls on the caller's side.</summary>
public interface IOutgoingGrainCallFilter
{
    /// <summary>Wraps a call: continues with <see cref="IGrainCallContext.Invoke"/>, or sets the result itself.</summary>
    Task Invoke(IOutgoingGrainCallContext context);
}

/// <summary>Wraps calls on the callee's side, see <see cref="IIncomingGrainCallFilter"/>.</summary>
public delegate Task IncomingGrainCallFilterDelegate(IIncomingGrainCallContext context);

/// <summary>Wraps calls on the caller's side, see <see cref="IOutgoingGrainCallFilter"/>.</summary>
public delegate Task OutgoingGrainCallFilterDelegate(IOutgoingGrainCallContext context);

/// <summary>A filter made of a method.</summary>
internal sealed class IncomingDelegateFilter(IncomingGrainCallFilterDelegate filter) : IIncomingGrainCallFilter
{
    public Task Invoke(IIncomingGrainCallContext context) => filter(context);
}

/// <summary>A filter made of a method.</summary>
internal sealed class OutgoingDelegateFilter(OutgoingGrainCallFilterDelegate filter) : IOutgoingGrainCallFilter
{
    public Task Invoke(IOutgoingGrainCallContext context) => filter(context);
}
