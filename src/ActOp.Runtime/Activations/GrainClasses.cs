using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using ActOp.Configuration;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Placement;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Which class implements which grain interface: the classes that this silo hosts, and the entries of all classes of the cluster, which a
/// silo takes from the manifests of the silos, and a client from a silo.
/// </summary>
/// <remarks>
/// Any thread. The hosted classes are read once at start. The known entries are replaced as a whole; an interface that was resolved with
/// older entries is then resolved again.
/// </remarks>
internal sealed class GrainClasses(IServiceProvider services, PlacementStrategy defaultPlacement, bool hasClasses)
{
    private readonly ConcurrentDictionary<GrainType, GrainClass> _byGrainType = new();
    private readonly Lock _gate = new();
    private volatile Resolutions _known = new([]);
    private FrozenDictionary<GrainType, HostedClass> _hosted = FrozenDictionary<GrainType, HostedClass>.Empty;
    private FrozenDictionary<string, ushort> _versions = FrozenDictionary<string, ushort>.Empty;

    /// <summary>All classes of the cluster that are known, for clients that have only the interfaces.</summary>
    internal GrainTypeEntry[] Entries => _known.Entries;

    /// <summary>Reads what this process has and what of it this silo hosts.</summary>
    /// <exception cref="OrleansConfigurationException">Two classes have the same grain type, or the properties of one cannot be
    /// read.</exception>
    internal SiloManifest LoadLocal()
    {
        var options = services.GetService<IOptions<GrainTypeOptions>>()?.Value;
        CheckNames(services.GetServices<IGrainInterfaceTypeProvider>().ToArray());
        var interfaces = TypeManifest.Interfaces.Where(entry => options is null || options.Interfaces.Contains(entry.Type))
            .OrderBy(static entry => entry.Name, StringComparer.Ordinal).Select(ReadInterface).ToArray();
        _versions = interfaces.DistinctBy(static entry => entry.Name)
            .ToFrozenDictionary(static entry => entry.Name, static entry => entry.Version, StringComparer.Ordinal);
        if (services.GetService<IOptions<ChannelsOptions>>()?.Value is { } channels)
            NodeChannels.CheckInterfaces(channels, InterfacesOf(options));
        if (!hasClasses)
            return new SiloManifest { Interfaces = interfaces };
        var providers = services.GetServices<IGrainTypeProvider>().ToArray();
        var classes = TypeManifest.GrainClasses.Where(entry => options is null || options.Classes.Contains(entry.Type))
            .Select(entry => NamedBy(providers, entry));
        var hosted = Unique(classes.OrderBy(static entry => entry.GrainType, StringComparer.Ordinal).ToArray()).Select(ReadClass).ToArray();
        if (services.GetService<IOptions<GroupsOptions>>()?.Value is { } groups)
            NodeGroups.CheckClasses(groups, hosted.Select(static one => one.Type));
        _hosted = hosted.ToFrozenDictionary(static one => GrainType.Create(one.Entry.GrainType));
        return new SiloManifest
        {
            Grains = [.. hosted.Select(static one => one.Entry)],
            Interfaces = interfaces,
            Metadata = services.GetService<IOptions<SiloMetadataOptions>>()?.Value.Metadata ?? [],
        };
    }

    private static IEnumerable<Type> InterfacesOf(GrainTypeOptions? options) =>
        TypeManifest.Interfaces.Select(static entry => entry.Type).Where(type => options is null || options.Interfaces.Contains(type));

    /// <summary>The interfaces of this process, for a client.</summary>
    internal SiloManifest LocalInterfaces() => new()
    {
        Interfaces = [.. _versions.Select(static pair => new InterfaceEntry(pair.Key, pair.Value))],
    };

    /// <summary>Replaces the entries of the classes of the cluster. Entries of one grain type are merged.</summary>
    internal void SetKnown(IEnumerable<GrainTypeEntry> entries)
    {
        lock (_gate)
        {
            GrainTypeEntry[] merged = [.. entries.GroupBy(static entry => entry.GrainType, StringComparer.Ordinal)
                .OrderBy(static same => same.Key, StringComparer.Ordinal).Select(static same => GrainTypeEntry.Merge([.. same]))];
            if (!merged.AsSpan().SequenceEqual(_known.Entries, GrainTypeEntry.Meaning))
                _known = new Resolutions(merged);
        }
    }

