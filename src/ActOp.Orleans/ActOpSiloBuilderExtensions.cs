using ActOp.Orleans.Locality;
using ActOp.Orleans.Threads;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Orleans.Metadata;

namespace ActOp.Orleans;

/// <summary>Adds ActOp to a silo of Microsoft Orleans.</summary>
public static class ActOpSiloBuilderExtensions
{
    private const string Threads = "ActOp:Threads";

    /// <summary>
    /// Adds all of ActOp that there is for Orleans: locality and thread control, with the options of the configuration sections
    /// <c>ActOp:Locality</c> and <c>ActOp:Threads</c>.
    /// </summary>
    /// <param name="builder">The silo.</param>
    /// <returns>The silo.</returns>
    /// <exception cref="OrleansConfigurationException">
    /// At the start of the silo: something of ActOp was added twice, an option is out of range, or Orleans' own activation repartitioner is
    /// in use.
    /// </exception>
    public static ISiloBuilder AddActOp(this ISiloBuilder builder) => builder.AddActOpLocality().AddActOpThreads();

    /// <summary>Adds locality only: grains that talk to each other move onto one silo.</summary>
    /// <param name="builder">The silo.</param>
    /// <param name="configure">Changes the options after the configuration section <c>ActOp:Locality</c>.</param>
    /// <returns>The silo.</returns>
    /// <inheritdoc cref="AddActOp(ISiloBuilder)" path="/exception"/>
    public static ISiloBuilder AddActOpLocality(this ISiloBuilder builder, Action<LocalityOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        var services = builder.Services;
        var isFirst = services.All(static service => service.ServiceType != typeof(LocalityRegistration));
        services.AddSingleton(new LocalityRegistration());
        if (!isFirst)
            return builder;
        AddOptions(services, builder.Configuration, "ActOp:Locality", configure);
        services.AddSingleton<IConfigurationValidator>(silo => new LocalityValidator(silo, services));
        services.TryAddSingleton(TimeProvider.System);
        services.AddMetrics();
        services.AddSingleton<LocalityMetrics>();
        services.AddSingleton<LocalityGate>();
        services.AddSingleton<GrainKinds>();
        services.AddSingleton<LocalGrains>();
        services.AddSingleton<IActivationWorkingSetObserver>(static silo => silo.GetRequiredService<LocalGrains>());
        services.AddSingleton<IGrainPropertiesProvider, LocalityMark>();
        services.AddSingleton<LocalitySilo>();
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static silo => silo.GetRequiredService<LocalitySilo>());
        services.AddSingleton<ILocalityPeers, LocalityPeers>();
        builder.AddGrainService<LocalityGrainService>();
        builder.AddGrainExtension<IMoveExtension, MoveExtension>();
        CountingReferences.Add(services);
        KnownLocations.Add(services);
        CallFilters.Add(services);
        return builder;
    }

    /// <summary>
    /// Adds thread control only: the thread pool of .NET gets the threads that the model of the ActOp paper (section 5) finds best for what
    /// its work costs, so that grains that block do not wait for threads. The pool belongs to the process: of several silos in one process,
    /// one sets its threads.
    /// </summary>
    /// <param name="builder">The silo.</param>
    /// <param name="configure">Changes the options after the configuration section <c>ActOp:Threads</c>.</param>
    /// <returns>The silo.</returns>
    /// <inheritdoc cref="AddActOp(ISiloBuilder)" path="/exception"/>
    public static ISiloBuilder AddActOpThreads(this ISiloBuilder builder, Action<ThreadOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        var services = builder.Services;
        var isFirst = services.All(static service => service.ServiceType != typeof(ThreadRegistration));
        services.AddSingleton(new ThreadRegistration());
        if (!isFirst)
            return builder;
        AddOptions(services, builder.Configuration, Threads, configure);
        services.AddSingleton(PoolSpin.Set(ReadNow(builder.Configuration, configure)));
        services.AddSingleton<IConfigurationValidator, ThreadValidator>();
        services.TryAddSingleton(TimeProvider.System);
        services.AddMetrics();
        services.TryAddSingleton<IPool, DotNetPool>();
        services.AddSingleton(static silo => PoolClock.ForTime(silo.GetRequiredService<TimeProvider>()));
        services.AddSingleton<ThreadMetrics>();
        services.AddSingleton<PoolRounds>();
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static silo => silo.GetRequiredService<PoolRounds>());
        return builder;
    }

    /// <summary>There is nothing to add to a client: grains live on silos.</summary>
    /// <param name="builder">A client.</param>
    /// <returns>Nothing.</returns>
    /// <exception cref="OrleansConfigurationException">Always; it says what to do.</exception>
    public static IClientBuilder AddActOp(this IClientBuilder builder) => throw new OrleansConfigurationException(
        "AddActOp was called for a client. ActOp moves grains between silos: call it in UseOrleans of each silo, and "
        + "remove it here. Clients need nothing.");

    /// <summary>There is nothing to add to a client: grains run on silos.</summary>
    /// <param name="builder">A client.</param>
    /// <param name="configure">Not called.</param>
    /// <returns>Nothing.</returns>
    /// <exception cref="OrleansConfigurationException">Always; it says what to do.</exception>
    public static IClientBuilder AddActOpThreads(this IClientBuilder builder, Action<ThreadOptions>? configure = null) =>
        throw new OrleansConfigurationException(
            "AddActOpThreads was called for a client. It sets the threads of silos: call it in UseOrleans of each silo, and "
            + "remove it here.");

    /// <summary>The options as they are now, for what cannot wait until the silo is put together.</summary>
    private static ThreadOptions ReadNow(IConfiguration configuration, Action<ThreadOptions>? configure)
    {
        var options = new ThreadOptions();
        configuration.GetSection(Threads).Bind(options);
        configure?.Invoke(options);
        return options;
    }

    private static void AddOptions<TOptions>(
        IServiceCollection services, IConfiguration configuration, string section, Action<TOptions>? configure)
        where TOptions : class
    {
        var options = services.AddOptions<TOptions>().Bind(configuration.GetSection(section));
        if (configure is not null)
            options.Configure(configure);
    }
}
