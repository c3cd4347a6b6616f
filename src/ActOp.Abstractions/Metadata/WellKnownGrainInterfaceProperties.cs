namespace Orleans.Metadata;

/// <summary>Keys of the properties of grain interfaces.</summary>
internal static class WellKnownGrainInterfaceProperties
{
    /// <summary>The grain type that the interface means when several classes implement it.</summary>
    internal const string DefaultGrainType = "primary-grain-type";
}
