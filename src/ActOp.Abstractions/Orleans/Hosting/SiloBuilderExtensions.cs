using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

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

/// <summary>Runs code of the application when a silo starts.</summary>
public static class SiloBuilderStartupExtensions
{
    /// <summary>Runs a task at a stage of the start; an exception ends the start.</summary>
    public static ISiloBuilder AddStartupTask(this ISiloBuilder builder, IStartupTask startupTask, int stage = ServiceLifecycleStage.Active)
    {
        ArgumentNullException.ThrowIfNull(startupTask);
        return builder.AddStartupTask((_, token) => startupTask.Execute(token), stage);
    }

    /// <summary>
    /// Runs a task at a stage of the start; an exception ends the start. Its class is created with the silo's services when it runs.
    /// </summary>
    public static ISiloBuilder AddStartupTask<TStartup>(this ISiloBuilder builder, int stage = ServiceLifecycleStage.Active)
        where TStartup : class, IStartupTask =>
        builder.AddStartupTask(
            static (services, token) => ActivatorUtilities.GetServiceOrCreateInstance<TStartup>(services).Execute(token), stage);

    /// <summary>Runs a method at a stage of the start; an exception ends the start.</summary>
    public static ISiloBuilder AddStartupTask(
        this ISiloBuilder builder, Func<IServiceProvider, CancellationToken, Task> startupTask, int stage = ServiceLifecycleStage.Active)
    {
        ArgumentNullException.ThrowIfNull(startupTask);
        return builder.ConfigureServices(services => services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(
            provider => new StartupTask(provider, startupTask, stage)));
    }
}

/// <summary>Runs code of the application at a stage of a silo's start.</summary>
internal sealed class StartupTask(IServiceProvider services, Func<IServiceProvider, CancellationToken, Task> run,
    int stage) : ILifecycleParticipant<ISiloLifecycle>
{
    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe<StartupTask>(stage, token => run(services, token));
}

/// <summary>How filters of calls are registered, for silos and clients.</summary>
public static class GrainCallFilterServiceCollectionExtensions
{
    internal static IServiceCollection AddIncomingGrainCallFilter(this IServiceCollection services, IIncomingGrainCallFilter filter) =>
        services.AddSingleton(filter);

    internal static IServiceCollection AddIncomingGrainCallFilter<TImplementation>(this IServiceCollection services)
        where TImplementation : class, IIncomingGrainCallFilter =>
        services.AddSingleton<IIncomingGrainCallFilter, TImplementation>();

    internal static IServiceCollection AddIncomingGrainCallFilter(
        this IServiceCollection services, IncomingGrainCallFilterDelegate filter)
    {
        ArgumentNullException.ThrowIfNull(filter);
        return services.AddIncomingGrainCallFilter(new IncomingDelegateFilter(filter));
    }

    internal static IServiceCollection AddOutgoingGrainCallFilter(this IServiceCollection services, IOutgoingGrainCallFilter filter) =>
        services.AddSingleton(filter);

    internal static IServiceCollection AddOutgoingGrainCallFilter<TImplementation>(this IServiceCollection services)
        where TImplementation : class, IOutgoingGrainCallFilter =>
        services.AddSingleton<IOutgoingGrainCallFilter, TImplementation>();

    internal static IServiceCollection AddOutgoingGrainCallFilter(
        this IServiceCollection services, OutgoingGrainCallFilterDelegate filter)
    {
        ArgumentNullException.ThrowIfNull(filter);
        return services.AddOutgoingGrainCallFilter(new OutgoingDelegateFilter(filter));
    }
}

/// <summary>Adds filters to all calls to and from the grains of a silo. Filters run in the order in which they are added.</summary>
public static class GrainCallFilterSiloBuilderExtensions
{
    /// <summary>Adds a filter on the callee's side.</summary>
    public static ISiloBuilder AddIncomingGrainCallFilter(this ISiloBuilder builder, IIncomingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddIncomingGrainCallFilter(filter));

