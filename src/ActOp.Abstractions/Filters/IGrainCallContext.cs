using System.Reflection;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace Orleans;

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

    /// <summary>Who calls; null when it is not known.</summary>
    GrainId? SourceId { get; }

    /// <summary>Which grain is called.</summary>
    GrainId TargetId { get; }

    /// <summary>Goes on to the next filter and at last to the method. May be called again to repeat the call.</summary>
    Task Invoke();
}
