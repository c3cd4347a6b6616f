using System.Reflection;
using Orleans.Runtime;

namespace Orleans;

/// <summary>A call on the callee's side.</summary>
public interface IIncomingGrainCallContext : IGrainCallContext
{
    /// <summary>The method of the class.</summary>
    MethodInfo ImplementationMethod { get; }

    /// <summary>The activation that is called.</summary>
    IGrainContext TargetContext { get; }
}
