using System.Runtime.CompilerServices;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization.Activators;

namespace Orleans.Serialization.Serializers;

/// <summary>Finds what makes objects.</summary>
public interface IActivatorProvider
{
    IActivator<T> GetActivator<T>();
}

/// <summary>Makes objects by their constructor without parameters, by one that takes services, or without a constructor.</summary>
internal sealed class DefaultActivator<T>(IServiceProvider services) : IActivator<T>
{
    private readonly bool _hasConstructor = typeof(T).IsValueType || typeof(T).GetConstructor(Type.EmptyTypes) is not null;
    private readonly ObjectFactory? _factory = typeof(T).IsValueType || typeof(T).IsAbstract
        || !typeof(T).GetConstructors().Any(static c => c.IsDefined(typeof(ActivatorUtilitiesConstructorAttribute), inherit: true))
        ? null : ActivatorUtilities.CreateFactory(typeof(T), Type.EmptyTypes);

    public T Create()
    {
        if (_factory is not null)
            return (T)_factory(services, null);
        return _hasConstructor ? Activator.CreateInstance<T>() : (T)RuntimeHelpers.GetUninitializedObject(typeof(T));
    }
}
