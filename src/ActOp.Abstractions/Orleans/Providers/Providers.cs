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
