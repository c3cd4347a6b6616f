using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace ActOp.Orleans;

/// <summary>One call of AddActOpLocality, or of AddActOp.</summary>
internal sealed class LocalityRegistration;

/// <summary>One call of AddActOpThreads, or of AddActOp.</summary>
internal sealed class ThreadRegistration;

/// <summary>Refuses an option that is out of range.</summary>
internal static class OptionCheck
{
    internal static void That(bool valid, string option, object value, string must)
    {
        if (!valid)
            throw new OrleansConfigurationException(FormattableString.Invariant($"{option} is {value}, but must be {must}."));
    }
}

/// <summary>Refuses at the start of the silo what cannot work.</summary>
internal sealed class ThreadValidator(IServiceProvider services) : IConfigurationValidator
{
    public void ValidateConfiguration()
    {
        if (services.GetServices<ThreadRegistration>().Count() > 1)
        {
            throw new OrleansConfigurationException(
                "The thread control of ActOp was added twice. AddActOp contains AddActOpThreads: call one of them, once.");
        }

        services.GetRequiredService<IOptions<ThreadOptions>>().Value.Validate();
    }
}

/// <summary>Refuses at the start of the silo what cannot work.</summary>
internal sealed class LocalityValidator(IServiceProvider services, IServiceCollection registered) : IConfigurationValidator
{
    public void ValidateConfiguration()
    {
        if (services.GetServices<LocalityRegistration>().Count() > 1)
        {
            throw new OrleansConfigurationException(
                "The locality of ActOp was added twice. AddActOp contains AddActOpLocality: call one of them, once.");
        }

        if (registered.Any(static service => NamesRepartitioner(service.ServiceType) || NamesRepartitioner(service.ImplementationType)))
        {
            throw new OrleansConfigurationException(
                "Orleans' activation repartitioner and the locality of ActOp are both in use, and would move the same grains. Remove "
                + "AddActivationRepartitioner, or remove AddActOp.");
        }

        services.GetRequiredService<IOptions<LocalityOptions>>().Value.Validate();
    }

    // Its type is internal to Orleans. The options alone may be there without it.
    private static bool NamesRepartitioner(Type? type) => type?.Name is "ActivationRepartitioner" or "IActivationRepartitionerSystemTarget";
}
