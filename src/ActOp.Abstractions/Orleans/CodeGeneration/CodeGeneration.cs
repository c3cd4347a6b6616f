using System.Globalization;
using Orleans.Metadata;

namespace Orleans.CodeGeneration;

/// <summary>How a call is sent and admitted.</summary>
[Flags]
public enum InvokeMethodOptions
{
    /// <summary>Request and answer, one at a time.</summary>
    None = 0,

    /// <summary>No answer is sent.</summary>
    OneWay = 1,

    /// <summary>May run beside other read-only calls.</summary>
    ReadOnly = 2,

    /// <summary>May run beside any call.</summary>
    AlwaysInterleave = 4,

    /// <summary>Kept for source compatibility; has no effect.</summary>
    Unordered = 8,
}

/// <summary>
/// The version of a grain interface, for clusters whose silos run different builds: raised when a new build changes the interface. 0, as
/// without the attribute, is compatible with every version.
/// </summary>
[AttributeUsage(AttributeTargets.Interface)]
public sealed class VersionAttribute : Attribute, IGrainInterfacePropertiesProviderAttribute
{
    /// <summary>Sets the version.</summary>
    public VersionAttribute(ushort version) => Version = version;

    /// <summary>The version.</summary>
    public ushort Version { get; }

    /// <inheritdoc/>
    void IGrainInterfacePropertiesProviderAttribute.Populate(
        IServiceProvider services, Type interfaceType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainInterfaceProperties.Version] = Version.ToString(CultureInfo.InvariantCulture);
}
