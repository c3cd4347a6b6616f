using System.Collections.Concurrent;
using ActOp.Calls;

namespace ActOp.Serialization;

/// <summary>A grain method of the manifest: makes its calls.</summary>
public sealed class GrainMethod
{
    /// <summary>Instantiations made for peers; more are refused, because types are never unloaded.</summary>
    private const int MaxInstantiations = 4096;

    private readonly ConcurrentDictionary<string, Func<Call>>? _instantiations;
    private readonly Func<Call>? _rent;
    private readonly Type? _definition;

    internal GrainMethod(ulong id, Type interfaceType, string name, Func<Call>? rent, Type? definition)
    {
        Id = id;
        InterfaceType = interfaceType;
        Name = name;
        _rent = rent;
        _definition = definition;
        if (definition is not null)
            _instantiations = new(StringComparer.Ordinal);
    }

    /// <summary>Id on the wire.</summary>
    public ulong Id { get; }

    /// <summary>The interface that declares the method; an open generic type for generic interfaces.</summary>
    public Type InterfaceType { get; }

    /// <summary>The method's name.</summary>
    public string Name { get; }

    /// <summary>A cleared call from the pool.</summary>
    /// <param name="typeArguments">As in <see cref="CallMethod.TypeArguments"/>; null when neither interface nor method is generic.</param>
    /// <exception cref="Orleans.Serialization.SerializerException">The type arguments do not fit or name types that are not
    /// registered.</exception>
    public Call Rent(string? typeArguments)
    {
        if (_rent is not null && typeArguments is null)
            return _rent();
        if (_instantiations is null || typeArguments is null)
            throw new Orleans.Serialization.SerializerException("The call of " + InterfaceType + "." + Name + " came with the wrong type arguments: " + (typeArguments ?? "none") + ".");
        return (_instantiations.TryGetValue(typeArguments, out var rent) ? rent : Instantiate(typeArguments))();
    }

    private Func<Call> Instantiate(string typeArguments)
    {
        if (_instantiations!.Count >= MaxInstantiations)
            throw new Orleans.Serialization.SerializerException("The method " + InterfaceType + "." + Name + " was called with more than " + MaxInstantiations + " different type arguments.");
        Func<Call> rent;
        try
        {
            var call = _definition!.MakeGenericType(TypeManifest.ParseArguments(typeArguments));
            rent = typeof(CallPool<>).MakeGenericType(call).GetMethod("Rent")!.CreateDelegate<Func<Call>>();
        }
        catch (ArgumentException exception)
        {
            throw new Orleans.Serialization.SerializerException("The type arguments " + typeArguments + " do not fit " + InterfaceType + "." + Name + ".", exception);
        }

        return _instantiations.GetOrAdd(typeArguments, rent);
    }
}
