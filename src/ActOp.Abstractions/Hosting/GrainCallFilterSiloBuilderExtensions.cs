using ActOp.Filters;
using Microsoft.Extensions.DependencyInjection;

namespace Orleans.Hosting;

/// <summary>Adds filters to all calls to and from the grains of a silo. Filters run in the order in which they are added.</summary>
public static class GrainCallFilterSiloBuilderExtensions
{
    /// <summary>Adds a filter on the callee's side.</summary>
    public static ISiloBuilder AddIncomingGrainCallFilter(this ISiloBuilder builder, IIncomingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddSingleton(filter));

    /// <summary>Adds a filter on the callee's side; its class is created with the silo's services.</summary>
    public static ISiloBuilder AddIncomingGrainCallFilter<TImplementation>(this ISiloBuilder builder)
        where TImplementation : class, IIncomingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddSingleton<IIncomingGrainCallFilter, TImplementation>());

    /// <summary>Adds a filter on the callee's side.</summary>
    public static ISiloBuilder AddIncomingGrainCallFilter(this ISiloBuilder builder, IncomingGrainCallFilterDelegate filter)
    {
        ArgumentNullException.ThrowIfNull(filter);
        return builder.AddIncomingGrainCallFilter(new IncomingDelegateFilter(filter));
    }

    /// <summary>Adds a filter on the caller's side.</summary>
    public static ISiloBuilder AddOutgoingGrainCallFilter(this ISiloBuilder builder, IOutgoingGrainCallFilter filter) =>
        builder.ConfigureServices(services => services.AddSingleton(filter));

    /// <summary>Adds a filter on the caller's side; its class is created with the silo's services.</summary>
    public static ISiloBuilder AddOutgoingGrainCallFilter<TImplementation>(this ISiloBuilder builder)
        where TImplementation : class, IOutgoingGrainCallFilter =>
        builder.ConfigureServices(static services => services.AddSingleton<IOutgoingGrainCallFilter, TImplementation>());

    /// <summary>Adds a filter on the caller's side.</summary>
    public static ISiloBuilder AddOutgoingGrainCallFilter(this ISiloBuilder builder, OutgoingGrainCallFilterDelegate filter)
    {
        ArgumentNullException.ThrowIfNull(filter);
        return builder.AddOutgoingGrainCallFilter(new OutgoingDelegateFilter(filter));
    }
}