    /// <summary>Adds entries to the known ones.</summary>
    internal void AddKnown(IEnumerable<GrainTypeEntry> entries) => SetKnown(entries.Concat(_known.Entries));

    /// <summary>The grain type that a call through <paramref name="interfaceType"/> means.</summary>
    /// <exception cref="ArgumentException">No class or several classes implement the interface.</exception>
    internal GrainType Resolve(Type interfaceType, string? classNamePrefix) =>
        _known.Resolve(interfaceType, string.IsNullOrWhiteSpace(classNamePrefix) ? null : classNamePrefix);

    /// <summary>The interfaces of a grain type, by their names; none if the type is not known.</summary>
    internal string[] InterfacesOf(GrainType grainType)
    {
        var text = grainType.ToString()!;
        var name = WithoutArguments(text);
        if (Array.Find(_known.Entries, entry => entry.GrainType == name) is not { } found)
            return [];
        string[] arguments = name.Length == text.Length
            ? []
            : [.. TypeManifest.ParseGrainArguments(text.AsSpan(name.Length)).Select(static type => TypeManifest.NameArguments(type))];
        var constructed = found.Constructed.Select(ConstructedInterface.Parse).ToArray();
        return
        [
            .. found.Interfaces.Where(one => !Array.Exists(constructed, generic => generic.Definition == one)),
            .. constructed.Select(generic => generic.NameFor(arguments)),
        ];
    }

    /// <summary>The version of an interface in this process; 0 if it has none.</summary>
    internal ushort VersionOf(string interfaceName) =>
        _versions.GetValueOrDefault(HostedTypes.WithoutArguments(interfaceName));

    /// <summary>The class of the grain type, if this silo hosts it.</summary>
    internal bool TryGet(GrainType grainType, [NotNullWhen(true)] out GrainClass? found)
    {
        if (_byGrainType.TryGetValue(grainType, out found))
            return true;
        if (FindClass(grainType, out var type) is not { } hosted)
            return false;
        found = _byGrainType.GetOrAdd(grainType, new GrainClass(grainType, type!, hosted.Placement)
        {
            Properties = hosted.Entry.Properties.ToImmutableDictionary(),
        });
        return true;
    }

    internal bool TryGetWorker(GrainId id, [NotNullWhen(true)] out GrainClass? found) =>
        TryGet(id.Type, out found) && found.Worker is not null;

    /// <summary>
    /// The placement strategy of a grain type, with its properties. Null if this process has no class for the name of the strategy.
    /// </summary>
    /// <param name="definition">The grain type, without type arguments.</param>
    /// <param name="entry">The class as a silo that hosts it describes it.</param>
    internal PlacementStrategy? PlacementOf(GrainType definition, GrainTypeEntry entry)
    {
        if (_hosted.TryGetValue(definition, out var hosted))
            return hosted.Placement;
        if (Resolved(definition, entry.Properties) is { } resolved)
            return resolved;
        var name = entry.Properties.GetValueOrDefault(WellKnownGrainTypeProperties.PlacementStrategy);
        if (name is null || name == defaultPlacement.GetType().Name)
            return defaultPlacement;
        var strategy = PlacementStrategyResolver.Named(services, name);
        strategy?.Initialize(new GrainProperties(entry.Properties.ToImmutableDictionary()));
        return strategy;
    }

    /// <summary>The placement filters of a grain type, see <see cref="PlacementFilters.Read"/>.</summary>
    internal PlacementFilters? FiltersOf(GrainTypeEntry entry, out bool isKnown) => PlacementFilters.Read(services, entry, out isKnown);

    private PlacementStrategy? Resolved(GrainType definition, IReadOnlyDictionary<string, string> properties) =>
        PlacementStrategyResolver.FindStrategy(
            services.GetServices<IPlacementStrategyResolver>(), definition, new GrainProperties(properties.ToImmutableDictionary()));

