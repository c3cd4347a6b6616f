using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Placement;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.MembershipService.SiloMetadata;

namespace ActOp.Runtime.Cluster;

/// <summary>What a silo hosts and says of itself. A silo has the same one for its whole life.</summary>
[GenerateSerializer]
internal sealed class SiloManifest
{
    /// <summary>The grain classes that it hosts.</summary>
    [Id(0)]
    public GrainTypeEntry[] Grains { get; set; } = [];

    /// <summary>The grain interfaces that it has.</summary>
    [Id(1)]
    public InterfaceEntry[] Interfaces { get; set; } = [];

    /// <summary>What the application says of the silo.</summary>
    [Id(2)]
    public Dictionary<string, string> Metadata { get; set; } = [];
}

/// <summary>One grain interface of a silo, as it is sent to other processes.</summary>
/// <param name="Name">Its name in the type manifest.</param>
/// <param name="Version">Its version, from its properties.</param>
[GenerateSerializer]
internal sealed record InterfaceEntry([property: Id(0)] string Name, [property: Id(1)] ushort Version);

/// <summary>The manifests of the silos in the view. Placement uses only silos whose manifest is known.</summary>
/// <remarks>
/// <para>Holds the manifest of each silo of the view, and for each other silo without one a task that asks for it. Any thread reads the
/// current <see cref="KnownManifests"/>, which is immutable; changes take the lock. A view change starts and ends tasks.</para>
/// <list type="table">
/// <item><term>a manifest is missing</term><description> The silo gets no new grains from this one. It is asked as soon as the view lists
/// it, so usually before it is active; a silo that starts asks all others before it becomes active itself.</description></item>
/// <item><term>asking fails</term><description> The task asks again after <see cref="RetryPause"/>, until the silo answers or leaves the
/// view. The first failure is logged.</description></item>
/// <item><term>asking hangs</term><description> Given up after <see cref="AskLimit"/>, then as above. A late answer is not used.
/// </description></item>
/// <item><term>it comes twice</term><description> Changes nothing: the manifest of a silo never changes, and a restarted silo has another
/// address.</description></item>
/// <item><term>no known silo hosts a class</term><description> Who needs it waits until all active silos have answered, for at most
/// <see cref="AskLimit"/> (<see cref="SettleAsync"/>), then gets an error that names the silos.</description></item>
/// <item><term>the silo leaves the view</term><description> Its manifest is dropped.</description></item>
/// <item><term>the node stops</term><description> The tasks end with the background work.</description></item>
/// </list>
/// </remarks>
internal sealed class ClusterManifests
{
    /// <summary>Time limit for the answer of a silo.</summary>
    internal static readonly TimeSpan AskLimit = TimeSpan.FromSeconds(5);

    /// <summary>Between two questions to one silo.</summary>
    internal static readonly TimeSpan RetryPause = TimeSpan.FromSeconds(1);

    private readonly LocalNode _local;
    private readonly ClusterView _cluster;
    private readonly GrainClasses _classes;
    private readonly GrainFactory _factory;
    private readonly InterfaceVersions _versions;
    private readonly BackgroundPart _work;
    private readonly Lock _gate = new();
    private readonly HashSet<SiloAddress> _asking = [];
    private volatile KnownManifests _known;
    private volatile TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal ClusterManifests(LocalNode local, ClusterView cluster, GrainClasses classes, GrainFactory factory)
    {
        _versions = new InterfaceVersions(local.Services);
        _local = local;
        _cluster = cluster;
        _classes = classes;
        _factory = factory;
        _work = local.Background.Part("manifests");
        _known = new KnownManifests(classes, _versions, [], FrozenDictionary<SiloAddress, HostedTypes>.Empty);
    }

    /// <summary>Decides which versions go together.</summary>
    internal InterfaceVersions Versions => _versions;

    /// <summary>What is known now. Immutable.</summary>
    internal KnownManifests Known => _known;

    /// <summary>Completes with the next change of <see cref="Known"/>.</summary>
    internal Task Changed => _changed.Task;

    /// <summary>What this silo hosts. Set before the silo opens its network.</summary>
    internal SiloManifest Own { get; private set; } = new();

    /// <summary>Sets the manifest of this silo.</summary>
    internal void Open(SiloManifest own)
    {
        Own = own;
        SetManifest(_local.Address, own);
    }

    /// <summary>The strategies of versions have changed: what was found with the old ones is forgotten.</summary>
    internal void OnVersionsChanged()
    {
        lock (_gate)
            Publish(_known.Manifests);
    }

