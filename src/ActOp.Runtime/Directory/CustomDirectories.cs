using System.Collections.Concurrent;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Configuration;
using Orleans.Core.Internal;
using Orleans.GrainDirectory;
using Orleans.Metadata;
using Orleans.Runtime;
using Orleans.Runtime.GrainDirectory;

namespace ActOp.Runtime.Directory;

/// <summary>Another name of the directory of the runtime.</summary>
/// <param name="Name">The name; null for none.</param>
internal sealed record BuiltInDirectory(string? Name);

/// <summary>
/// The grain directories of the application: which grains are registered in one of them, and what is asked of it. All others are in the
/// directory of the runtime.
/// </summary>
/// <remarks>
/// <para>Any thread. Holds one entry per grain type of the cluster that was looked up; the directories belong to the container.</para>
/// <list type="table">
/// <item><term>a class names a directory that is not registered</term><description> Calls to its grains fail and say so. Not the start of
/// the silo: the class may be in a library of which nothing else is used.</description></item>
/// <item><term>a directory throws or does not answer</term><description> The start of the activation, or the lookup, fails with its
/// exception; calls that wait get it. Nothing is repeated here.</description></item>
/// <item><term>it names an activation of a dead silo</term><description> That counts as none, and a new activation is registered in its
/// place. The registrations of silos that die are removed as well, by each silo.</description></item>
/// <item><term>an activation ends and cannot be unregistered</term><description> The failure is logged. The next lookup finds the old
/// silo, which forwards the call or forgets the registration.</description></item>
/// <item><term>a registration comes twice</term><description> The directory returns the same activation: nothing
/// changes.</description></item>
/// </list>
/// </remarks>
internal sealed class CustomDirectories
{
    private readonly LocalNode _local;
    private readonly ClusterView _cluster;
    private readonly GrainClasses _classes;
    private readonly IGrainDirectoryResolver[] _resolvers;
    private readonly HashSet<string?> _builtIn;
    private readonly ConcurrentDictionary<GrainType, IGrainDirectory?> _byType = new();
    private readonly BackgroundPart _work;

    private CustomDirectories(
        LocalNode local, ClusterView cluster, GrainClasses classes, IGrainDirectoryResolver[] resolvers, HashSet<string?> builtIn)
    {
        _local = local;
        _cluster = cluster;
        _classes = classes;
        _resolvers = resolvers;
        _builtIn = builtIn;
        _work = local.Background.Part("grain directories");
    }

    /// <summary>The directories of a silo. Classes of other silos may name one, too.</summary>
    internal static CustomDirectories OfSilo(LocalNode local, ClusterView cluster, GrainClasses classes) => new(
        local, cluster, classes, [.. local.Services.GetServices<IGrainDirectoryResolver>()],
        [.. local.Services.GetServices<BuiltInDirectory>().Select(static one => one.Name)]);

    /// <summary>The directory of the grain; null for the one of the runtime.</summary>
    internal IGrainDirectory? FindDirectory(GrainType grainType)
    {
        if (_byType.TryGetValue(grainType, out var known))
            return known;
        var name = GrainClasses.WithoutArguments(grainType.ToString()!);
        var definition = GrainType.Create(name);
        if (_byType.TryGetValue(definition, out known))
            return known;
        var entry = Array.Find(_classes.Entries, entry => entry.GrainType == name);
        return entry is null ? null : _byType.GetOrAdd(definition, Resolve(entry));
    }

    internal async Task<Location> LookupAsync(IGrainDirectory directory, GrainId grain) =>
        Living(await Given.Task(directory.Lookup(grain)).ConfigureAwait(false)) is { } address ? LocationOf(address) : default;

    /// <summary>Registers the activation unless a living one is registered; returns the registered one.</summary>
    internal async Task<Location> RegisterAsync(IGrainDirectory directory, Activation activation, ActivationId previous)
    {
        var address = activation.Address;
        // It may register the activation and then throw.
        if (!activation.Registered)
            activation.Life.Registration = RegistrationState.Unknown;
        var now = await Given.Task(directory.Register(address)).ConfigureAwait(true);
        if (now is not null && !now.Matches(address) && (now.ActivationId.Equals(previous) || Living(now) is null || IsLeftHere(now)))
            now = await Given.Task(directory.Register(address, now)).ConfigureAwait(true);
        if (now is not null && !now.Matches(address))
        {
            activation.Registered = false;
            return LocationOf(now);
        }

        // Later activations of the grain have higher numbers, wherever they are.
        activation.Epoch = TimeOf(_local).GetUtcNow().ToUnixTimeMilliseconds();
        activation.Registered = true;
        return activation.Location;
    }

    internal static Task UnregisterAsync(IGrainDirectory directory, Activation activation)
    {
        activation.Registered = false;
        return Given.Task(directory.Unregister(activation.Address));
    }

