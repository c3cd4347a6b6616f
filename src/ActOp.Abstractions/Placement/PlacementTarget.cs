namespace Orleans.Runtime.Placement;

/// <summary>The grain that needs a silo, and the call that it is needed for.</summary>
public readonly struct PlacementTarget
{
    /// <summary>Creates a target.</summary>
    public PlacementTarget(GrainId grainIdentity, Dictionary<string, object> requestContextData, GrainInterfaceType interfaceType, ushort interfaceVersion)
    {
        GrainIdentity = grainIdentity;
        RequestContextData = requestContextData;
        InterfaceType = interfaceType;
        InterfaceVersion = interfaceVersion;
    }

    /// <summary>The grain.</summary>
    public GrainId GrainIdentity { get; }

    /// <summary>The interface that it is called through.</summary>
    public GrainInterfaceType InterfaceType { get; }

    /// <summary>The interface's version.</summary>
    public ushort InterfaceVersion { get; }

    /// <summary>The request context of the call; empty when there is none.</summary>
    public Dictionary<string, object> RequestContextData { get; }
}