    /// <summary>What a client knows: of each silo, the versions that are the same on all.</summary>
    internal void TakeAsClient(GrainTypesReply reply)
    {
        lock (_gate)
        {
            if (_known.Manifests.Count == reply.Silos.Length && Array.TrueForAll(reply.Silos, _known.Manifests.ContainsKey)
                && (reply.Silos.Length == 0
                    || _known.Manifests[reply.Silos[0]].Manifest.Interfaces.AsSpan().SequenceEqual(reply.Common)))
            {
                return;
            }

            var types = new HostedTypes(new SiloManifest { Interfaces = reply.Common });
            _known = new KnownManifests(_classes, _versions, [], reply.Silos.Distinct().ToFrozenDictionary(silo => silo, _ => types));
        }
    }

    /// <summary>The view has changed: drops the manifests of silos that are gone, and asks new ones for theirs.</summary>
    internal void OnView(View view)
    {
        List<SiloAddress> asked = [];
        lock (_gate)
        {
            var manifests = _known.Manifests.Where(pair => pair.Key.Equals(_local.Address) || IsMember(view, pair.Key))
                .ToFrozenDictionary();
            foreach (var member in view.Members)
            {
                if (IsMember(view, member.Silo) && !manifests.ContainsKey(member.Silo) && !member.Silo.Equals(_local.Address)
                    && _asking.Add(member.Silo))
                {
                    asked.Add(member.Silo);
                }
            }

            Publish(manifests);
        }

        foreach (var silo in asked)
            _work.Run(stopping => AskAsync(silo, stopping));
    }

