using ActOp.Filters;
using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Hosting;

/// <summary>Adds filters to all calls of a client and to its observers. Filters run in the order in which they are added.</summary>
public static class ClientBuilderGrainCallFilterExtensions
{
    /// <summary>Adds a filter on the side of the client's observers.</summary>
    public static IClientBuilder AddIncomingGrainCallFilter(this IClientBuilder builder, IIncomingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddSingleton(filter));

    /// <summary>Adds a filter on the side of the client's observers; its class is created with the client's services.</summary>
    public static IClientBuilder AddIncomingGrainCallFilter<TImplementation>(this IClientBuilder builder)
        where TImplementation : class, IIncomingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddSingleton<IIncomingGrainCallFilter, TImplementation>());

    /// <summary>Adds a filter on the side of the client's observers.</summary>
    public static IClientBuilder AddIncomingGrainCallFilter(this IClientBuilder builder, IncomingGrainCallFilterDelegate filter)
    {
        ArgumentNullException.ThrowIfNull(filter);
        return builder.AddIncomingGrainCallFilter(new IncomingDelegateFilter(filter));
    }

    /// <summary>Adds a filter on the caller's side.</summary>
    public static IClientBuilder AddOutgoingGrainCallFilter(this IClientBuilder builder, IOutgoingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddSingleton(filter));

    /// <summary>Adds a filter on the caller's side; its class is created with the client's services.</summary>
    public static IClientBuilder AddOutgoingGrainCallFilter<TImplementation>(this IClientBuilder builder)
        where TImplementation : class, IOutgoingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddSingleton<IOutgoingGrainCallFilter, TImplementation>());

    /// <summary>Adds a filter on the caller's side.</summary>
    public static IClientBuilder AddOutgoingGrainCallFilter(this IClientBuilder builder, OutgoingGrainCallFilterDelegate filter)
    {
        ArgumentNullException.ThrowIfNull(filter);
        return builder.AddOutgoingGrainCallFilter(new OutgoingDelegateFilter(filter));
    }
}