    private static IEnumerable<ActOp.Serialization.GrainClass> Unique(IEnumerable<ActOp.Serialization.GrainClass> classes)
    {
        var found = new Dictionary<string, Type>(StringComparer.Ordinal);
        foreach (var entry in classes)
        {
            if (!found.TryAdd(entry.GrainType, entry.Type))
            {
                throw new OrleansConfigurationException(
                    "The grain classes " + found[entry.GrainType].AssemblyQualifiedName + " and " + entry.Type.AssemblyQualifiedName +
                        " have the same grain type, " + entry.GrainType + ": give one of them a [GrainType].");
            }
        }

        return classes;
    }

    /// <summary>The names of interfaces are in generated code: a service cannot give another one.</summary>
    private static void CheckNames(IGrainInterfaceTypeProvider[] providers)
    {
        foreach (var entry in providers.Length == 0 ? [] : TypeManifest.Interfaces)
        {
            foreach (var provider in providers)
            {
                if (!provider.TryGetGrainInterfaceType(entry.Type, out var given) || given.ToString() is var name && (name == entry.Name
                    || entry.Name.StartsWith(name + "`", StringComparison.Ordinal)))
                {
                    continue;
                }

                throw new OrleansConfigurationException(provider.GetType() + " names the grain interface " + entry.Type + " " + given
                    + ", which generated code calls " + entry.Name + ": mark it with [GrainInterfaceType] instead.");
            }
        }
    }

    /// <summary>The class with the name that a service of the application gives it, or with its own.</summary>
    private static ActOp.Serialization.GrainClass NamedBy(IGrainTypeProvider[] providers, ActOp.Serialization.GrainClass entry)
    {
        foreach (var provider in providers)
        {
            if (provider.TryGetGrainType(entry.Type, out var given))
                return given.ToString() == entry.GrainType ? entry : new ActOp.Serialization.GrainClass(entry.Type, given.ToString()!);
        }

        return entry;
    }

    /// <summary>The text of a grain type without the type arguments of a constructed class.</summary>
    internal static string WithoutArguments(string grainType) =>
        grainType.IndexOf("[[", StringComparison.Ordinal) is >= 0 and var arguments ? grainType[..arguments] : grainType;

