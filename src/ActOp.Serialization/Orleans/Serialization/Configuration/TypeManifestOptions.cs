using System.Reflection;
using Microsoft.Extensions.Options;
using Orleans.Serialization.TypeSystem;

namespace Orleans.Serialization.Configuration;

/// <summary>Codecs and types that an application adds.</summary>
public sealed class TypeManifestOptions
{
    /// <summary>Classes that create objects: <c>IActivator&lt;T&gt;</c>.</summary>
    public HashSet<Type> Activators { get; } = [];

    /// <summary>Classes that write and read fields of a type: <c>IFieldCodec&lt;T&gt;</c>.</summary>
    public HashSet<Type> FieldCodecs { get; } = [];

    /// <summary>Classes that write and read the content of objects of a type, for derived types too.</summary>
    public HashSet<Type> Serializers { get; } = [];

    /// <summary>Classes that copy objects of a type.</summary>
    public HashSet<Type> Copiers { get; } = [];

    /// <summary>Classes that convert a type to a surrogate and back.</summary>
    public HashSet<Type> Converters { get; } = [];

    /// <summary>Grain interfaces of the application.</summary>
    public HashSet<Type> Interfaces { get; } = [];

    /// <summary>Classes of references to grain interfaces.</summary>
    public HashSet<Type> InterfaceProxies { get; } = [];

    /// <summary>Classes that implement grain interfaces.</summary>
    public HashSet<Type> InterfaceImplementations { get; } = [];

    /// <summary>Numbers that stand for types in the data of an application's codecs.</summary>
    public Dictionary<uint, Type> WellKnownTypeIds { get; } = [];

    /// <summary>Names that stand for types.</summary>
    public Dictionary<string, Type> WellKnownTypeAliases { get; } = new(StringComparer.Ordinal);

    /// <summary>Names of several parts that stand for types.</summary>
    public CompoundTypeAliasTree CompoundTypeAliases { get; } = CompoundTypeAliasTree.Create();

    /// <summary>Names of types that may be read, as <see cref="RuntimeTypeNameFormatter"/> writes them.</summary>
    public HashSet<string> AllowedTypes { get; } = new(StringComparer.Ordinal);

    /// <summary>Simple names of assemblies whose types may be read.</summary>
    public HashSet<string> AllowedAssemblies { get; } = new(StringComparer.Ordinal);

    /// <summary>True when a type of every loaded assembly may be named.</summary>
    public bool AllowAllTypes { get; set; }

    /// <summary>Whether the types of all grain methods are checked at the start; null where the environment decides.</summary>
    public bool? EnableConfigurationAnalysis { get; set; }

    public void AddActivator(Type type) => Activators.Add(type);

    public void AddConverter(Type type) => Converters.Add(type);

    public void AddCopier(Type type) => Copiers.Add(type);

    public void AddFieldCodec(Type type) => FieldCodecs.Add(type);

    public void AddInterface(Type type) => Interfaces.Add(type);

    public void AddInterfaceImplementation(Type type) => InterfaceImplementations.Add(type);

    public void AddInterfaceProxy(Type type) => InterfaceProxies.Add(type);

    public void AddSerializer(Type type) => Serializers.Add(type);

    public void AddAllowedType(Type type) => AllowedTypes.Add(RuntimeTypeNameFormatter.Format(type));

    public void AddAllowedAssembly(Assembly assembly) => AllowedAssemblies.Add(assembly.GetName().Name!);
}

/// <summary>Adds the codecs and types of an assembly.</summary>
public interface ITypeManifestProvider : IConfigureOptions<TypeManifestOptions>
{
}

/// <summary>Adds the codecs and types of an assembly, once for each options object.</summary>
public abstract class TypeManifestProviderBase : ITypeManifestProvider
{
    private readonly System.Runtime.CompilerServices.ConditionalWeakTable<TypeManifestOptions, object> _done = [];

    public virtual object Key => GetType();

    public void Configure(TypeManifestOptions options)
    {
        if (_done.TryAdd(options, Key))
            ConfigureInner(options);
    }

    protected abstract void ConfigureInner(TypeManifestOptions options);
}

/// <summary>Names the class that adds the codecs and types of an assembly.</summary>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class TypeManifestProviderAttribute : Attribute
{
    public TypeManifestProviderAttribute(Type providerType)
    {
        ArgumentNullException.ThrowIfNull(providerType);
        if (!typeof(ITypeManifestProvider).IsAssignableFrom(providerType))
        {
            throw new ArgumentException(
                "Provided type " + providerType + " must implement " + nameof(ITypeManifestProvider) + ".", nameof(providerType));
        }

        ProviderType = providerType;
    }

    public Type ProviderType { get; }
}

/// <summary>Adds providers of an assembly by the kind of thing that they provide.</summary>
public interface IProviderMetadataProvider
{
    void ConfigureProviders(IDictionary<(string Target, string Kind, string Name), Type> providers);
}

/// <summary>The interfaces whose references applications make by themselves.</summary>
internal sealed class ApplicationProxies : IConfigureOptions<TypeManifestOptions>
{
    public void Configure(TypeManifestOptions options)
    {
        foreach (var (proxy, interfaceType) in ActOp.Serialization.TypeManifest.Proxies)
        {
            options.InterfaceProxies.Add(proxy);
            options.Interfaces.Add(interfaceType);
        }
    }
}
