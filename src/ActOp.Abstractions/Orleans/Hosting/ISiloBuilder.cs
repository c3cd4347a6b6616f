using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Hosting;

/// <summary>Sets up a silo.</summary>
public interface ISiloBuilder
{
    /// <summary>The host's configuration.</summary>
    IConfiguration Configuration { get; }

    /// <summary>The silo's services.</summary>
    IServiceCollection Services { get; }
}

/// <summary>Sets up a client.</summary>
public interface IClientBuilder
{
    /// <summary>The host's configuration.</summary>
    IConfiguration Configuration { get; }

    /// <summary>The client's services.</summary>
    IServiceCollection Services { get; }
}