    private HostedClass ReadClass(ActOp.Serialization.GrainClass entry)
    {
        var type = entry.Type;
        var grainType = GrainType.Create(entry.GrainType);
        string[] interfaces = [.. entry.Interfaces.Select(NameOf).Distinct(StringComparer.Ordinal)];
        var properties = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            [WellKnownGrainTypeProperties.TypeName] = type.Name,
            [WellKnownGrainTypeProperties.FullTypeName] = type.FullName!,
        };
        try
        {
            for (var i = 0; i < interfaces.Length; i++)
            {
                properties[WellKnownGrainTypeProperties.ImplementedInterfacePrefix + i.ToString(CultureInfo.InvariantCulture)] =
                    interfaces[i];
            }

            foreach (var provider in services.GetServices<IGrainPropertiesProvider>())
                provider.Populate(type, grainType, properties);
            foreach (var attribute in type.GetCustomAttributes(inherit: true))
                (attribute as IGrainPropertiesProviderAttribute)?.Populate(services, type, grainType, properties);
            var placement = type.GetCustomAttribute<PlacementAttribute>(inherit: true)?.PlacementStrategy;
            if (Resolved(grainType, properties) is { } resolved)
                (placement, properties[WellKnownGrainTypeProperties.PlacementStrategy]) = (resolved, resolved.GetType().Name);
            else if (placement is null)
                properties.TryAdd(WellKnownGrainTypeProperties.PlacementStrategy, defaultPlacement.GetType().Name);
            else
                placement.Initialize(new GrainProperties(properties.ToImmutableDictionary()));
            return new HostedClass(
                type,
                new GrainTypeEntry(entry.GrainType, type.FullName!, interfaces, type.IsGenericTypeDefinition, properties)
                {
                    GenericArity = type.IsGenericTypeDefinition ? type.GetGenericArguments().Length : 0,
                    Constructed = [.. entry.Interfaces.Where(static one => one.IsGenericType)
                        .Select(static one => ConstructedInterface.FromType(NameOf(one), one).ToString()).Order(StringComparer.Ordinal)],
                },
                placement ?? defaultPlacement);
        }
        catch (Exception exception)
        {
            throw new OrleansConfigurationException(
                "The properties of the grain class " + type + " could not be read: " + exception.Message, exception);
        }
    }

    private InterfaceEntry ReadInterface(GrainInterface entry)
    {
        var properties = new Dictionary<string, string>(StringComparer.Ordinal);
        try
        {
            foreach (var attribute in entry.Type.GetCustomAttributes(inherit: false))
                (attribute as IGrainInterfacePropertiesProviderAttribute)?.Populate(services, entry.Type, properties);

            foreach (var provider in services.GetServices<IGrainInterfacePropertiesProvider>())
                provider.Populate(entry.Type, GrainInterfaceType.Create(entry.Name), properties);
            var version = properties.TryGetValue(WellKnownGrainInterfaceProperties.Version, out var text)
                ? ushort.Parse(text, NumberStyles.None, CultureInfo.InvariantCulture)
                : (ushort)0;
            return new InterfaceEntry(entry.Name, version);
        }
        catch (Exception exception)
        {
            throw new OrleansConfigurationException(
                "The properties of the grain interface " + entry.Type + " could not be read: " + exception.Message, exception);
        }
    }

    private static string NameOf(Type interfaceType) =>
        TypeManifest.TryGetInterface(interfaceType.IsGenericType ? interfaceType.GetGenericTypeDefinition() : interfaceType, out var found)
            ? found.Name
            : interfaceType.FullName!;

    private HostedClass? FindClass(GrainType grainType, out Type? type)
    {
        type = null;
        if (_hosted.TryGetValue(grainType, out var found))
        {
            type = found.Type;
            return found;
        }

        if (grainType.AsSpan().IndexOf("[["u8) < 0)
            return null;
        var name = grainType.ToString()!;
        var definition = WithoutArguments(name);
        if (!_hosted.TryGetValue(GrainType.Create(definition), out found))
            return null;
        TypeShare.CountTypes(TypeShare.PartsOfInstantiation);
        type = found.Type.MakeGenericType(TypeManifest.ParseGrainArguments(name.AsSpan(definition.Length)));
        return found;
    }

    /// <summary>A class that this silo hosts.</summary>
    private sealed record HostedClass(Type Type, GrainTypeEntry Entry, PlacementStrategy Placement);
}

/// <summary>The classes that are known at one time, and the interfaces that were resolved with them. Any thread.</summary>
internal sealed class Resolutions(GrainTypeEntry[] entries)
{
    private readonly ConcurrentDictionary<(Type, string?), GrainType> _byInterface = new();

    internal GrainTypeEntry[] Entries => entries;

    internal GrainType Resolve(Type interfaceType, string? classNamePrefix) =>
        _byInterface.TryGetValue((interfaceType, classNamePrefix), out var found)
            ? found
            : _byInterface.GetOrAdd((interfaceType, classNamePrefix), FindType(interfaceType, classNamePrefix));

    private GrainType FindType(Type interfaceType, string? prefix)
    {
        if (interfaceType.ContainsGenericParameters)
            throw new ArgumentException("The interface " + interfaceType + " is generic: a grain is got through one with type arguments.");
        if (!TypeManifest.TryGetInterface(interfaceType.IsGenericType ? interfaceType.GetGenericTypeDefinition() : interfaceType,
            out var entry))
        {
            throw new ArgumentException("The interface " + interfaceType
                + " is not a grain interface that generated code has registered. Does its project reference ActOp (with the source "
                + "generator)?");
        }

        var candidates = entries.Where(candidate => candidate.Interfaces.Contains(entry.Name)).ToArray();
        var arguments = interfaceType.IsGenericType ? ConstructedInterface.FromType(entry.Name, interfaceType) : null;
        if (arguments is not null)
            candidates = prefix is null ? arguments.Fitting(candidates) : arguments.AllFitting(candidates);
        if (prefix is not null)
            candidates = ByPrefix(candidates, prefix, interfaceType);
        var chosen = candidates.Length switch
        {
            0 => throw new ArgumentException("Could not find an implementation for interface " + interfaceType
                + ": no silo has a grain class for it" + (prefix is null ? "." : " that begins with " + prefix + ".")),
            1 => candidates[0],
            _ => Primary(candidates, interfaceType),
        };
        return GrainType.Create(
            chosen.IsGeneric && arguments is not null ? chosen.GrainType + "[[" + arguments.OfClass(chosen) + "]]" : chosen.GrainType);
    }

