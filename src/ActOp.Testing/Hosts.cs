using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace ActOp.Testing;

/// <summary>Hosts without what tests do not want: files of settings, environment variables, signals and console.</summary>
internal static class Hosts
{
    internal static IHostBuilder NewBuilder(IConfiguration configuration)
    {
        var builder = new HostBuilder();
        builder.ConfigureHostConfiguration(host => host.AddConfiguration(configuration));
        if (configuration["ApplicationBaseDirectory"] is { Length: > 0 } root)
            builder.UseContentRoot(root);
        builder.ConfigureServices(services => services.AddSingleton<IHostLifetime, TestLifetime>());
        return builder;
    }

    internal static HostApplicationBuilder NewApplicationBuilder(IConfiguration configuration)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Configuration.AddConfiguration(configuration);
        builder.Services.AddSingleton<IHostLifetime, TestLifetime>();
        return builder;
    }
}
