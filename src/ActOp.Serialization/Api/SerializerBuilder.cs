using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;

namespace ActOp.Serialization.Api;

/// <summary>Configures serialization.</summary>
internal sealed class SerializerBuilder(IServiceCollection services) : ISerializerBuilder
{
    public IServiceCollection Services => services;
}
