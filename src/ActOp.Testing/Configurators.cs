using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Orleans.Runtime;
using Orleans.TestingHost;

namespace ActOp.Testing;

/// <summary>Makes the configurators that the configuration names and applies them.</summary>
internal static class Configurators
{
    internal static void ApplyToSilo(IHostBuilder builder, IConfiguration configuration)
    {
        foreach (var configurator in Create(configuration, nameof(TestClusterOptions.SiloBuilderConfiguratorTypes)))
        {
            (configurator as IHostConfigurator)?.Configure(builder);
            if (configurator is ISiloConfigurator silo)
                builder.UseOrleans((_, siloBuilder) => silo.Configure(siloBuilder));
        }
    }

    internal static void ApplyToClient(IHostBuilder builder, IConfiguration configuration)
    {
        foreach (var configurator in Create(configuration, nameof(TestClusterOptions.ClientBuilderConfiguratorTypes)))
        {
            (configurator as IHostConfigurator)?.Configure(builder);
            if (configurator is IClientBuilderConfigurator client)
                builder.UseOrleansClient((context, clientBuilder) => client.Configure(context.Configuration, clientBuilder));
        }
    }

    private static IEnumerable<object> Create(IConfiguration configuration, string section)
    {
        foreach (var entry in configuration.GetSection(section).GetChildren().OrderBy(child => int.Parse(child.Key)))
        {
            if (string.IsNullOrEmpty(entry.Value))
                continue;
            var type = Type.GetType(entry.Value)
                ?? throw new OrleansConfigurationException("TestClusterOptions." + section + " names a type that cannot be found: "
                    + entry.Value + ".");
            yield return Activator.CreateInstance(type)!;
        }
    }
}
