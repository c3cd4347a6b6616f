using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Serialization;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Runtime.Placement;

/// <summary>
/// Finds a grain in the directory. If it is not registered, chooses a silo for it among those that host its class. Any thread.
/// </summary>
internal sealed class GrainPlacement(
    LocalNode local, ClusterView cluster, ClusterManifests manifests, LocationCache locations, PlacementHints hints,
    DirectoryClient directory, GrainFactory factory, double? balance)
{
    /// <summary>What the silos use, as far as is known; set before the start.</summary>
    internal Func<SiloUses> Uses { get; set; } = static () => SiloUses.None;

    private readonly ConcurrentDictionary<Wanted, Task<(SiloAddress Silo, bool IsNew)>> _lookups = new();
    private readonly ConcurrentDictionary<Type, OwnDirector?> _ownDirectors = new();
    private readonly ConcurrentDictionary<Type, IPlacementDirector> _directors = new();
    private readonly ApplicationPlacement _application = new(local);
    private readonly BackgroundPart _answers = local.Background.Part("lookups of placement");

    /// <summary>
    /// The silo of the grain, and whether it was chosen just now and does not have the grain yet. Concurrent callers share one lookup if
    /// they call through the same interface and version with the same hint; else each gets an own choice, and the directory registers one.
    /// The choice belongs to the trace of the first of them.
    /// </summary>
    internal Task<(SiloAddress Silo, bool IsNew)> LocateAsync(
        GrainId grain, in CalledAs called, RequestContextData? context, object? trace = null)
    {
        var wanted = new Wanted(grain, called, HintOf(context));
        if (_lookups.TryGetValue(wanted, out var running))
            return running;
        var source = new TaskCompletionSource<(SiloAddress, bool)>(TaskCreationOptions.RunContinuationsAsynchronously);
        running = _lookups.GetOrAdd(wanted, source.Task);
        if (ReferenceEquals(running, source.Task))
            _answers.Follow(AnswerAsync(wanted, context, trace, source));
        return running;
    }

    /// <summary>
    /// The synchronous result of <see cref="LocateAsync"/>, if no wait is needed: this silo serves the grain's slot, no such lookup of the
    /// grain is under way, and the director is built in. Two concurrent callers may choose different silos for a new grain; the directory
    /// then registers one of them.
    /// </summary>
    internal bool TryLocate(
        GrainId grain, in CalledAs called, RequestContextData? context, object? trace, [NotNullWhen(true)] out SiloAddress? silo,
        out bool isNew)
    {
        (silo, isNew) = (null, false);
        if (_lookups.ContainsKey(new Wanted(grain, called, HintOf(context))) || !directory.TryLookup(grain, out var location))
            return false;
        isNew = location.IsNone;
        if (isNew && !TryPlace(grain, called, context, trace, out location))
            return false;
        silo = location.Silo;
        // A grain of this silo is in the table of activations.
        if (!silo.Equals(local.Address))
            locations.SetLocation(grain, location, replaces: isNew);
        return true;
    }

    /// <summary>Whether the grains of a type are stateless workers.</summary>
    internal bool AreWorkers(GrainType type) => manifests.Known.HostsOf(type) is { AreWorkers: true };

    /// <summary>The directory lists an activation of this silo that is gone.</summary>
    internal Task ForgetHereAsync(GrainId grain) => directory.ForgetHereAsync(grain);

    private bool TryPlace(GrainId grain, in CalledAs called, RequestContextData? context, object? trace, out Location location)
    {
        location = default;
        if (manifests.Known.HostsOf(grain.Type) is not { Placement: { } strategy, Filters: null } hosts
            || OwnDirectorOf(strategy) is not { } director)
        {
            return false;
        }

        var silos = Compatible(hosts, called);
        if (silos.Length == 0)
            return false;
        using var span = new GrainSpan(GrainSpans.Placing(grain, local.Address, trace));
        var silo = TakeHint(grain, silos)
            ?? IPlacementDirector.GetPlacementHint(context?.Values, silos) ?? director.Choose(grain, silos, local.Address);
        location = new Location(silo, default, 0);
        return true;
    }

    /// <summary>The silos that may get the grain. Shared; must not be modified. Without this silo once it is stopping.</summary>
    private SiloAddress[] Compatible(GrainHosts hosts, in CalledAs called)
    {
        var silos = hosts.Suitable(called);
        return local.IsStopping && Array.IndexOf(silos, local.Address) >= 0 ? [.. silos.Where(silo => !silo.Equals(local.Address))] : silos;
    }

    private SiloAddress? TakeHint(GrainId grain, SiloAddress[] silos) =>
        hints.TryTake(grain, out var hint) && Array.IndexOf(silos, hint) >= 0 ? hint : null;

    /// <summary>A silo for a grain, by the placement strategy of its class; a hint in the request context wins.</summary>
    /// <remarks>
    /// Code of the application runs by <see cref="ApplicationPlacement"/>, and the caller gets what it throws: the thread may be one that
    /// reads what others send, or the turn of a grain.
    /// </remarks>
    /// <returns>The silo, and whether it must activate the grain; otherwise it chooses a silo itself.</returns>
    /// <exception cref="OrleansException">No silo hosts the class, or a director or filter of the application hangs or answers
    /// wrongly.</exception>
    internal async Task<(SiloAddress Silo, bool IsChosen)> PlaceAsync(
        GrainId grain, CalledAs called, RequestContextData? context, SiloAddress? expected = null, object? trace = null)
    {
        using var span = new GrainSpan(GrainSpans.Placing(grain, local.Address, trace));
        try
        {
            return await PlaceByStrategyAsync(grain, called, context, expected).ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            span.Fail(exception);
            throw;
        }
    }

    private async Task<(SiloAddress Silo, bool IsChosen)> PlaceByStrategyAsync(
        GrainId grain, CalledAs called, RequestContextData? context, SiloAddress? expected)
    {
        var hosts = await FindHostsAsync(grain, called).ConfigureAwait(false);
        var target = new PlacementTarget(
            grain, context?.Values ?? [], called.Interface is { } name ? GrainInterfaceType.Create(name) : default, called.Version);
        var own = hosts.Placement is { } strategy ? OwnDirectorOf(strategy) : null;
        if (hosts.Filters is not (null or { AreBuiltIn: true }) || (own is null && hosts.Placement is not null))
        {
            return await _application.RunAsync(
                hosts.Entry.GrainType, grain, () => ChooseAsync(hosts, target, called, expected)).ConfigureAwait(false);
        }

        var silos = Filtered(hosts, target, Compatible(hosts, called), called);
        return Foreseen(target, silos, expected) is { } foreseen ? (foreseen, true)
            : own is not null ? (own.Choose(grain, silos, local.Address), true)
            : LetChoose(hosts, grain, silos);
    }

    /// <summary>A choice with code of the application. On a thread of <see cref="ApplicationPlacement"/>.</summary>
    private async Task<(SiloAddress Silo, bool IsChosen)> ChooseAsync(
        GrainHosts hosts, PlacementTarget target, CalledAs called, SiloAddress? expected)
    {
        var silos = Filtered(hosts, target, Compatible(hosts, called), called);
        if (Foreseen(target, silos, expected) is { } foreseen)
            return (foreseen, true);
        if (hosts.Placement is not { } strategy)
            return LetChoose(hosts, target.GrainIdentity, silos);
        var director = DirectorOf(strategy);
        if (director is OwnDirector own)
            return (own.Choose(target.GrainIdentity, silos, local.Address), true);
        var choice = director.OnAddActivation(strategy, target, new PlacementContext(cluster, local.Address, manifests.Known, this));
        var chosen = choice is null ? null : await choice.ConfigureAwait(false);
        // While it chose, silos may have come.
        return chosen is not null && (Array.IndexOf(silos, chosen) >= 0 || Array.IndexOf(FilteredSilos(target, called), chosen) >= 0)
            ? (chosen, true)
            : throw new OrleansException("The placement director " + director.GetType() + " chose " + (chosen?.ToString() ?? "nothing")
                + " for " + target.GrainIdentity + ", which cannot run it. " + Describe(target.GrainIdentity, called));
    }

    /// <summary>The strategy or a filter is one of the application that only the silos of the class have: one of them chooses.</summary>
    private (SiloAddress Silo, bool IsChosen) LetChoose(GrainHosts hosts, GrainId grain, SiloAddress[] silos) =>
        !hosts.Contains(local.Address) ? (silos[local.Random.Next(silos.Length)], false)
            : throw new OrleansException("A placement filter of the grain type " + grain.Type
                + " is not registered: add it with AddPlacementFilter.");

    /// <summary>The silo that a move or the request context names, if it is one of those that may get the grain.</summary>
    private static SiloAddress? Foreseen(PlacementTarget target, SiloAddress[] silos, SiloAddress? expected) =>
        expected is not null && Array.IndexOf(silos, expected) >= 0 ? expected
            : IPlacementDirector.GetPlacementHint(target.RequestContextData, silos);

    private static SiloAddress? HintOf(RequestContextData? context) =>
        context?.Values is { } values && values.TryGetValue(IPlacementDirector.PlacementHintKey, out var hint) ? hint as SiloAddress : null;

    /// <exception cref="OrleansException">The filters leave no silo, or one of them answers wrongly.</exception>
    /// <exception cref="InvalidOperationException">Two filters have the same order.</exception>
    private SiloAddress[] Filtered(GrainHosts hosts, PlacementTarget target, SiloAddress[] silos, in CalledAs called)
    {
        if (hosts.Filters is null)
            return silos;
        hosts.Filters.CheckOrder(target.GrainIdentity.Type);
        if (hosts.Filters.Apply(target, silos) is { Length: > 0 } left)
            return left;
        throw new OrleansException("The placement filters leave no silo for " + target.GrainIdentity + ". "
            + Describe(target.GrainIdentity, called));
    }

    /// <summary>As <see cref="CompatibleSilos"/>, without those that the placement filters leave out.</summary>
    internal SiloAddress[] FilteredSilos(PlacementTarget target, in CalledAs called) =>
        Filtered(manifests.Known.HostsOf(target.GrainIdentity.Type)!, target, CompatibleSilos(target.GrainIdentity, called), called);

    /// <summary>The silos that the grain may be placed on.</summary>
    /// <exception cref="OrleansException">There is none.</exception>
    internal SiloAddress[] CompatibleSilos(GrainId grain, in CalledAs called) =>
        manifests.Known.HostsOf(grain.Type) is { } hosts && Compatible(hosts, called) is { Length: > 0 } silos
            ? silos
            : throw NoHost(grain, called);

    /// <summary>Waits for missing manifests only if no known silo can run the grain.</summary>
    private async ValueTask<GrainHosts> FindHostsAsync(GrainId grain, CalledAs called)
    {
        while (true)
        {
            var known = manifests.Known;
            if (known.HostsOf(grain.Type) is { } hosts && Compatible(hosts, called).Length > 0)
                return hosts;
            if (known.Unknown.Length == 0 && ReferenceEquals(known, manifests.Known))
                throw NoHost(grain, called);
            if (!await manifests.SettleAsync(local.Background.Stopping).ConfigureAwait(false))
                throw NoHost(grain, called);
        }
    }

    /// <summary>A silo that stops is not among the silos that may get a grain, and may be the only one that hosts the class.</summary>
    private OrleansException NoHost(GrainId grain, in CalledAs called) =>
        local.IsStopping
            ? new SiloUnavailableException("This silo stops, and no other active silo can run " + grain + ". " + Describe(grain, called))
            : new OrleansException("No active silo can run " + grain + ". " + Describe(grain, called));

    /// <summary>What a reader needs to know why no silo, or another one, may run a grain.</summary>
    private string Describe(GrainId grain, in CalledAs called)
    {
        var known = manifests.Known;
        var hosts = known.HostsOf(grain.Type)?.Silos ?? [];
        return "Grain type " + grain.Type + (called.Interface is { } name ? ", called through " + name + " version " + called.Version : "")
            + "; hosted by " + List(hosts) + "; active silos: " + List(known.Active)
            + (known.Unknown.Length == 0 ? "." : ", of which these have not said what they host: " + List(known.Unknown) + ".");
    }

    private static string List(SiloAddress[] silos) => silos.Length == 0 ? "none" : string.Join(", ", silos.AsEnumerable());

    private async Task AnswerAsync(
        Wanted wanted, RequestContextData? context, object? trace, TaskCompletionSource<(SiloAddress, bool)> source)
    {
        var grain = wanted.Grain;
        try
        {
            var location = await directory.LookupAsync(grain).ConfigureAwait(false);
            var isNew = location.IsNone;
            if (isNew)
            {
                hints.TryTake(grain, out var expected);
                (var silo, isNew) = await PlaceAsync(grain, wanted.Called, context, expected, trace).ConfigureAwait(false);
                location = new Location(silo, default, 0);
            }

            locations.SetLocation(grain, location, replaces: location.Activation.IsDefault);
            _lookups.TryRemove(wanted, out _);
            source.SetResult((location.Silo, isNew));
        }
        catch (Exception exception)
        {
            _lookups.TryRemove(wanted, out _);
            source.SetException(exception);
        }
    }

    private ResourceOptimizedDirector NewResourceOptimizedDirector() => new(
        local.Random, () => Uses(), local.Services.GetRequiredService<IOptions<ResourceOptimizedPlacementOptions>>().Value, balance);

    /// <summary>The director of a strategy, if it is a built-in one that the application has not replaced. Runs no code of it.</summary>
    private OwnDirector? OwnDirectorOf(PlacementStrategy strategy) =>
        _ownDirectors.TryGetValue(strategy.GetType(), out var known) ? known : _ownDirectors.GetOrAdd(strategy.GetType(), FindOwnDirector);

    private OwnDirector? FindOwnDirector(Type strategy) =>
        local.Services.GetService<IServiceProviderIsKeyedService>() is { } services
            && !services.IsKeyedService(typeof(IPlacementDirector), strategy) ? NewOwnDirector(strategy) : null;

    private OwnDirector? NewOwnDirector(Type strategy) =>
        strategy == typeof(RandomPlacement) ? new RandomDirector(local.Random)
        : strategy == typeof(PreferLocalPlacement) ? new PreferLocalDirector(local.Random)
        : strategy == typeof(HashBasedPlacement) ? new HashBasedDirector()
        : strategy == typeof(ActivationCountBasedPlacement) ? new ActivationCountDirector(local, cluster, factory)
        : strategy == typeof(SiloRoleBasedPlacement) ? new SiloRoleDirector(local.Random, cluster)
        : strategy == typeof(ResourceOptimizedPlacement) ? NewResourceOptimizedDirector()
        : null;

    private IPlacementDirector DirectorOf(PlacementStrategy strategy) =>
        OwnDirectorOf(strategy)
            ?? (_directors.TryGetValue(strategy.GetType(), out var known) ? known : _directors.GetOrAdd(strategy.GetType(), FindDirector));

    private IPlacementDirector FindDirector(Type strategy) =>
        local.Services.GetKeyedService<IPlacementDirector>(strategy) ?? NewOwnDirector(strategy)
            ?? throw new OrleansConfigurationException("No placement director is registered for the strategy " + strategy
                + "; add one with AddPlacementDirector.");

    /// <summary>What a caller wants to know: the silo of a grain that can serve its call.</summary>
    private readonly record struct Wanted(GrainId Grain, CalledAs Called, SiloAddress? Hint)
    {
        /// <summary>Who looks for the same grain mostly wants the same.</summary>
        public override int GetHashCode() => Grain.GetHashCode();
    }
}

