using ActOp.TestClusters;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.CodeGeneration;
using Orleans.LeaseProviders;
using Orleans.Runtime.Development;
using Orleans.Runtime.Internal;
using Orleans.Serialization;

namespace ActOp.Surface.Tests;

/// <summary>Small parts of the API that stand for themselves.</summary>
public sealed class SmallPartTests
{
    [Fact]
    public async Task A_lease_has_one_holder_until_it_is_given_back_or_expires()
    {
        await using var cluster = await TestSilos.StartAsync(1, silo => silo.UseInMemoryLeaseProvider());
        var leases = cluster.Silos[0].ServiceProvider.GetRequiredService<ILeaseProvider>();
        var hour = TimeSpan.FromHours(1);
        var first = Assert.Single(await leases.Acquire("a", [new LeaseRequest("queue", hour)]));
        Assert.Equal((ResponseCode.OK, "queue", hour), (first.StatusCode, first.AcquiredLease!.ResourceKey, first.AcquiredLease.Duration));
        var both = await leases.Acquire("a", [new LeaseRequest("queue", hour), new LeaseRequest("other", TimeSpan.Zero)]);
        Assert.Equal([ResponseCode.LeaseNotAvailable, ResponseCode.OK], both.Select(static result => result.StatusCode));
        Assert.Equal(ResponseCode.OK, (await leases.Acquire("b", [new LeaseRequest("queue", hour)]))[0].StatusCode);
        Assert.Equal(ResponseCode.InvalidToken, (await leases.Renew("a", [both[1].AcquiredLease!]))[0].StatusCode);
        var renewed = Assert.Single(await leases.Renew("a", [first.AcquiredLease]));
        Assert.Equal(ResponseCode.InvalidToken, (await leases.Renew("a", [first.AcquiredLease]))[0].StatusCode);
        await leases.Release("a", [first.AcquiredLease]);
        Assert.Equal(ResponseCode.LeaseNotAvailable, (await leases.Acquire("a", [new LeaseRequest("queue", hour)]))[0].StatusCode);
        await leases.Release("a", [renewed.AcquiredLease!]);
        Assert.Equal(ResponseCode.OK, (await leases.Acquire("a", [new LeaseRequest("queue", hour)]))[0].StatusCode);
    }

    [Fact]
    public async Task Options_that_ask_for_it_are_logged_at_the_start_without_their_secrets()
    {
        using var log = new LogCapture();
        using var ports = new TestClusterPortAllocator();
        var (siloPort, gatewayPort) = ports.AllocateConsecutivePortPairs(1);
        var builder = Host.CreateApplicationBuilder();
        builder.Logging.ClearProviders().AddProvider(log);
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(siloPort, gatewayPort);
            silo.Services.Configure<StoreOptions>("green", static options => options.Connection = "Host=a;Password=secret1;User=b");
            silo.Services.ConfigureNamedOptionForLogging<StoreOptions>("green");
            silo.Services.ConfigureFormatter<StoreOptions, FailingFormatter>();
        });
        using var host = builder.Build();
        await host.StartAsync(TestContext.Current.CancellationToken);
        await host.StopAsync(TestContext.Current.CancellationToken);
        var lines = log.Lines(LogLevel.Information);
        var own = Assert.Single(lines, static line => line.Contains(nameof(StoreOptions) + "-green", StringComparison.Ordinal));
        Assert.Contains("Connection: Host=a;Password=REDACTED;User=b", own, StringComparison.Ordinal);
        Assert.Contains("Key: REDACTED", own, StringComparison.Ordinal);
        Assert.Contains("Size: 7", own, StringComparison.Ordinal);
        Assert.Contains(lines, static line => line.Contains(nameof(FailingFormatter), StringComparison.Ordinal));
        Assert.DoesNotContain(lines, static line => line.Contains("secret", StringComparison.Ordinal));
    }

    [Fact]
    public void The_values_of_the_request_context_can_be_taken_out_and_put_in()
    {
        using var services = new ServiceCollection().AddSerializer().BuildServiceProvider();
        var copier = services.GetRequiredService<DeepCopier>();
        RequestContext.Clear();
        Assert.Null(RequestContextExtensions.Export(copier));
        var list = new List<int> { 1 };
        RequestContext.Set("list", list);
        var taken = RequestContextExtensions.Export(copier);
        list.Add(2);
        RequestContext.Set("other", 1);
        RequestContextExtensions.Import(taken);
        Assert.Equal(["list"], RequestContext.Keys);
        Assert.Equal([1], Assert.IsType<List<int>>(RequestContext.Get("list")));
        RequestContextExtensions.Import(null);
        Assert.Empty(RequestContext.Keys);
    }

    [Fact]
    public void The_execution_context_does_not_flow_while_it_is_suppressed()
    {
        using (new ExecutionContextSuppressor())
        {
            using (new ExecutionContextSuppressor())
                Assert.True(ExecutionContext.IsFlowSuppressed());
            Assert.True(ExecutionContext.IsFlowSuppressed());
        }

        Assert.False(ExecutionContext.IsFlowSuppressed());
    }

    [Fact]
    public void A_client_can_be_added_to_services()
    {
        var services = new ServiceCollection();
        var builder = new ClientBuilder(services, new ConfigurationBuilder().Build());
        Assert.Same(services, builder.Services);
        Assert.Contains(services, static service => service.ServiceType == typeof(IClusterClient));
        Assert.Contains(services, static service => service.ServiceType == typeof(IHostedService));
    }

    [Fact]
    public async Task Requests_say_that_their_order_does_not_matter()
    {
        var seen = new List<InvokeMethodOptions>();
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureClient(client => client.AddOutgoingGrainCallFilter(context =>
        {
            seen.Add(((IRequest)context.Request).Options);
            return context.Invoke();
        }));
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
#pragma warning disable CS0618 // The attribute is obsolete.
        await cluster.Client.GetGrain<IAnyOrder>(1).Call();
#pragma warning restore CS0618
        Assert.Equal([InvokeMethodOptions.Unordered], seen);
    }

    public sealed class StoreOptions
    {
        [RedactConnectionString]
        public string Connection { get; set; } = "";

        [Redact]
        public string Key { get; set; } = "secret2";

        public int Size { get; set; } = 7;
    }

    [Fact]
    public void A_logger_of_options_of_the_application_writes_what_the_formatters_say()
    {
        var log = new LogCapture();
        using var services = new ServiceCollection().AddOptions().ConfigureFormatter<StoreOptions>().BuildServiceProvider();
        var logger = new OwnLogger(log.CreateLogger("own"), services);
        logger.LogOptions();
        Assert.Contains(log.Lines(Microsoft.Extensions.Logging.LogLevel.Information),
            static line => line.Contains(nameof(StoreOptions), StringComparison.Ordinal));
    }

    private sealed class OwnLogger(Microsoft.Extensions.Logging.ILogger logger, IServiceProvider services) : OptionsLogger(logger, services);

    public sealed class FailingFormatter : IOptionFormatter<StoreOptions>
    {
        public string Name => throw new InvalidOperationException("no name");

        public IEnumerable<string> Format() => [];
    }
}

#pragma warning disable CS0618 // The attribute is obsolete.
[Unordered]
#pragma warning restore CS0618
public interface IAnyOrder : IGrainWithIntegerKey
{
    Task Call();
}

public sealed class AnyOrderGrain : Grain, IAnyOrder
{
    public Task Call() => Task.CompletedTask;
}
