using ActOp.Configuration;
using ActOp.Locality;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Configuration.Internal;
using Orleans.Placement.Repartitioning;
using Orleans.Runtime;

namespace Orleans.Hosting;

/// <summary>Adds locality partitioning, which every silo has unless its options say otherwise.</summary>
public static class ActivationRepartitioningExtensions
{
    /// <summary>
    /// Turns locality partitioning on, with the values of <see cref="ActivationRepartitionerOptions"/> that are not their defaults.
    /// </summary>
    public static ISiloBuilder AddActivationRepartitioner(this ISiloBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddOptions<LocalityOptions>().PostConfigure<IOptions<ActivationRepartitionerOptions>>(
            static (locality, options) => Repartitioning.Apply(options.Value, locality));
        return builder;
    }

    /// <summary>As <see cref="AddActivationRepartitioner(ISiloBuilder)"/>, with a rule for the difference between two silos.</summary>
    public static ISiloBuilder AddActivationRepartitioner<TRule>(this ISiloBuilder builder)
        where TRule : class, IImbalanceToleranceRule
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton<TRule>();
        builder.Services.AddFromExisting<IImbalanceToleranceRule, TRule>();
        if (typeof(TRule).IsAssignableTo(typeof(ILifecycleParticipant<ISiloLifecycle>)))
            builder.Services.AddFromExisting(typeof(ILifecycleParticipant<ISiloLifecycle>), typeof(TRule));
        return builder.AddActivationRepartitioner();
    }
}
