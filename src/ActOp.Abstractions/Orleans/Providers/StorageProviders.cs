namespace Orleans.Providers;

/// <summary>Names the storage provider of a <see cref="Grain{TGrainState}"/>; without it the default one is used.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class StorageProviderAttribute : Attribute
{
    /// <summary>The name of the provider.</summary>
    public string ProviderName { get; set; } = ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME;
}

/// <summary>Names of providers that have a meaning of their own.</summary>
public static class ProviderConstants
{
    /// <summary>The storage that grains use which name none.</summary>
    public const string DEFAULT_STORAGE_PROVIDER_NAME = "Default";

    /// <summary>The log consistency provider that grains use which name none.</summary>
    public const string DEFAULT_LOG_CONSISTENCY_PROVIDER_NAME = "Default";

    /// <summary>The storage of the subscriptions of streams.</summary>
    public const string DEFAULT_PUBSUB_PROVIDER_NAME = "PubSubStore";
}
