using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;

namespace ActOp.Runtime.Hosting;

/// <summary>Collects what a client is made of.</summary>
internal sealed class ClientBuilder(IServiceCollection services, IConfiguration configuration) : IClientBuilder
{
    public IConfiguration Configuration => configuration;

    public IServiceCollection Services => services;
}