    /// <summary>
    /// Waits until the manifests of all active silos are known, at most for <see cref="AskLimit"/>. True if they are.
    /// </summary>
    internal async Task<bool> SettleAsync(CancellationToken cancellationToken)
    {
        var began = _local.Clock.Update();
        while (true)
        {
            var changed = _changed.Task;
            if (_known.Unknown.Length == 0)
                return true;
            var left = AskLimit - TimeSpan.FromMilliseconds(_local.Clock.Update() - began);
            if (left <= TimeSpan.Zero)
                return false;
            await changed.WaitAsync(left, _local.TaskTime, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }

    private static bool IsMember(View view, SiloAddress silo) => view.StatusOf(silo) is not (SiloStatus.None or SiloStatus.Dead);

    private async Task AskAsync(SiloAddress silo, CancellationToken stopping)
    {
        var failed = false;
        while (!stopping.IsCancellationRequested && IsMember(_cluster.View, silo))
        {
            try
            {
                var question = _factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).GetManifest().AsTask();
                SetManifest(silo, await question.WaitAsync(AskLimit, _local.TaskTime, stopping).ConfigureAwait(false));
                break;
            }
            catch (Exception exception) when (exception is not OperationCanceledException)
            {
                if (!failed)
                    _local.Log.ManifestMissing(silo, exception);
                failed = true;
            }

            await Task.Delay(RetryPause, _local.TaskTime, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        lock (_gate)
            _asking.Remove(silo);
        // It may have been listed again after it was dropped.
        if (!stopping.IsCancellationRequested && IsMember(_cluster.View, silo) && !_known.Manifests.ContainsKey(silo))
            OnView(_cluster.View);
    }

    private void SetManifest(SiloAddress silo, SiloManifest manifest)
    {
        lock (_gate)
        {
            if (!silo.Equals(_local.Address) && !IsMember(_cluster.View, silo))
                return;
            var manifests = new Dictionary<SiloAddress, HostedTypes>(_known.Manifests) { [silo] = new HostedTypes(manifest) };
            Publish(manifests.ToFrozenDictionary());
        }
    }

    private void Publish(FrozenDictionary<SiloAddress, HostedTypes> manifests)
    {
        Invariant.Held(_gate);
        var active = _cluster.Active;
        _classes.SetKnown(manifests.OrderBy(static pair => pair.Key, SiloOrder.Instance)
            .SelectMany(static pair => pair.Value.Manifest.Grains));
        _known = new KnownManifests(_classes, _versions, active, manifests);
        var changed = _changed;
        _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        changed.TrySetResult();
    }
}

/// <summary>A manifest, with its entries by name. Immutable.</summary>
internal sealed class HostedTypes(SiloManifest manifest)
{
    private readonly FrozenDictionary<string, GrainTypeEntry> _grains =
        manifest.Grains.DistinctBy(static entry => entry.GrainType)
            .ToFrozenDictionary(static entry => entry.GrainType, StringComparer.Ordinal);
    private readonly FrozenDictionary<string, ushort> _versions =
        manifest.Interfaces.DistinctBy(static entry => entry.Name)
            .ToFrozenDictionary(static entry => entry.Name, static entry => entry.Version, StringComparer.Ordinal);

    internal SiloManifest Manifest => manifest;

    internal SiloMetadata Metadata { get; } = manifest.Metadata.Count == 0
        ? SiloMetadata.Empty
        : new SiloMetadata { Metadata = manifest.Metadata.ToImmutableDictionary() };

    /// <summary>The class of the grain type, which has no type arguments here.</summary>
    internal bool TryGetGrain(string grainType, [NotNullWhen(true)] out GrainTypeEntry? entry) =>
        _grains.TryGetValue(grainType, out entry);

    internal bool HostsSameAs(HostedTypes other) =>
        _grains.Count == other._grains.Count && _grains.Keys.All(other._grains.ContainsKey);

    internal bool HasVersions { get; } = Array.Exists(manifest.Interfaces, static entry => entry.Version > 0);

    /// <summary>The version of an interface; 0 if it has none.</summary>
    internal ushort VersionOf(string interfaceName) => _versions.GetValueOrDefault(WithoutArguments(interfaceName));

    /// <summary>Whether the class of a grain type implements the interface here.</summary>
    internal bool Implements(string grainType, string interfaceName) =>
        _grains.TryGetValue(grainType, out var entry) && Array.IndexOf(entry.Interfaces, WithoutArguments(interfaceName)) >= 0;

    /// <summary>The name of an interface without the type arguments of a constructed one.</summary>
    internal static string WithoutArguments(string interfaceName) =>
        interfaceName.IndexOf('<', StringComparison.Ordinal) is > 0 and var end ? interfaceName[..end] : interfaceName;
}

/// <summary>The manifests as known at one time, and what follows from them. Any thread: immutable except for a cache.</summary>
/// <param name="classes">Makes the strategies of grain types.</param>
/// <param name="versions">Decides which versions go together.</param>
/// <param name="active">The active silos of the view, shared with it.</param>
/// <param name="manifests">The known manifests of the view's silos; not only active ones.</param>
internal sealed class KnownManifests(
    GrainClasses classes, InterfaceVersions versions, SiloAddress[] active, FrozenDictionary<SiloAddress, HostedTypes> manifests)
{
    /// <summary>By the grain type without type arguments, so that peers cannot fill it: only hosted types are stored.</summary>
    private readonly ConcurrentDictionary<GrainType, GrainHosts> _hosts = new();

    internal FrozenDictionary<SiloAddress, HostedTypes> Manifests => manifests;

    /// <summary>The active silos.</summary>
    internal SiloAddress[] Active => active;

    /// <summary>The active silos that have not answered yet.</summary>
    internal SiloAddress[] Unknown { get; } = [.. active.Where(silo => !manifests.ContainsKey(silo))];

    /// <summary>Some interface has a version somewhere.</summary>
    internal bool HasVersions { get; } = manifests.Values.Any(static types => types.HasVersions);

    /// <summary>What a client needs to know.</summary>
    internal GrainTypesReply ForClients(GrainTypeEntry[] entries)
    {
        InterfaceEntry[] common = manifests.Count == 0 ? [] : [.. manifests.Values[0].Manifest.Interfaces
            .Where(entry => entry.Version > 0 && AllHave(entry.Name, entry.Version))];
        return new GrainTypesReply(entries, Unknown.Length == 0, [.. manifests.Keys], common);
    }

    /// <summary>Whether all known silos have this version of the interface.</summary>
    internal bool AllHave(string interfaceName, ushort version) =>
        manifests.Values.All(types => types.VersionOf(interfaceName) == version);

    /// <summary>All active silos host the same classes.</summary>
    internal bool AreAlike { get; } = active.Length == 0 || (manifests.TryGetValue(active[0], out var first)
        && Array.TrueForAll(active, silo => manifests.TryGetValue(silo, out var types) && types.HostsSameAs(first)));

    /// <summary>The silos that host the grain type; null if no known silo does.</summary>
    internal GrainHosts? HostsOf(GrainType grainType)
    {
        var definition = grainType.AsSpan().IndexOf("[["u8) < 0
            ? grainType
            : GrainType.Create(GrainClasses.WithoutArguments(grainType.ToString()!));
        return _hosts.TryGetValue(definition, out var found) ? found : FindHosts(definition);
    }

    /// <summary>The version of the interface on a silo; 0 if it has none there or the manifest is not known.</summary>
    internal ushort VersionOf(SiloAddress silo, string? interfaceName) =>
        interfaceName is not null && manifests.TryGetValue(silo, out var types) ? types.VersionOf(interfaceName) : (ushort)0;

    /// <summary>Whether the silo is known to host the grain type.</summary>
    internal bool Hosts(SiloAddress silo, GrainType grainType) => HostsOf(grainType) is { } hosts && hosts.Contains(silo);

    private GrainHosts? FindHosts(GrainType definition)
    {
        var name = definition.ToString()!;
        GrainTypeEntry? entry = null;
        List<SiloAddress> silos = [];
        foreach (var silo in active)
        {
            if (!manifests.TryGetValue(silo, out var types) || !types.TryGetGrain(name, out var found))
                continue;
            silos.Add(silo);
            entry ??= found;
        }

        if (entry is null)
            return null;
        // The same array for all classes that all silos host.
        var hosting = silos.Count == active.Length ? active : silos.ToArray();
        var filters = classes.FiltersOf(entry, out var isKnown);
        var placement = classes.PlacementOf(definition, entry);
        // Workers are chosen without a strategy.
        var chosenHere = isKnown || placement is { IsUsingGrainDirectory: false } ? placement : null;
        return _hosts.GetOrAdd(definition, new GrainHosts(this, versions, entry, hosting, chosenHere, filters));
    }
}

/// <summary>
/// The active silos that host one grain type, and how one of them is chosen. Any thread: immutable except for a cache.
/// </summary>
/// <param name="known">The manifests.</param>
/// <param name="versions">Decides which versions go together.</param>
/// <param name="entry">The class, as the first of them describes it.</param>
/// <param name="silos">The silos in the order of the view; not empty; must not be modified.</param>
/// <param name="placement">The strategy; null if this silo does not have the class of the strategy or of a filter.</param>
/// <param name="filters">The placement filters; null for none.</param>
internal sealed class GrainHosts(
    KnownManifests known, InterfaceVersions versions, GrainTypeEntry entry, SiloAddress[] silos, PlacementStrategy? placement,
    PlacementFilters? filters)
{
    /// <summary>Interfaces and versions come from the wire: what is above this number is computed each time.</summary>
    private const int MaxCached = 256;

    private readonly ConcurrentDictionary<CalledAs, SiloAddress[]> _suitable = new();

    /// <summary>On all these silos, the class has the same interfaces.</summary>
    private readonly bool _isUniform = Array.TrueForAll(silos, silo =>
        known.Manifests[silo].TryGetGrain(entry.GrainType, out var there) && there.Interfaces.AsSpan().SequenceEqual(entry.Interfaces));

    internal GrainTypeEntry Entry => entry;

    internal SiloAddress[] Silos => silos;

    internal PlacementStrategy? Placement => placement;

    internal PlacementFilters? Filters => filters;

    /// <summary>The grains are stateless workers: on any of the silos, and not in the directory.</summary>
    internal bool AreWorkers => placement is { IsUsingGrainDirectory: false };

    internal bool Contains(SiloAddress silo) => Array.IndexOf(silos, silo) >= 0;

    /// <summary>The silos that can serve a call through an interface of a version. Shared; may be empty.</summary>
    internal SiloAddress[] Suitable(in CalledAs called)
    {
        if (called.Interface is not { } name || (called.Version == 0 && _isUniform))
            return silos;
        if (_suitable.TryGetValue(called, out var found))
            return found;
        var suitable = Select(name, called.Version);
        // Without a silo the call fails, and the next one asks again: a selector of the application may have been wrong.
        return suitable.Length == 0 || _suitable.Count >= MaxCached ? suitable : _suitable.GetOrAdd(called, suitable);
    }

    private SiloAddress[] Select(string name, ushort version)
    {
        var implementing = Array.FindAll(silos, silo => known.Manifests[silo].Implements(entry.GrainType, name));
        // Such as an extension, which is not an interface of the class.
        if (implementing.Length == 0)
            implementing = silos;
        if (version == 0)
            return implementing.Length == silos.Length ? silos : implementing;
        ushort[] available = [.. implementing.Select(silo => known.VersionOf(silo, name)).Distinct().Order()];
        var selected = versions.Select(name, version, available);
        var suitable = Array.FindAll(implementing, silo => Array.IndexOf(selected, known.VersionOf(silo, name)) >= 0);
        return suitable.Length == silos.Length ? silos : suitable;
    }
}
