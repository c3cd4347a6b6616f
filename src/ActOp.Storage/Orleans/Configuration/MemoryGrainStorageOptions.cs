using Orleans.Storage;

namespace Orleans.Configuration;

/// <summary>States in the memory of the cluster.</summary>
public class MemoryGrainStorageOptions : IStorageProviderSerializerOptions
{
    /// <summary>Default of <see cref="NumStorageGrains"/>.</summary>
    public const int NumStorageGrainsDefaultValue = 10;

    /// <summary>Default of <see cref="InitStage"/>.</summary>
    public const int DEFAULT_INIT_STAGE = ServiceLifecycleStage.ApplicationServices;

    /// <summary>Over how many grains the states are spread. The same on all silos.</summary>
    public int NumStorageGrains { get; set; } = NumStorageGrainsDefaultValue;

    /// <summary>The stage of the silo's start in which the provider is made and its options are checked.</summary>
    public int InitStage { get; set; } = DEFAULT_INIT_STAGE;

    /// <summary>The form of the states. By default that of messages, and JSON for types that have none.</summary>
    public IGrainStorageSerializer GrainStorageSerializer { get; set; } = default!;
}
