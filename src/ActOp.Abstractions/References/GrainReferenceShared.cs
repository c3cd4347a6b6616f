using ActOp.Calls;
using Orleans.CodeGeneration;

namespace Orleans.Runtime;

/// <summary>What the references of one grain type and interface have in common.</summary>
public class GrainReferenceShared
{
    internal GrainReferenceShared(GrainType grainType, GrainInterfaceType interfaceType, string interfaceName, CallRuntime runtime, object? routing)
    {
        GrainType = grainType;
        InterfaceType = interfaceType;
        InterfaceName = interfaceName;
        CallRuntime = runtime;
        Routing = routing;
    }

    /// <summary>The grain's type.</summary>
    public GrainType GrainType { get; }

    /// <summary>The interface's type.</summary>
    public GrainInterfaceType InterfaceType { get; }

    internal string InterfaceName { get; }

    internal CallRuntime CallRuntime { get; }

    /// <summary>What the runtime knows of the grain type, found once per reference type.</summary>
    internal object? Routing { get; }
}
