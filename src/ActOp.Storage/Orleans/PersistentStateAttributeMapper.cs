using System.Reflection;
using ActOp.Storage;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace Orleans;

/// <summary>Makes the arguments of parameters that are marked with <see cref="PersistentStateAttribute"/>.</summary>
public class PersistentStateAttributeMapper : IAttributeToFactoryMapper<PersistentStateAttribute>
{
    private static readonly MethodInfo CreateDefinition =
        typeof(PersistentStateAttributeMapper).GetMethod(nameof(Create), BindingFlags.NonPublic | BindingFlags.Static)!;

    /// <inheritdoc/>
    /// <exception cref="OrleansException">The parameter is no <see cref="IPersistentState{TState}"/>.</exception>
    public Factory<IGrainContext, object> GetFactory(ParameterInfo parameter, PersistentStateAttribute attribute)
    {
        ArgumentNullException.ThrowIfNull(parameter);
        ArgumentNullException.ThrowIfNull(attribute);
        var type = parameter.ParameterType;
        if (!type.IsConstructedGenericType || type.GetGenericTypeDefinition() != typeof(IPersistentState<>))
        {
            throw new OrleansException("The parameter " + parameter.Name + " of " + parameter.Member.DeclaringType
                + " has [PersistentState], but its type is " + type + " instead of IPersistentState<T>.");
        }

        IPersistentStateConfiguration configuration = attribute.StateName.Length > 0
            ? attribute
            : new NamedByParameter(parameter.Name ?? "", attribute.StorageName);
        return CreateDefinition.MakeGenericMethod(type.GetGenericArguments())
            .CreateDelegate<Func<IPersistentStateConfiguration, Factory<IGrainContext, object>>>()(configuration);
    }

    private static Factory<IGrainContext, object> Create<TState>(IPersistentStateConfiguration configuration) => context =>
        StateDiagnostics.ServicesOf(context).GetRequiredService<IPersistentStateFactory>().Create<TState>(context, configuration);

    private sealed record NamedByParameter(string StateName, string? StorageName) : IPersistentStateConfiguration;
}
