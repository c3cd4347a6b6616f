using System.Net;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Orleans.Providers;

[assembly: RegisterProvider("Noted", "GrainStorage", "Silo", typeof(ActOp.Hosting.Tests.ConfigurationSectionTests.NotedProvider))]

namespace ActOp.Hosting.Tests;

/// <summary>What silos and clients read from the configuration section Orleans.</summary>
public class ConfigurationSectionTests
{
    [Fact]
    public void A_silo_is_set_up_by_the_section()
    {
        var setup = SetupReader.Silo(Silo(
            ("ClusterId", "c"), ("ServiceId", "s"), ("SiloName", "one"), ("Endpoints:AdvertisedIPAddress", "10.1.2.3"),
            ("Endpoints:SiloPort", "21"), ("Endpoints:GatewayPort", "22"), ("Endpoints:SiloListeningEndpoint", "0.0.0.0:31"),
            ("Messaging:ResponseTimeout", "00:00:07"), ("Clustering:ProviderType", "Development"),
            ("Clustering:PrimarySiloEndpoint", "10.1.2.4:21")).Services);
        Assert.Equal(("c", "s", "one"), (setup.Mesh.ClusterId, setup.Mesh.ServiceId, setup.Name));
        Assert.Equal(("10.1.2.3:21", "10.1.2.3:22"), (setup.Address.Endpoint.ToString(), setup.Gateway!.ToString()));
        Assert.Equal(["0.0.0.0:31", "10.1.2.3:22"], setup.Listens.Select(static listen => listen.Item1.ToString()));
        Assert.Equal(7, setup.ResponseTimeout.TotalSeconds);
        Assert.NotNull(setup.Table);
    }

    [Fact]
    public void A_silo_whose_address_is_not_set_takes_one_of_this_machine()
    {
        using var host = Silo(("Clustering:ProviderType", "Development"));
        var chosen = SetupReader.Silo(host.Services).Address.Endpoint;
        Assert.Equal((System.Net.Sockets.AddressFamily.InterNetwork, 11_111), (chosen.AddressFamily, chosen.Port));
        var own = System.Net.NetworkInformation.NetworkInterface.GetAllNetworkInterfaces()
            .SelectMany(static network => network.GetIPProperties().UnicastAddresses).Select(static unicast => unicast.Address);
        Assert.Contains(chosen.Address, own.Append(IPAddress.Loopback));
    }

    [Fact]
    public void A_silo_whose_primary_silo_is_at_loopback_is_at_loopback_too()
    {
        using var host = Silo(("Clustering:ProviderType", "Development"), ("Clustering:PrimarySiloEndpoint", "127.0.0.1:11111"));
        Assert.Equal("127.0.0.1:11111", SetupReader.Silo(host.Services).Address.Endpoint.ToString());
    }

    [Fact]
    public void A_client_is_set_up_by_the_section()
    {
        using var host = Build(
            static builder => builder.UseOrleansClient(),
            ("ClusterId", "c"), ("ServiceId", "s"), ("Clustering:ProviderType", "Static"),
            ("Clustering:Gateways:0", "gwy.tcp://10.0.0.1:5/0"),
            ("Clustering:Gateways:1", "silo.example:6"), ("Messaging:ResponseTimeout", "00:00:07"));
        var setup = SetupReader.Client(host.Services);
        Assert.Equal(("c", "s", 7), (setup.Mesh.ClusterId, setup.Mesh.ServiceId, setup.ResponseTimeout.TotalSeconds));
        Assert.Equal([new IPEndPoint(IPAddress.Parse("10.0.0.1"), 5), new DnsEndPoint("silo.example", 6)], setup.Gateways);
    }

    /// <summary>The names that .NET Aspire passes for a cluster in memory.</summary>
    [Fact]
    public void A_cluster_in_memory_is_set_up_by_the_section()
    {
        using var client = Build(static builder => builder.UseOrleansClient(), ("Clustering:ProviderType", "Development"));
        Assert.Equal([new IPEndPoint(IPAddress.Loopback, 30_000)], SetupReader.Client(client.Services).Gateways);
        using var elsewhere = Build(
            static builder => builder.UseOrleansClient(), ("Clustering:ProviderType", "Development"),
            ("Clustering:Gateways:0", "10.0.0.1:5"));
        Assert.Equal([new IPEndPoint(IPAddress.Parse("10.0.0.1"), 5)], SetupReader.Client(elsewhere.Services).Gateways);
        using var silo = Silo(("Clustering:ProviderType", "Development"), ("Reminders:ProviderType", "Memory"));
        Assert.Equal("MemoryReminderTable", silo.Services.GetRequiredService<IReminderTable>().GetType().Name);
    }

    [Theory]
    [InlineData("Clustering:ProviderType", "Redis", "Could not find Clustering provider named 'Redis'", "Development")]
    [InlineData("GrainStorage:Default:ProviderType", "Redis", "Could not find GrainStorage provider named 'Redis'", "File, Memory, Noted")]
    [InlineData("Reminders:ProviderType", "AzureTableStorage", "Could not find Reminders provider named 'AzureTableStorage'", "Memory")]
    public void A_provider_name_that_is_not_known_is_refused_with_those_that_are(string key, string name, string text, string known)
    {
        var exception = Assert.Throws<InvalidOperationException>(() => Silo((key, name)));
        Assert.Contains("Orleans:" + key, exception.Message, StringComparison.Ordinal);
        Assert.Contains(text, exception.Message, StringComparison.Ordinal);
        Assert.Contains(known, exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_provider_that_an_assembly_has_registered_is_added_with_its_name_and_settings()
    {
        using var host = Silo(("GrainStorage:orders:ProviderType", "noted"), ("GrainStorage:orders:Table", "t"));
        Assert.Equal("orders t", host.Services.GetRequiredService<NotedProvider>().Note);
    }

    [Theory]
    [InlineData("Endpoints:SiloPort", "many")]
    [InlineData("Endpoints:AdvertisedIPAddress", "here")]
    [InlineData("Endpoints:SiloListeningEndpoint", "1.2.3.4")]
    public void A_value_that_cannot_be_read_fails_the_start_and_its_key_is_named(string key, string value)
    {
        using var host = Silo((key, value), ("Clustering:ProviderType", "Development"));
        var exception = Assert.ThrowsAny<OrleansConfigurationException>(() => SetupReader.Silo(host.Services));
        Assert.Contains("Orleans:" + key, exception.Message, StringComparison.Ordinal);
    }

    private static IHost Silo(params (string Key, string Value)[] values) => Build(static builder => builder.UseOrleans(), values);

    private static IHost Build(Action<HostApplicationBuilder> use, params (string Key, string Value)[] values)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Configuration.AddInMemoryCollection(values.Select(static value =>
            KeyValuePair.Create("Orleans:" + value.Key, (string?)value.Value)));
        use(builder);
        return builder.Build();
    }

    public sealed class NotedProvider : IProviderBuilder<ISiloBuilder>
    {
        public string Note { get; private set; } = "";

        public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection)
        {
            Note = name + " " + configurationSection["Table"];
            builder.Services.AddSingleton(this);
        }
    }
}
