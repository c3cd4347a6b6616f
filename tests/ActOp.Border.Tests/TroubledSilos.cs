using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.GrainDirectory;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime.Hosting;
using Orleans.Runtime.Placement;
using Orleans.Storage;

namespace ActOp.Border.Tests;

/// <summary>Two silos and a client, with one callback of each kind that does wrong when a test plans it.</summary>
public sealed class TroubledSilos() : ClusterFixture(2)
{
    /// <summary>Limits of what hangs; long enough for a slow machine to do what does not hang.</summary>
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Response = TimeSpan.FromSeconds(3);

    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        silo.Configure<SiloMessagingOptions>(static options => options.ResponseTimeout = Response);
        silo.Configure<GrainCollectionOptions>(
            static options => options.ActivationTimeout = options.DeactivationTimeout = Limit);
        silo.AddIncomingGrainCallFilter<Incoming>().AddOutgoingGrainCallFilter<Outgoing>();
        silo.AddPlacementDirector<BorderPlacement, Director>();
        silo.Services.AddPlacementFilter<BorderFilter, FilterDirector>(ServiceLifetime.Singleton);
        silo.Services.AddSingleton<IConfigureGrainTypeComponents, Components>();
        silo.Services.AddGrainStorage("border", static (_, _) => new Storage());
        silo.AddGrainDirectory("border", static (_, _) => Listing.Instance);
    }

    protected override void ConfigureClient(IClientBuilder client)
    {
        client.Configure<ClientMessagingOptions>(static options => options.ResponseTimeout = Response);
        client.AddOutgoingGrainCallFilter<Outgoing>();
    }

    private static bool IsOfSuite(IGrainCallContext context) => context.InterfaceMethod.DeclaringType == typeof(ITrouble);

    private sealed class Incoming : IIncomingGrainCallFilter
    {
        public Task Invoke(IIncomingGrainCallContext context) =>
            IsOfSuite(context) ? Filters.Invoke("incoming filter", context) : context.Invoke();
    }

    private sealed class Outgoing : IOutgoingGrainCallFilter
    {
        public Task Invoke(IOutgoingGrainCallContext context) =>
            IsOfSuite(context) ? Filters.Invoke("outgoing filter", context) : context.Invoke();
    }

    private static class Filters
    {
        internal static Task Invoke(string name, IGrainCallContext context) =>
            Mischief.DeedOf(name) is Deed.ReturnsNull ? null! : InvokeAsync(name, Mischief.DeedOf(name), context);

        private static async Task InvokeAsync(string name, Deed? deed, IGrainCallContext context)
        {
            if (deed is Deed.DoesNothing)
                return;
            if (deed is Deed.ReturnsForeign)
                context.Result = new object();
            else
                await context.Invoke();
            if (deed is Deed.ActsTwice)
                await context.Invoke();
            await Mischief.ActAsync(name);
        }
    }

    private sealed class Director : IPlacementDirector
    {
        public Task<SiloAddress> OnAddActivation(PlacementStrategy strategy, PlacementTarget target, IPlacementContext context) =>
            Mischief.ActAsync("placement director", () => context.GetCompatibleSilos(target).Min()!, Foreign);
    }

    private sealed class FilterDirector : IPlacementFilterDirector
    {
        public IEnumerable<SiloAddress> Filter(
            PlacementFilterStrategy filterStrategy, PlacementTarget target, IEnumerable<SiloAddress> silos)
        {
            Mischief.Act("placement filter");
            return Mischief.DeedOf("placement filter") switch
            {
                Deed.ReturnsNull => null!,
                Deed.ReturnsForeign => [Foreign()],
                Deed.DoesNothing => [],
                Deed.ActsTwice => silos.Concat(silos),
                _ => silos,
            };
        }
    }

    private static SiloAddress Foreign() => SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1);

    private sealed class Components(GrainClassMap classes) : IConfigureGrainTypeComponents
    {
        public void Configure(GrainType grainType, GrainProperties properties, GrainTypeSharedContext shared)
        {
            if (classes.TryGetGrainClass(grainType, out var type) && type == typeof(BorderMade))
                shared.SetComponent<IGrainActivator>(new Maker());
        }
    }

    private sealed class Maker : IGrainActivator
    {
        public object CreateInstance(IGrainContext context)
        {
            Mischief.Act("grain activator");
            return Mischief.DeedOf("grain activator") switch
            {
                Deed.ReturnsNull => null!,
                Deed.ReturnsForeign => new object(),
                _ => new BorderMade(),
            };
        }

        public ValueTask DisposeInstance(IGrainContext context, object instance) => new(Mischief.ActAsync("disposal by the activator"));
    }

    private sealed class Storage : IGrainStorage
    {
        public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Mischief.ActAsync("storage read");

        public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Mischief.ActAsync("storage write");

        public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => Mischief.ActAsync("storage clear");
    }

    private sealed class Listing : IGrainDirectory
    {
        internal static readonly Listing Instance = new();

        private readonly ConcurrentDictionary<GrainId, GrainAddress> _entries = new();

        public Task<GrainAddress?> Register(GrainAddress address) =>
            Mischief.ActAsync<GrainAddress?>("directory registration", () => _entries.GetOrAdd(address.GrainId, address));

        public Task Unregister(GrainAddress address)
        {
            _entries.TryRemove(address.GrainId, out _);
            return Mischief.ActAsync("directory removal");
        }

        public Task<GrainAddress?> Lookup(GrainId grainId) => Mischief.ActAsync(
            "directory lookup", () => _entries.GetValueOrDefault(grainId), () => new GrainAddress
            {
                GrainId = grainId,
                ActivationId = ActivationId.NewId(),
                SiloAddress = Foreign(),
            });

        public Task UnregisterSilos(List<SiloAddress> siloAddresses) => Task.CompletedTask;
    }
}

public sealed class BorderPlacement : PlacementStrategy;

[AttributeUsage(AttributeTargets.Class)]
public sealed class BorderPlacementAttribute() : PlacementAttribute(new BorderPlacement());

public sealed class BorderFilter(int order) : PlacementFilterStrategy(order)
{
    public BorderFilter()
        : this(0)
    {
    }
}

[AttributeUsage(AttributeTargets.Class)]
public sealed class BorderFilterAttribute() : PlacementFilterAttribute(new BorderFilter());
