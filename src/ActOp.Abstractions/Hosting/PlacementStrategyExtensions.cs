using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace Orleans.Hosting;

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
    public static ISiloBuilder AddPlacementDirector<TStrategy>(this ISiloBuilder builder, Func<IServiceProvider, IPlacementDirector> createDirector)
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
    public static void AddPlacementDirector<TStrategy>(this IServiceCollection services, Func<IServiceProvider, IPlacementDirector> createDirector)
        where TStrategy : PlacementStrategy, new() =>
        services.AddPlacementDirector<TStrategy>(createDirector, ServiceLifetime.Singleton);

    /// <summary>Adds a strategy and its director.</summary>
    /// <param name="services">The silo's services.</param>
    /// <param name="createDirector">Makes the director.</param>
    /// <param name="strategyLifetime">How long a strategy object lives: transient when it has settings of each grain type.</param>
    public static void AddPlacementDirector<TStrategy>(this IServiceCollection services, Func<IServiceProvider, IPlacementDirector> createDirector, ServiceLifetime strategyLifetime)
        where TStrategy : PlacementStrategy, new()
    {
        ArgumentNullException.ThrowIfNull(createDirector);
        AddStrategy<TStrategy>(services, strategyLifetime);
        services.AddKeyedSingleton(typeof(TStrategy), (provider, _) => createDirector(provider));
    }

    private static void AddStrategy<TStrategy>(IServiceCollection services, ServiceLifetime lifetime)
        where TStrategy : PlacementStrategy, new() =>
        services.Add(ServiceDescriptor.DescribeKeyed(typeof(PlacementStrategy), typeof(TStrategy).Name, static (_, _) => new TStrategy(), lifetime));
}
