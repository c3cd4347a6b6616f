using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Serialization;

/// <summary>Configures serialization.</summary>
public interface ISerializerBuilder
{
    /// <summary>The services that serialization belongs to.</summary>
    IServiceCollection Services { get; }
}
