using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Orleans.Hosting;

/// <summary>Services, options and logging of a silo.</summary>
public static class SiloBuilderExtensions
{
    /// <summary>Adds services.</summary>
    public static ISiloBuilder ConfigureServices(this ISiloBuilder builder, Action<IServiceCollection> configureDelegate)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(configureDelegate);
        configureDelegate(builder.Services);
        return builder;
    }

    /// <summary>Sets options in code.</summary>
    public static ISiloBuilder Configure<TOptions>(this ISiloBuilder builder, Action<TOptions> configureOptions)
        where TOptions : class =>
        builder.ConfigureServices(services => services.Configure(configureOptions));

    /// <summary>Sets options from configuration.</summary>
    public static ISiloBuilder Configure<TOptions>(this ISiloBuilder builder, IConfiguration configuration)
        where TOptions : class =>
        builder.ConfigureServices(services => services.AddOptions<TOptions>().Bind(configuration));

    /// <summary>Sets logging up.</summary>
    public static ISiloBuilder ConfigureLogging(this ISiloBuilder builder, Action<ILoggingBuilder> configureLogging) =>
        builder.ConfigureServices(services => services.AddLogging(configureLogging));
}
