using Microsoft.Extensions.DependencyInjection;
using Orleans.Placement;
using Orleans.Providers;
using Orleans.Runtime.Hosting;
using Orleans.Streams;
using Orleans.TestingHost;

[assembly: AssemblyFixture(typeof(DropIn.CommonCluster))]

namespace DropIn;

/// <summary>Two silos and a client, with a provider of each kind: what most of the tests use.</summary>
public sealed class CommonCluster : IAsyncLifetime
{
    public InProcessTestCluster Cluster { get; private set; } = null!;

    public IClusterClient Client => Cluster.Client;

    public async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo(static (_, silo) => silo
            .AddMemoryGrainStorageAsDefault()
            .AddMemoryGrainStorage("second")
            .AddMemoryGrainStorage(ProviderConstants.DEFAULT_PUBSUB_PROVIDER_NAME)
            .AddMemoryStreams("streams")
            .AddMemoryStreams("early", static streams => streams.ConfigurePullingAgent(static agent => agent.Configure(static options =>
                options.InitialSubscriptionStartPosition = StreamSubscriptionStartPosition.EarliestAvailable)))
            .AddBroadcastChannel("channels", static options => options.FireAndForgetDelivery = false)
            .UseInMemoryReminderService()
            .AddPlacementDirector<LastSiloPlacement, LastSiloDirector>()
            .AddGrainService<CounterService>()
            .AddGrainExtension<INotes, NotesExtension>()
            .ConfigureServices(static services => services
                .AddPlacementFilter<FirstSiloFilterStrategy, FirstSiloFilterDirector>(ServiceLifetime.Singleton)
                .AddSingleton<ICounterClient, CounterClient>()
                .AddSingleton<HookCounter>()
                .AddGrainStorage("own", static (_, _) => new OwnStorage())
                .Configure<ReminderOptions>(static options => options.MinimumReminderPeriod = TimeSpan.FromMilliseconds(50))));
        builder.ConfigureClient(static client => client
            .AddMemoryStreams("streams")
            .AddMemoryStreams("early")
            .AddBroadcastChannel("channels", static options => options.FireAndForgetDelivery = false));
        Cluster = builder.Build();
        await Cluster.DeployAsync();
    }

    public async ValueTask DisposeAsync() => await Cluster.DisposeAsync();

    public IServiceProvider ServicesOf(int silo) => Cluster.Silos[silo].ServiceProvider;

    public SiloAddress AddressOf(int silo) => Cluster.Silos[silo].SiloAddress;

    /// <summary>Calls a grain from within a silo.</summary>
    public IGrainFactory FactoryOf(int silo) => ServicesOf(silo).GetRequiredService<IGrainFactory>();
}
