using ActOp.Streams;
using ActOp.Streams.Channels;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.BroadcastChannel;
using Orleans.Providers;

[assembly: RegisterProvider("Memory", "Streaming", "Silo", typeof(Orleans.Hosting.StreamProviderBuilder))]
[assembly: RegisterProvider("Memory", "Streaming", "Client", typeof(Orleans.Hosting.StreamProviderBuilder))]
[assembly: RegisterProvider("Default", "BroadcastChannel", "Silo", typeof(Orleans.Hosting.ChannelProviderBuilder))]
[assembly: RegisterProvider("Default", "BroadcastChannel", "Client", typeof(Orleans.Hosting.ChannelProviderBuilder))]

namespace Orleans.Hosting;

/// <summary>Adds broadcast channels: items without buffers for the grains that are subscribed by attributes.</summary>
public static class ChannelHostingExtensions
{
    /// <summary>Adds the channels of a provider.</summary>
    public static ISiloBuilder AddBroadcastChannel(this ISiloBuilder @this, string name, Action<BroadcastChannelOptions> configureOptions)
    {
        Add(@this.Services, name, options => options.Configure(configureOptions));
        return @this;
    }

    /// <summary>Adds the channels of a provider.</summary>
    public static ISiloBuilder AddBroadcastChannel(
        this ISiloBuilder @this, string name, Action<OptionsBuilder<BroadcastChannelOptions>>? configureOptions = null)
    {
        Add(@this.Services, name, configureOptions);
        return @this;
    }

    /// <summary>Adds the channels of a provider.</summary>
    public static IClientBuilder AddBroadcastChannel(
        this IClientBuilder @this, string name, Action<BroadcastChannelOptions> configureOptions)
    {
        Add(@this.Services, name, options => options.Configure(configureOptions));
        return @this;
    }

    /// <summary>Adds the channels of a provider.</summary>
    public static IClientBuilder AddBroadcastChannel(
        this IClientBuilder @this, string name, Action<OptionsBuilder<BroadcastChannelOptions>>? configureOptions = null)
    {
        Add(@this.Services, name, configureOptions);
        return @this;
    }

    /// <summary>The provider that was added under that name.</summary>
    /// <exception cref="KeyNotFoundException">There is none.</exception>
    public static IBroadcastChannelProvider GetBroadcastChannelProvider(this IClusterClient @this, string name) =>
        @this.ServiceProvider.GetKeyedService<IBroadcastChannelProvider>(name)
            ?? throw new KeyNotFoundException("No broadcast channel with the name " + name + " was added to this silo or client.");

    private static void Add(IServiceCollection services, string name, Action<OptionsBuilder<BroadcastChannelOptions>>? configureOptions)
    {
        configureOptions?.Invoke(services.AddOptions<BroadcastChannelOptions>(name));
        services.AddKeyedSingleton<IBroadcastChannelProvider>(name, static (provider, key) => new BroadcastChannelProvider(
            (string)key!, provider.GetRequiredService<StreamNode>(), provider.GetRequiredService<ImplicitSubscriptions>(),
            provider.GetRequiredService<IOptionsMonitor<BroadcastChannelOptions>>().Get((string)key!)));
    }
}

/// <summary>Adds the memory streams that the configuration names.</summary>
internal sealed class StreamProviderBuilder : IProviderBuilder<ISiloBuilder>, IProviderBuilder<IClientBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.AddMemoryStreams(name!, streams =>
        {
            if (QueuesIn(configurationSection) is { } queues)
                streams.ConfigurePartitioning(queues);
        });

    public void Configure(IClientBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.AddMemoryStreams(name!, streams =>
        {
            if (QueuesIn(configurationSection) is { } queues)
                streams.ConfigurePartitioning(queues);
        });

    private static int? QueuesIn(IConfigurationSection section) =>
        section.GetValue<int?>("NumQueues") ?? section.GetValue<int?>("TotalQueueCount");
}

/// <summary>Adds the broadcast channels that the configuration names.</summary>
internal sealed class ChannelProviderBuilder : IProviderBuilder<ISiloBuilder>, IProviderBuilder<IClientBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.AddBroadcastChannel(name!, (OptionsBuilder<BroadcastChannelOptions> options) => options.Bind(configurationSection));

    public void Configure(IClientBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.AddBroadcastChannel(name!, (OptionsBuilder<BroadcastChannelOptions> options) => options.Bind(configurationSection));
}