    /// <summary>Adds a filter on the callee's side; its class is created with the silo's services.</summary>
    public static ISiloBuilder AddIncomingGrainCallFilter<TImplementation>(this ISiloBuilder builder)
        where TImplementation : class, IIncomingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddIncomingGrainCallFilter<TImplementation>());

    /// <summary>Adds a filter on the callee's side.</summary>
    public static ISiloBuilder AddIncomingGrainCallFilter(this ISiloBuilder builder, IncomingGrainCallFilterDelegate filter) =>
        builder.ConfigureServices(services => services.AddIncomingGrainCallFilter(filter));

    /// <summary>Adds a filter on the caller's side.</summary>
    public static ISiloBuilder AddOutgoingGrainCallFilter(this ISiloBuilder builder, IOutgoingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddOutgoingGrainCallFilter(filter));

    /// <summary>Adds a filter on the caller's side; its class is created with the silo's services.</summary>
    public static ISiloBuilder AddOutgoingGrainCallFilter<TImplementation>(this ISiloBuilder builder)
        where TImplementation : class, IOutgoingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddOutgoingGrainCallFilter<TImplementation>());

    /// <summary>Adds a filter on the caller's side.</summary>
    public static ISiloBuilder AddOutgoingGrainCallFilter(this ISiloBuilder builder, OutgoingGrainCallFilterDelegate filter) =>
        builder.ConfigureServices(services => services.AddOutgoingGrainCallFilter(filter));
}

/// <summary>Adds placement strategies of the application.</summary>
/// <remarks>A strategy is a keyed service under the name of its class, a director one under the type of its strategy.</remarks>
public static class PlacementStrategyExtensions
{
    /// <summary>Adds a strategy and its director.</summary>
    public static ISiloBuilder AddPlacementDirector<TStrategy, TDirector>(this ISiloBuilder builder)
        where TStrategy : PlacementStrategy, new()
        where TDirector : class, IPlacementDirector =>
        builder.ConfigureServices(static services => services.AddPlacementDirector<TStrategy, TDirector>());

    /// <summary>Adds a strategy and its director.</summary>
    public static ISiloBuilder AddPlacementDirector<TStrategy>(
        this ISiloBuilder builder, Func<IServiceProvider, IPlacementDirector> createDirector)
        where TStrategy : PlacementStrategy, new() =>
        builder.ConfigureServices(services => services.AddPlacementDirector<TStrategy>(createDirector));

    /// <summary>Adds a strategy and its director.</summary>
    public static void AddPlacementDirector<TStrategy, TDirector>(this IServiceCollection services)
        where TStrategy : PlacementStrategy, new()
        where TDirector : class, IPlacementDirector =>
        services.AddPlacementDirector<TStrategy, TDirector>(ServiceLifetime.Singleton);

    /// <summary>Adds a strategy and its director.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="strategyLifetime">How long a strategy object lives: transient when it has settings of each grain type.</param>
    public static void AddPlacementDirector<TStrategy, TDirector>(this IServiceCollection services, ServiceLifetime strategyLifetime)
        where TStrategy : PlacementStrategy, new()
        where TDirector : class, IPlacementDirector
    {
        AddStrategy<TStrategy>(services, strategyLifetime);
        services.AddKeyedSingleton<IPlacementDirector, TDirector>(typeof(TStrategy));
    }

    /// <summary>Adds a strategy and its director.</summary>
    public static void AddPlacementDirector<TStrategy>(
        this IServiceCollection services, Func<IServiceProvider, IPlacementDirector> createDirector)
        where TStrategy : PlacementStrategy, new() =>
        services.AddPlacementDirector<TStrategy>(createDirector, ServiceLifetime.Singleton);

    /// <summary>Adds a strategy and its director.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="createDirector">Makes the director.</param>
    /// <param name="strategyLifetime">How long a strategy object lives: transient when it has settings of each grain type.</param>
    public static void AddPlacementDirector<TStrategy>(
        this IServiceCollection services, Func<IServiceProvider, IPlacementDirector> createDirector, ServiceLifetime strategyLifetime)
        where TStrategy : PlacementStrategy, new()
    {
        ArgumentNullException.ThrowIfNull(createDirector);
        AddStrategy<TStrategy>(services, strategyLifetime);
        services.AddKeyedSingleton(typeof(TStrategy), (provider, _) => createDirector(provider));
    }

    private static void AddStrategy<TStrategy>(IServiceCollection services, ServiceLifetime lifetime)
        where TStrategy : PlacementStrategy, new() =>
        services.Add(
            ServiceDescriptor.DescribeKeyed(typeof(PlacementStrategy), typeof(TStrategy).Name, static (_, _) => new TStrategy(), lifetime));
}
