using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;

namespace ActOp.Runtime.Hosting;

/// <summary>Collects what a silo is made of.</summary>
internal sealed class SiloBuilder(IServiceCollection services, IConfiguration configuration) : ISiloBuilder
{
    public IConfiguration Configuration => configuration;

    public IServiceCollection Services => services;
}
