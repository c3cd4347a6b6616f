using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Orleans.Hosting;

/// <summary>Configures the services of one provider, which are registered under its name.</summary>
public interface INamedServiceConfigurator
{
    /// <summary>The name of the provider.</summary>
    string Name { get; }

    /// <summary>Calls a method with the services of the host.</summary>
    Action<Action<IServiceCollection>> ConfigureDelegate { get; }
}

/// <summary>Configures the services of one provider, which are registered under its name.</summary>
public class NamedServiceConfigurator : INamedServiceConfigurator
{
    /// <summary>Creates the configurator.</summary>
    public NamedServiceConfigurator(string name, Action<Action<IServiceCollection>> configureDelegate)
    {
        Name = name;
        ConfigureDelegate = configureDelegate;
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <inheritdoc/>
    public Action<Action<IServiceCollection>> ConfigureDelegate { get; }
}

/// <summary>What every provider with a name can be configured with.</summary>
public static class NamedServiceConfiguratorExtensions
{
    /// <summary>Configures options of the provider.</summary>
    public static void Configure<TOptions>(this INamedServiceConfigurator configurator, Action<OptionsBuilder<TOptions>>? configureOptions)
        where TOptions : class, new()
    {
        ArgumentNullException.ThrowIfNull(configurator);
        configurator.ConfigureDelegate(services => configureOptions?.Invoke(services.AddOptions<TOptions>(configurator.Name)));
    }

    /// <summary>Registers a part of the provider with its options.</summary>
    public static void ConfigureComponent<TOptions, TComponent>(
        this INamedServiceConfigurator configurator, Func<IServiceProvider, string, TComponent> factory,
        Action<OptionsBuilder<TOptions>>? configureOptions = null)
        where TOptions : class, new()
        where TComponent : class
    {
        ArgumentNullException.ThrowIfNull(factory);
        configurator.Configure(configureOptions);
        configurator.ConfigureComponent(factory);
    }

    /// <summary>Registers a part of the provider.</summary>
    public static void ConfigureComponent<TComponent>(
        this INamedServiceConfigurator configurator, Func<IServiceProvider, string, TComponent> factory)
        where TComponent : class
    {
        ArgumentNullException.ThrowIfNull(configurator);
        ArgumentNullException.ThrowIfNull(factory);
        configurator.ConfigureDelegate(services =>
            services.AddKeyedSingleton(configurator.Name, (provider, name) => factory(provider, (string)name!)));
    }

    /// <summary>Lets the part of the provider with this name join the lifecycle.</summary>
    public static void ConfigureLifecycle<T>(this INamedServiceConfigurator configurator)
        where T : ILifecycleSubject
    {
        ArgumentNullException.ThrowIfNull(configurator);
        configurator.ConfigureDelegate(services => services.AddSingleton(provider =>
            provider.GetRequiredKeyedService<ILifecycleParticipant<T>>(configurator.Name)));
    }
}
