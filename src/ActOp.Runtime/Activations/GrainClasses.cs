using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using ActOp.Runtime.Placement;
using ActOp.Serialization;
using Orleans;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Which class implements which grain interface. Filled at start from the type manifest; any thread.
/// </summary>
internal sealed class GrainClasses
{
    private readonly ConcurrentDictionary<GrainType, GrainClass> _byGrainType = new();
    private readonly ConcurrentDictionary<(Type, string?), GrainType> _byInterface = new();
    private readonly PlacementStrategy _defaultPlacement;
    private readonly bool _hasClasses;
    private volatile GrainTypeEntry[] _entries = [];

    internal GrainClasses(PlacementStrategy defaultPlacement, bool hasClasses)
    {
        _defaultPlacement = defaultPlacement;
        _hasClasses = hasClasses;
    }

    /// <summary>What this process hosts, for clients that have only the interfaces.</summary>
    internal GrainTypeEntry[] Entries => _entries;

    /// <summary>Reads the manifest of this process.</summary>
    /// <exception cref="OrleansConfigurationException">Two classes have the same grain type.</exception>
    internal void LoadLocal() => Add(Unique(TypeManifest.GrainClasses).Select(entry => new GrainTypeEntry(
        entry.GrainType,
        entry.Type.FullName!,
        [.. entry.Interfaces.Select(type => TypeManifest.TryGetInterface(type.IsGenericType ? type.GetGenericTypeDefinition() : type, out var found) ? found.Name : type.FullName!)],
        entry.Type.IsGenericTypeDefinition)));

    /// <summary>Adds what another silo of the cluster hosts.</summary>
    internal void Add(IEnumerable<GrainTypeEntry> entries)
    {
        _entries = [.. _entries.Concat(entries).DistinctBy(entry => entry.GrainType).OrderBy(entry => entry.GrainType,
            StringComparer.Ordinal)];
        _byInterface.Clear();
    }

    /// <summary>The grain type that a call through <paramref name="interfaceType"/> means.</summary>
    /// <exception cref="ArgumentException">No class or several classes implement the interface.</exception>
    internal GrainType Resolve(Type interfaceType, string? classNamePrefix) =>
        _byInterface.TryGetValue((interfaceType, classNamePrefix), out var found) ? found : _byInterface.GetOrAdd((interfaceType, classNamePrefix), Find(interfaceType, classNamePrefix));

    internal GrainClass Get(GrainId id) => Get(id.Type);

    internal GrainClass Get(GrainType grainType) => TryGet(grainType, out var found)
        ? found
        : throw new ArgumentException(
            "No grain class of this silo has the grain type " + grainType +
                ". Is its assembly referenced, and was the source generator run on it?");

    internal bool TryGet(GrainType grainType, [NotNullWhen(true)] out GrainClass? found)
    {
        if (_byGrainType.TryGetValue(grainType, out found))
            return true;
        if (!_hasClasses || FindClass(grainType.ToString()!) is not { } type)
            return false;
        found = _byGrainType.GetOrAdd(grainType, new GrainClass(grainType, type, PlacementOf(type)));
        return true;
    }

    internal bool TryGetWorker(GrainId id, [NotNullWhen(true)] out GrainClass? found) =>
        TryGet(id.Type, out found) && found.Worker is not null;

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

    private PlacementStrategy PlacementOf(Type type)
    {
        var strategy = type.GetCustomAttribute<PlacementAttribute>(inherit: true)?.PlacementStrategy ?? _defaultPlacement;
        strategy.Initialize(new GrainProperties(System.Collections.Immutable.ImmutableDictionary<string, string>.Empty));
        return strategy;
    }

    private GrainType Find(Type interfaceType, string? prefix)
    {
        if (!TypeManifest.TryGetInterface(interfaceType.IsGenericType ? interfaceType.GetGenericTypeDefinition() : interfaceType,
            out var entry))
        {
            throw new ArgumentException("The interface " + interfaceType + " is not a grain interface that generated code has registered. Does its project reference ActOp (with the source generator)?");
        }

        var candidates = _entries.Where(candidate => candidate.Interfaces.Contains(entry.Name)).ToArray();
        if (prefix is not null)
            candidates = ByPrefix(candidates, prefix, interfaceType);
        var chosen = candidates.Length switch
        {
            0 => throw new ArgumentException("No grain class implements " + interfaceType + (prefix is null ? "." : " and begins with " + prefix + ".")),
            1 => candidates[0],
            _ => Primary(candidates, interfaceType),
        };
        if (!chosen.IsGeneric)
            return GrainType.Create(chosen.GrainType);
        return GrainType.Create(chosen.GrainType + "[[" + TypeManifest.NameArguments(interfaceType.GetGenericArguments()) + "]]");
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
        if (interfaceType.GetCustomAttributesData().FirstOrDefault(data => data.AttributeType == typeof(DefaultGrainTypeAttribute)) is { } chosen)
        {
            var name = (string)chosen.ConstructorArguments[0].Value!;
            if (candidates.FirstOrDefault(candidate => candidate.GrainType == name) is { } named)
                return named;
        }

        var className = interfaceType.Name.StartsWith('I') ? interfaceType.Name[1..] : interfaceType.Name;
        var byName = candidates.Where(candidate => candidate.ClassName == className
            || candidate.ClassName.EndsWith("." + className, StringComparison.Ordinal)
                || candidate.ClassName.EndsWith("+" + className, StringComparison.Ordinal)).ToArray();
        return byName.Length == 1 ? byName[0] : throw Ambiguous(candidates, interfaceType);
    }

    private static ArgumentException Ambiguous(GrainTypeEntry[] candidates, Type interfaceType) =>
        new("The grain interface " + interfaceType + " is ambiguous: " +
            string.Join(", ", candidates.Select(candidate => candidate.ClassName)) +
                " implement it. Say which with [DefaultGrainType] or a class name prefix.");

    private static Type? FindClass(string grainType)
    {
        var arguments = grainType.IndexOf("[[", StringComparison.Ordinal);
        var name = arguments < 0 ? grainType : grainType[..arguments];
        var entry = TypeManifest.GrainClasses.FirstOrDefault(candidate => candidate.GrainType == name);
        if (entry is null || arguments < 0)
            return entry?.Type;
        return entry.Type.MakeGenericType(TypeManifest.ParseArguments(grainType[(arguments + 2)..^2]));
    }
}

/// <summary>One grain class of a silo, as it is sent to other processes.</summary>
/// <param name="GrainType">Its grain type.</param>
/// <param name="ClassName">The class's full name.</param>
/// <param name="Interfaces">Names of the grain interfaces it implements.</param>
/// <param name="IsGeneric">It is an open generic class: the grain type of a grain names the arguments.</param>
[GenerateSerializer]
internal sealed record GrainTypeEntry([property: Id(0)] string GrainType, [property: Id(1)] string ClassName, [property: Id(2)] string[] Interfaces, [property: Id(3)] bool IsGeneric);
