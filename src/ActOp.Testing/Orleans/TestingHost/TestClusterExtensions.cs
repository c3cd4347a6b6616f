using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;

namespace Orleans.TestingHost;

/// <summary>What configurators ask of the host that they configure.</summary>
public static class TestClusterExtensions
{
    internal const string ConfigurationKey = "Configuration";

    /// <summary>The configuration of the silo or client: that of the cluster with <see cref="TestClusterBuilder.Properties"/>.</summary>
    /// <exception cref="InvalidOperationException">The host is not one of a test cluster.</exception>
    public static IConfiguration GetConfiguration(this IHostBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Properties.TryGetValue(ConfigurationKey, out var found) && found is IConfiguration configuration
            ? configuration
            : throw new InvalidOperationException("The host builder has no IConfiguration in its property \"" + ConfigurationKey + "\".");
    }

    /// <summary>One value of the configuration, or null.</summary>
    public static string? GetConfigurationValue(this IHostBuilder hostBuilder, string key) => hostBuilder.GetConfiguration()[key];

    /// <summary>The options of the cluster.</summary>
    public static TestClusterOptions GetTestClusterOptions(this IHostBuilder hostBuilder) =>
        hostBuilder.GetConfiguration().GetTestClusterOptions();

    /// <summary>The options of the cluster.</summary>
    public static TestClusterOptions GetTestClusterOptions(this IConfiguration config)
    {
        ArgumentNullException.ThrowIfNull(config);
        var options = new TestClusterOptions();
        config.Bind(options);
        return options;
    }
}