    /// <summary>Removes the registration of an ended activation of this silo.</summary>
    internal async Task ForgetHereAsync(IGrainDirectory directory, GrainId grain)
    {
        if (await Given.Task(directory.Lookup(grain)).ConfigureAwait(false) is { } address && IsLeftHere(address))
            await Given.Task(directory.Unregister(address)).ConfigureAwait(false);
    }

    /// <summary>Silos have died.</summary>
    internal void OnDied(IEnumerable<SiloAddress> silos)
    {
        List<SiloAddress> gone = [.. silos];
        if (gone.Count == 0)
            return;
        var directories = _classes.Entries.Select(entry => FindDirectory(GrainType.Create(entry.GrainType))).OfType<IGrainDirectory>()
            .Where(static one => one is not NoDirectory).Distinct();
        foreach (var directory in directories)
            _work.Run(_ => Given.Task(directory.UnregisterSilos(gone)));
    }

    private IGrainDirectory? Resolve(GrainTypeEntry entry)
    {
        var type = GrainType.Create(entry.GrainType);
        var properties = new GrainProperties(System.Collections.Immutable.ImmutableDictionary.ToImmutableDictionary(entry.Properties));
        try
        {
            foreach (var resolver in _resolvers)
            {
                if (resolver.TryResolveGrainDirectory(type, properties, out var resolved))
                    return resolved;
            }
        }
        catch (Exception exception)
        {
            return new NoDirectory(exception);
        }

        var name = entry.Properties.GetValueOrDefault(WellKnownGrainTypeProperties.GrainDirectory)
            ?? GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY;
        if (_local.Services.GetKeyedService<IGrainDirectory>(name) is { } directory)
            return directory;
        return name == GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY || _builtIn.Contains(name)
            ? null
            : new NoDirectory(new OrleansConfigurationException("The grain class " + entry.ClassName + " names the grain directory " + name
                + ", which is not registered: call AddGrainDirectory with this name."));
    }

    private bool IsLeftHere(GrainAddress address) => _local.Address.Equals(address.SiloAddress)
        && _local.Services.GetService<ILocalActivationStatusChecker>()?.IsLocallyActivated(address.GrainId) != true;

    private GrainAddress? Living(GrainAddress? address) =>
        address?.SiloAddress is { } silo && !_cluster.IsDead(silo) && _cluster.View.StatusOf(silo) != SiloStatus.None ? address : null;

    private static Location LocationOf(GrainAddress address) => new(address.SiloAddress!, address.ActivationId, 0);

    private static TimeProvider TimeOf(LocalNode local) => local.Services.GetService<TimeProvider>() ?? TimeProvider.System;

    /// <summary>Stands for a directory that cannot be found: whoever asks it gets the reason.</summary>
    private sealed class NoDirectory(Exception reason) : IGrainDirectory
    {
        public Task<GrainAddress?> Register(GrainAddress address) => Task.FromException<GrainAddress?>(reason);

        public Task Unregister(GrainAddress address) => Task.FromException(reason);

        public Task<GrainAddress?> Lookup(GrainId grainId) => Task.FromException<GrainAddress?>(reason);

        public Task UnregisterSilos(List<SiloAddress> siloAddresses) => Task.FromException(reason);
    }
}

/// <summary>The cache of locations that the application has registered.</summary>
/// <remarks>
/// Any thread. Holds nothing. A cache that throws counts as one without the entry, and its failure is logged: calls then ask the directory.
/// The version of an entry is the lower part of the epoch of its registration, and its view is the upper part.
/// </remarks>
internal sealed class CustomCache(IGrainDirectoryCache cache, Action<Exception> onFailure)
{
    private const long VersionMask = int.MaxValue;

    private readonly FailureCount _failures = new();

    /// <summary>The cache that the options want; null for the one of the runtime.</summary>
    /// <exception cref="OrleansConfigurationException">The application has not registered it.</exception>
    internal static IGrainDirectoryCache? FromServices(IServiceProvider services, GrainDirectoryOptions options) =>
        options.CachingStrategy != GrainDirectoryOptions.CachingStrategyType.Custom ? null
            : services.GetService<IGrainDirectoryCache>() ?? throw new OrleansConfigurationException(
                "GrainDirectoryOptions.CachingStrategy is Custom, and no IGrainDirectoryCache is registered.");

    internal Location FindLocation(GrainId grain)
    {
        var found = default(Location);
        Try(() =>
        {
            if (cache.LookUp(grain, out var address, out var version) && address.SiloAddress is { } silo)
                found = new Location(silo, address.ActivationId, EpochOf(address.MembershipVersion, version));
        });
        return found;
    }

    internal void SetLocation(GrainId grain, Location location) => Try(() =>
    {
        if (FindLocation(grain) is { IsNone: false } known && known.Epoch > location.Epoch)
            return;
        cache.AddOrUpdate(AddressOf(grain, location), (int)(location.Epoch & VersionMask));
    });

    internal bool Remove(GrainId grain, Location location)
    {
        var removed = false;
        Try(() => removed = cache.Remove(AddressOf(grain, location)));
        return removed;
    }