/// <summary>Through which interface a grain is called.</summary>
/// <param name="Interface">Its name; null if it is not known.</param>
/// <param name="Version">Its version at the caller; 0 if it has none.</param>
internal readonly record struct CalledAs(string? Interface, ushort Version)
{
    /// <summary>
    /// The interface of the caller's reference; for a request from the wire, what it names, or else the interface that declares the method:
    /// in the version of this process if a silo has sent it, without a version if a client has.
    /// </summary>
    internal static CalledAs FromCall(Call call, GrainClasses classes)
    {
        if (call.Reference is { } reference)
            return new CalledAs(reference.InterfaceName, reference.InterfaceVersion);
        var declaring = TypeManifest.TryGetInterface(call.Method.InterfaceType, out var found) ? found.Name : null;
        if (call.CalledThrough is { } through)
            return new CalledAs(through.Name ?? declaring, through.Version);
        var isFromClient = call is { Via: null, Remote: SiloAddress { IsClient: true } };
        return new CalledAs(declaring, declaring is null || isFromClient ? (ushort)0 : classes.VersionOf(declaring));
    }
}

/// <summary>The context of a placement director.</summary>
internal sealed class PlacementContext(ClusterView cluster, SiloAddress requester, KnownManifests known, GrainPlacement placement)
    : IPlacementContext
{
    public SiloAddress LocalSilo => requester;

    public SiloStatus LocalSiloStatus => cluster.View.StatusOf(requester);

    public SiloAddress[] GetCompatibleSilos(PlacementTarget target) =>
        [.. placement.FilteredSilos(target, CalledBy(target))];

    public IReadOnlyDictionary<ushort, SiloAddress[]> GetCompatibleSilosWithVersions(PlacementTarget target)
    {
        var called = CalledBy(target);
        return placement.FilteredSilos(target, called).GroupBy(silo => known.VersionOf(silo, called.Interface))
            .ToDictionary(static same => same.Key, static same => same.ToArray());
    }

    private static CalledAs CalledBy(PlacementTarget target) =>
        new(target.InterfaceType == default ? null : target.InterfaceType.ToString(), target.InterfaceVersion);
}

/// <summary>
/// Target silos of grains that were deactivated to move (paper section 4.3). Any thread. Bounded: when full, the oldest half is removed.
/// </summary>
internal sealed class PlacementHints
{
    /// <summary>More grains than several rounds move.</summary>
    private const int Capacity = 65_536;

    private readonly ConcurrentDictionary<GrainId, SiloAddress> _hints = new(GrainsByRandomHash.Instance);
    private readonly ConcurrentQueue<GrainId> _order = new();

    internal void SetHint(GrainId grain, SiloAddress silo)
    {
        _hints[grain] = silo;
        _order.Enqueue(grain);
        if (_order.Count <= Capacity)
            return;
        for (var i = 0; i < Capacity / 2 && _order.TryDequeue(out var oldest); i++)
            _hints.TryRemove(oldest, out _);
    }

    internal bool TryTake(GrainId grain, [NotNullWhen(true)] out SiloAddress? silo) => _hints.TryRemove(grain, out silo);
}
