using Microsoft.Extensions.Configuration;

namespace Orleans.Providers;

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
