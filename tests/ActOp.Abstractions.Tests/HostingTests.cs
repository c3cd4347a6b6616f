using System.Net;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Runtime;

namespace ActOp.Abstractions.Tests;

public class HostingTests
{
    private readonly Builder _builder = new();

    [Fact]
    public void Endpoints_are_advertised_and_listened_on_as_configured()
    {
        ((ISiloBuilder)_builder).ConfigureEndpoints("127.0.0.1", 1, 2, listenOnAnyHostAddress: true);
        var options = Options<EndpointOptions>();
        Assert.Equal(IPAddress.Loopback, options.AdvertisedIPAddress);
        Assert.Equal((1, 2), (options.SiloPort, options.GatewayPort));
        Assert.Equal(new IPEndPoint(IPAddress.Any, 1), options.SiloListeningEndpoint);
        Assert.Equal(new IPEndPoint(IPAddress.Any, 2), options.GatewayListeningEndpoint);
    }

    [Fact]
    public void An_address_that_nobody_can_connect_to_is_not_advertised() =>
        Assert.Throws<ArgumentException>(() => new EndpointOptions { AdvertisedIPAddress = IPAddress.Any });

    [Fact]
    public void A_client_gets_the_silos_of_this_machine()
    {
        ((IClientBuilder)_builder).UseLocalhostClustering([1, 2]);
        Assert.Equal(["gwy.tcp://127.0.0.1:1/0", "gwy.tcp://127.0.0.1:2/0"],
            Options<StaticGatewayListProviderOptions>().Gateways.Select(uri => uri.ToString()));
        Assert.Equal("dev", Options<ClusterOptions>().ClusterId);
    }

    [Fact]
    public void Filters_are_found_in_the_order_in_which_they_were_added()
    {
        var order = new List<int>();
        ((ISiloBuilder)_builder)
            .AddIncomingGrainCallFilter(_ => Note(1))
            .AddIncomingGrainCallFilter(_ => Note(2));
        foreach (var filter in _builder.Services.BuildServiceProvider().GetServices<IIncomingGrainCallFilter>())
            filter.Invoke(null!);
        Assert.Equal([1, 2], order);

        Task Note(int number)
        {
            order.Add(number);
            return Task.CompletedTask;
        }
    }

    [Fact]
    public async Task A_startup_task_runs_at_its_stage()
    {
        var ran = 0;
        ((ISiloBuilder)_builder).AddStartupTask((_, _) => Task.FromResult(ran++), 5);
        var lifecycle = new Lifecycle();
        _builder.Services.BuildServiceProvider().GetServices<ILifecycleParticipant<ISiloLifecycle>>().Single().Participate(lifecycle);
        var (stage, observer) = Assert.Single(lifecycle.Joined);
        await observer.OnStart(TestContext.Current.CancellationToken);
        Assert.Equal((5, 1), (stage, ran));
    }

    private TOptions Options<TOptions>()
        where TOptions : class => _builder.Services.BuildServiceProvider().GetRequiredService<IOptions<TOptions>>().Value;

    private sealed class Builder : ISiloBuilder, IClientBuilder
    {
        public IConfiguration Configuration { get; } = new ConfigurationBuilder().Build();

        public IServiceCollection Services { get; } = new ServiceCollection();
    }

    private sealed class Lifecycle : ISiloLifecycle, IDisposable
    {
        internal List<(int Stage, ILifecycleObserver Observer)> Joined { get; } = [];

        public int HighestCompletedStage => 0;

        public int LowestStoppedStage => 0;

        public IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer)
        {
            Joined.Add((stage, observer));
            return this;
        }

        public void Dispose()
        {
        }
    }
}