    internal static GrainAddress AddressOf(GrainId grain, Location location) => new()
    {
        GrainId = grain,
        SiloAddress = location.Silo,
        ActivationId = location.Activation,
        MembershipVersion = new MembershipVersion(location.Epoch >> ViewShift),
    };

    /// <summary>See <see cref="Location"/>.</summary>
    private const int ViewShift = 40;

    private static long EpochOf(MembershipVersion view, int version) =>
        view.Value > 0 ? (view.Value << ViewShift) | ((long)version & VersionMask) : version;

    private void Try(Action step)
    {
        try
        {
            step();
        }
        catch (Exception exception)
        {
            if (_failures.IsTold(out _))
                onFailure(exception);
        }
    }
}

/// <summary>Where grains are active, for applications. Holds nothing; any thread.</summary>
internal sealed class GrainLocator(
    LocalNode local, ActivationTable activations, LocationCache locations, DirectoryClient directory, GrainFactory factory) : IGrainLocator
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    public void InvalidateCache(GrainAddress address)
    {
        ArgumentNullException.ThrowIfNull(address);
        if (locations.TryGet(address.GrainId, out var known) && CustomCache.AddressOf(address.GrainId, known).Matches(address))
            locations.Remove(address.GrainId, known);
    }

    public void InvalidateCache(GrainId grainId) => locations.Forget(grainId);

    public async ValueTask<GrainAddress?> Lookup(GrainId grainId)
    {
        if (TryLookupInCache(grainId, out var cached))
            return cached;
        var location = await directory.LookupAsync(grainId).ConfigureAwait(true);
        return location.IsNone ? null : CustomCache.AddressOf(grainId, location);
    }

    public async Task<GrainAddress?> Register(GrainAddress address, GrainAddress? previousRegistration)
    {
        ArgumentNullException.ThrowIfNull(address);
        if (LivingHere(address) is not { } activation)
            return await LookupRegistered(address.GrainId).ConfigureAwait(true);
        var location = activation.Registered ? activation.Location
            : await directory.RegisterAsync(activation, previousRegistration?.ActivationId ?? default).ConfigureAwait(true);
        return location.IsNone ? null : CustomCache.AddressOf(address.GrainId, location);
    }

    public bool TryLookupInCache(GrainId grainId, out GrainAddress? address)
    {
        address = activations.TryGet(grainId, out var here) && here.Registered ? here.Address
            : locations.TryGet(grainId, out var known) ? CustomCache.AddressOf(grainId, known) : null;
        return address is not null;
    }

    public async Task Unregister(GrainAddress address, UnregistrationCause cause)
    {
        ArgumentNullException.ThrowIfNull(address);
        locations.Forget(address.GrainId);
        var known = await LookupRegistered(address.GrainId).ConfigureAwait(true);
        if (known is null || !known.Matches(address))
            return;
        if (!local.Address.Equals(known.SiloAddress))
        {
            if (cause == UnregistrationCause.Force)
                await EndElsewhere(known).ConfigureAwait(true);
        }
        else if (LivingHere(known) is not { } activation)
        {
            await directory.ForgetHereAsync(address.GrainId).ConfigureAwait(true);
        }
        else if (cause == UnregistrationCause.Force)
        {
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "Its registration was removed."));
            await activation.Deactivated.ConfigureAwait(true);
        }
    }

    public void UpdateCache(GrainId grainId, SiloAddress siloAddress)
    {
        ArgumentNullException.ThrowIfNull(siloAddress);
        locations.SetLocation(grainId, new Location(siloAddress, default, 0));
    }

    /// <summary>Ends the activation of another silo and waits until it is not registered any more.</summary>
    /// <exception cref="TimeoutException">It runs a call that does not end.</exception>
    private async Task EndElsewhere(GrainAddress address)
    {
        await factory.GetGrain(address.GrainId).AsReference<IGrainManagementExtension>().DeactivateOnIdle().ConfigureAwait(true);
        var asked = local.Clock.Update();
        while (await LookupRegistered(address.GrainId).ConfigureAwait(true) is { } still && still.Matches(address))
        {
            if (local.Clock.Update() - asked > local.ResponseTimeout.TotalMilliseconds)
                throw new TimeoutException("The activation " + address + " has not ended within " + local.ResponseTimeout + ".");
            await Task.Delay(Pause, local.TaskTime).ConfigureAwait(true);
        }

        locations.Forget(address.GrainId);
    }

    private Activation? LivingHere(GrainAddress address) =>
        local.Address.Equals(address.SiloAddress) && activations.TryGet(address.GrainId, out var activation)
            && (address.ActivationId.IsDefault || activation.ActivationId.Equals(address.ActivationId)) ? activation : null;

    private async Task<GrainAddress?> LookupRegistered(GrainId grainId)
    {
        var location = await directory.LookupAsync(grainId).ConfigureAwait(true);
        return location.IsNone ? null : CustomCache.AddressOf(grainId, location);
    }
}