    private static GrainTypeEntry[] ByPrefix(GrainTypeEntry[] candidates, string prefix, Type interfaceType)
    {
        if (candidates.FirstOrDefault(candidate => candidate.ClassName == prefix) is { } exact)
            return [exact];
        var matches = candidates.Where(candidate => candidate.ClassName.StartsWith(prefix, StringComparison.Ordinal)).ToArray();
        return matches.Length <= 1 ? matches : throw Ambiguous(matches, interfaceType);
    }

    private static GrainTypeEntry Primary(GrainTypeEntry[] candidates, Type interfaceType)
    {
        if (interfaceType.GetCustomAttributesData()
            .FirstOrDefault(data => data.AttributeType == typeof(DefaultGrainTypeAttribute)) is { } chosen)
        {
            var name = (string)chosen.ConstructorArguments[0].Value!;
            if (candidates.FirstOrDefault(candidate => candidate.GrainType == name) is { } named)
                return named;
        }

        var className = interfaceType.Name.StartsWith('I') ? interfaceType.Name[1..] : interfaceType.Name;
        var byName = candidates.Where(candidate => candidate.ClassName == className
            || candidate.ClassName.EndsWith("." + className, StringComparison.Ordinal)
                || candidate.ClassName.EndsWith("+" + className, StringComparison.Ordinal)).ToArray();
        if (byName.Length == 1)
            return byName[0];
        // Of classes of the same name the one that stands where the interface stands.
        var space = interfaceType.FullName is { } full ? full[..full.IndexOf(interfaceType.Name, StringComparison.Ordinal)] : "";
        return Array.Find(byName, candidate => candidate.ClassName == space + className) ?? throw Ambiguous(candidates, interfaceType);
    }

    private static ArgumentException Ambiguous(GrainTypeEntry[] candidates, Type interfaceType) =>
        new("The grain interface " + interfaceType + " is ambiguous: " +
            string.Join(", ", candidates.Select(candidate => candidate.ClassName)) +
                " implement it. Say which with [DefaultGrainType] or a class name prefix.");
}

/// <summary>
/// A generic interface with its type arguments, by their names: either a constructed one that is resolved, or the form in which a class
/// implements it, where <c>!0</c> is the first type parameter of the class. Immutable; any thread.
/// </summary>
/// <param name="Definition">The name of the generic interface.</param>
/// <param name="Arguments">The names of the arguments.</param>
internal sealed record ConstructedInterface(string Definition, string[] Arguments)
{
    /// <summary>The interface as it is resolved, or as a class implements it.</summary>
    internal static ConstructedInterface FromType(string definition, Type type) =>
        new(definition, [.. type.GetGenericArguments().Select(NameOf)]);

    internal static ConstructedInterface Parse(string text)
    {
        var parts = text.Split(Separator);
        return new ConstructedInterface(parts[0], parts[1..]);
    }

    /// <summary>The text that <see cref="Parse"/> reads.</summary>
    public override string ToString() => string.Join(Separator, [Definition, .. Arguments]);

    /// <summary>
    /// The classes that implement this interface with these arguments. Those that implement exactly this one have precedence over generic
    /// classes, as in Orleans.
    /// </summary>
    internal GrainTypeEntry[] Fitting(GrainTypeEntry[] candidates)
    {
        var exact = Array.FindAll(candidates, candidate => !candidate.IsGeneric && FormOf(candidate) is not null);
        return exact.Length > 0 ? exact : Array.FindAll(candidates, candidate => candidate.IsGeneric && TryBind(candidate, out _));
    }

    /// <summary>All classes that implement this interface with these arguments, for whoever names one of them.</summary>
    internal GrainTypeEntry[] AllFitting(GrainTypeEntry[] candidates) =>
        Array.FindAll(candidates, candidate => candidate.IsGeneric ? TryBind(candidate, out _) : FormOf(candidate) is not null);

