using Microsoft.Extensions.Configuration;
using Orleans.Runtime;

namespace Orleans.Providers;

/// <summary>A provider that takes commands.</summary>
public interface IControllable
{
    /// <summary>Runs a command.</summary>
    Task<object?> ExecuteCommand(int command, object? arg);
}

/// <summary>What a provider uses of its silo or client.</summary>
public interface IProviderRuntime
{
    /// <summary>Makes references to grains.</summary>
    IGrainFactory GrainFactory { get; }

    /// <summary>The services of the host.</summary>
    IServiceProvider ServiceProvider { get; }

    /// <summary>The extension of the calling activation, a new one if it has none.</summary>
    (TExtension Extension, TExtensionInterface ExtensionReference) BindExtension<TExtension, TExtensionInterface>(
        Func<TExtension> newExtensionFunc)
        where TExtension : class, TExtensionInterface
        where TExtensionInterface : class, IGrainExtension;
}

/// <summary>
/// Adds a provider that the configuration section Orleans names. Registered for its assembly with <see cref="RegisterProviderAttribute"/>.
/// </summary>
/// <typeparam name="TBuilder"><see cref="Hosting.ISiloBuilder"/> or <see cref="Hosting.IClientBuilder"/>.</typeparam>
public interface IProviderBuilder<TBuilder>
{
    /// <summary>Adds the provider.</summary>
    /// <param name="builder">The silo or client.</param>
    /// <param name="name">The name of the provider; null for kinds of which there is only one.</param>
    /// <param name="configurationSection">The section that names the provider, with its settings.</param>
    void Configure(TBuilder builder, string? name, IConfigurationSection configurationSection);
}

/// <summary>A provider could not be made ready.</summary>
public sealed class ProviderInitializationException : Orleans.Runtime.OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public ProviderInitializationException()
        : base("The provider could not be initialized.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public ProviderInitializationException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public ProviderInitializationException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A provider was asked for something in a state in which it cannot do it.</summary>
public sealed class ProviderStateException : Orleans.Runtime.OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public ProviderStateException()
        : base("The provider is in the wrong state.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public ProviderStateException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public ProviderStateException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

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
