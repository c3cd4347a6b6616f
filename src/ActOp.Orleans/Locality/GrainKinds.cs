using System.Collections.Concurrent;
using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Concurrency;
using Orleans.Metadata;
using Orleans.Placement;

namespace ActOp.Orleans.Locality;

/// <summary>What locality must know of a grain type.</summary>
/// <param name="Class">Its class; null if this silo does not host it.</param>
/// <param name="Counts">
/// Whether its calls are edges: it is no client, system target, grain service or stateless worker, which have no one place.
/// </param>
/// <param name="IsPinned">Whether it must not move, whatever the options say.</param>
/// <param name="LosesState">Whether its activations hold something in memory that a move would lose.</param>
/// <param name="Interleaves">Whether a request may begin to run while another one of the same activation runs.</param>
internal sealed record GrainKind(Type? Class, bool Counts, bool IsPinned, bool LosesState, bool Interleaves)
{
    internal static readonly GrainKind Uncounted = new(null, Counts: false, IsPinned: true, LosesState: false, Interleaves: false);

    /// <summary>A type that only other silos host, as far as is known now.</summary>
    internal static readonly GrainKind Foreign = new(null, Counts: true, IsPinned: true, LosesState: false, Interleaves: false);
}

/// <summary>The kinds of the grain types, by the manifests of the cluster and by the classes of this silo. Any thread.</summary>
/// <remarks>The parts of Orleans are resolved at the first question: they are not ready when the silo is put together.</remarks>
internal sealed class GrainKinds(IServiceProvider services)
{
    private readonly ConcurrentDictionary<GrainType, GrainKind> _kinds = new();

    internal GrainKind KindOf(GrainType type)
    {
        if (_kinds.TryGetValue(type, out var known))
            return known;
        if (IsSystem(type))
            return GrainKind.Uncounted;
        var manifests = services.GetRequiredService<IClusterManifestProvider>();
        if (manifests.LocalGrainManifest.Grains.TryGetValue(type, out var properties))
            return _kinds.GetOrAdd(type, Read(type, properties));
        foreach (var manifest in manifests.Current.AllGrainManifests)
        {
            if (manifest.Grains.TryGetValue(type, out properties))
                return _kinds.GetOrAdd(type, IsStatelessWorker(properties) ? GrainKind.Uncounted : GrainKind.Foreign);
        }

        // A silo that hosts it may join later: not kept.
        return GrainKind.Foreign;
    }

    /// <summary>Whether a silo hosts the type, as far as this silo knows.</summary>
    internal bool IsHostedBy(SiloAddress silo, GrainType type) =>
        services.GetRequiredService<IClusterManifestProvider>().Current.Silos.TryGetValue(silo, out var manifest)
        && manifest.Grains.ContainsKey(type);

    /// <summary>Clients, system targets and grain services.</summary>
    internal static bool IsSystem(GrainType type) => type.Value.AsSpan().StartsWith("sys."u8);

    private GrainKind Read(GrainType type, GrainProperties properties)
    {
        if (IsStatelessWorker(properties) || !services.GetRequiredService<GrainClassMap>().TryGetGrainClass(type, out var grainClass))
            return GrainKind.Uncounted;
        return new GrainKind(grainClass, Counts: true, IsImmovable(properties), LosesState(grainClass), MayInterleave(grainClass));
    }

    private static bool IsStatelessWorker(GrainProperties properties) =>
        properties.Properties.TryGetValue(WellKnownGrainTypeProperties.PlacementStrategy, out var strategy)
        && strategy == "StatelessWorkerPlacement";

    private static bool IsImmovable(GrainProperties properties) =>
        properties.Properties.TryGetValue(WellKnownGrainTypeProperties.Immovable, out var kind)
        && (!byte.TryParse(kind, out var bits) || (bits & (byte)ImmovableKind.Repartitioner) != 0);

    /// <summary>
    /// What the class holds beside what Orleans carries. Cautious: a field whose content may come from anything but the constructor's
    /// parameters counts as state.
    /// </summary>
    internal static bool LosesState(Type grainClass)
    {
        if (grainClass.IsDefined(typeof(MovableAttribute), inherit: true)
            || typeof(IGrainMigrationParticipant).IsAssignableFrom(grainClass))
        {
            return false;
        }

        for (var type = grainClass; type is not null && !IsOfOrleans(type); type = type.BaseType)
        {
            var injected = type.GetConstructors(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic)
                .SelectMany(static constructor => constructor.GetParameters())
                .Select(static parameter => parameter.ParameterType)
                .ToHashSet();
            if (type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly)
                .Any(field => HoldsState(field, injected)))
            {
                return true;
            }
        }

        return false;
    }

    private static bool HoldsState(FieldInfo field, HashSet<Type> injected)
    {
        // A parameter of a primary constructor that methods use is a field that is not read-only.
        var isFixed = field.IsInitOnly || (field.Name.StartsWith('<') && field.Name.EndsWith(">P", StringComparison.Ordinal));
        return !isFixed || !(IsValue(field.FieldType) || (injected.Contains(field.FieldType) && IsService(field.FieldType)));
    }

    private static bool IsValue(Type type) =>
        type.IsPrimitive || type.IsEnum || type == typeof(string) || type == typeof(Guid) || type == typeof(decimal)
        || type == typeof(TimeSpan) || type == typeof(DateTime) || type == typeof(DateTimeOffset) || type == typeof(GrainId)
        || typeof(IAddressable).IsAssignableFrom(type);

    private static bool IsService(Type type) =>
        (type.IsInterface || type.IsAbstract) && type.Namespace?.StartsWith("System.Collections", StringComparison.Ordinal) != true;

    private static bool IsOfOrleans(Type type) => type == typeof(object) || type.Assembly == typeof(Grain).Assembly;

    /// <summary>Whether a request may begin while another one of the same activation runs.</summary>
    internal static bool MayInterleave(Type grainClass) =>
        grainClass.IsDefined(typeof(ReentrantAttribute), inherit: true)
        || grainClass.IsDefined(typeof(MayInterleaveAttribute), inherit: true)
        || grainClass.GetInterfaces().SelectMany(static one => one.GetMethods())
            .Any(static method => method.IsDefined(typeof(AlwaysInterleaveAttribute), inherit: true));
}