    /// <summary>The type arguments of a generic class that <see cref="Fitting"/> has returned.</summary>
    internal string OfClass(GrainTypeEntry candidate) =>
        TryBind(candidate, out var bound) ? string.Join("],[", bound) : throw new InvalidOperationException(candidate.GrainType);

    /// <summary>The name of the interface that a class with these type arguments implements.</summary>
    internal string NameFor(string[] arguments) => Definition + "<" + string.Join(',', Arguments.Select(one =>
        one[0] == '!' ? arguments.ElementAtOrDefault(int.Parse(one.AsSpan(1), CultureInfo.InvariantCulture)) : one)) + ">";

    private const char Separator = '\t';

    private static string NameOf(Type argument) => argument.IsGenericParameter
        ? "!" + argument.GenericParameterPosition.ToString(CultureInfo.InvariantCulture)
        : TypeManifest.NameArguments(argument);

    /// <summary>The form in which the class implements the interface, with arguments that fit.</summary>
    private ConstructedInterface? FormOf(GrainTypeEntry candidate) =>
        candidate.Constructed.Select(Parse).FirstOrDefault(form => form.Definition == Definition
            && form.Arguments.Length == Arguments.Length
            && form.Arguments.Zip(Arguments).All(static pair => pair.First[0] == '!' || pair.First == pair.Second));

    /// <summary>False if a type parameter of the class does not follow from the arguments of the interface.</summary>
    private bool TryBind(GrainTypeEntry candidate, out string[] bound)
    {
        bound = new string[candidate.GenericArity];
        if (FormOf(candidate) is not { } form)
            return false;
        for (var i = 0; i < Arguments.Length; i++)
        {
            if (form.Arguments[i][0] != '!')
                continue;
            ref var known = ref bound[int.Parse(form.Arguments[i].AsSpan(1), CultureInfo.InvariantCulture)];
            if (known is not null && known != Arguments[i])
                return false;
            known = Arguments[i];
        }

        return Array.TrueForAll(bound, static argument => argument is not null);
    }
}

/// <summary>One grain class of a silo, as it is sent to other processes.</summary>
/// <param name="GrainType">Its grain type.</param>
/// <param name="ClassName">The class's full name.</param>
/// <param name="Interfaces">Names of the grain interfaces it implements.</param>
/// <param name="IsGeneric">It is an open generic class: the grain type of a grain names the arguments.</param>
/// <param name="Properties">Its properties: placement strategy, filters, and what attributes have added.</param>
[GenerateSerializer]
internal sealed record GrainTypeEntry(
    [property: Id(0)] string GrainType, [property: Id(1)] string ClassName, [property: Id(2)] string[] Interfaces,
    [property: Id(3)] bool IsGeneric, [property: Id(4)] Dictionary<string, string> Properties)
{
    /// <summary>Its generic interfaces with their type arguments, see <see cref="ConstructedInterface"/>.</summary>
    [Id(5)]
    public string[] Constructed { get; init; } = [];

    /// <summary>The number of its type parameters.</summary>
    [Id(6)]
    public int GenericArity { get; init; }

    /// <summary>Compares what matters for the resolution of interfaces.</summary>
    internal static IEqualityComparer<GrainTypeEntry> Meaning { get; } = EqualityComparer<GrainTypeEntry>.Create(
        static (a, b) => ReferenceEquals(a, b) || (a is not null && b is not null && a.GrainType == b.GrainType
            && a.ClassName == b.ClassName && a.IsGeneric == b.IsGeneric && a.Interfaces.AsSpan().SequenceEqual(b.Interfaces)
            && a.Constructed.AsSpan().SequenceEqual(b.Constructed)));

    /// <summary>One entry for the same class in several builds: with the interfaces of all.</summary>
    internal static GrainTypeEntry Merge(GrainTypeEntry[] same) =>
        same.Length == 1 || Array.TrueForAll(same, entry => Meaning.Equals(entry, same[0]))
            ? same[0]
            : same[0] with
            {
                Interfaces = [.. same.SelectMany(static entry => entry.Interfaces).Distinct(StringComparer.Ordinal)
                    .Order(StringComparer.Ordinal)],
                Constructed = [.. same.SelectMany(static entry => entry.Constructed).Distinct(StringComparer.Ordinal)
                    .Order(StringComparer.Ordinal)],
            };
}
