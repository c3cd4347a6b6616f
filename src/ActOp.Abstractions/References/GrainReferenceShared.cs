using ActOp.Calls;
using Orleans.CodeGeneration;

namespace Orleans.Runtime;

/// <summary>What the references of one grain type and interface have in common.</summary>
public class GrainReferenceShared
{
    internal GrainReferenceShared(GrainType grainType, GrainInterfaceType interfaceType, string interfaceName, CallRuntime runtime)
    {
        GrainType = grainType;
        InterfaceType = interfaceType;
        InterfaceName = interfaceName;
        CallRuntime = runtime;
    }

    /// <summary>The grain's type.</summary>
    public GrainType GrainType { get; }

    /// <summary>The interface's type.</summary>
    public GrainInterfaceType InterfaceType { get; }

    internal string InterfaceName { get; }

    internal CallRuntime CallRuntime { get; }
}
