using System.Globalization;
using System.Net;
using System.Net.Http.Json;
using ActOp.Harness.Processes;
using k8s.Models;

// Each test starts processes, and the measured times of none matter.
[assembly: CollectionBehavior(MaxParallelThreads = 2)]

namespace ActOp.Deploy.Tests;

/// <summary>
/// What the chart tells a pod is what a silo understands: its variables, with a real silo, PostgreSQL, certificates and SIGTERM.
/// </summary>
public sealed class DeployedSiloTests : IDisposable
{
    private readonly string _certificates = Directory.CreateTempSubdirectory("actop-deployed").FullName;
    private readonly string[] _ports = [.. Ports.FindFree(4).Select(static port => port.ToString(CultureInfo.InvariantCulture))];

    public void Dispose() => Directory.Delete(_certificates, recursive: true);

    [Fact]
    public async Task Silos_with_the_variables_of_the_chart_form_a_cluster_and_one_that_is_ended_hands_over()
    {
        if (PostgresServer.Programs is null)
        {
            Assert.False(
                Environment.GetEnvironmentVariable("CI") == "true", "PostgreSQL is not installed, and a pipeline must not skip this test.");
            Assert.Skip("POSTGRESQL IS NOT INSTALLED (apt-get install postgresql).");
        }

        await using var database = await PostgresServer.StartAsync("fsync=off");
        DeployedSilo.WriteCertificate(_certificates, "silos.shop.svc");
        var container = await ContainerAsync();
        await using var first = await StartAsync(container, "127.0.0.2", database.ConnectionString);
        await using var second = await StartAsync(container, "127.0.0.3", database.ConnectionString);
        using var http = new HttpClient { Timeout = DeployedSilo.Patience };
        foreach (var address in new[] { "127.0.0.2", "127.0.0.3" })
        {
            foreach (var probe in new[] { container.StartupProbe, container.ReadinessProbe, container.LivenessProbe })
                Assert.Equal(HttpStatusCode.OK, (await http.GetAsync(At(address, 1, probe.HttpGet.Path))).StatusCode);
        }

        for (var product = 0; product < 20; product++)
        {
            var put = await http.PutAsJsonAsync(
                At("127.0.0.2", 0, "/api/products/p" + product), new { Name = "tea", Price = 1m, InStock = 3 });
            Assert.Equal(HttpStatusCode.OK, put.StatusCode);
        }

        Assert.Equal(20, await CountAsync(http, "127.0.0.3"));
        // The public port shows no metrics; the management port shows those that the document describes.
        Assert.Equal(HttpStatusCode.NotFound, (await http.GetAsync(At("127.0.0.2", 0, "/metrics"))).StatusCode);
        var names = (await http.GetStringAsync(At("127.0.0.2", 1, "/metrics"))).Split('\n')
            .Where(static line => line.StartsWith("actop_", StringComparison.Ordinal))
            .Select(static line => line.Split('{', ' ')[0]).ToHashSet();
        Assert.True(names.Count > 40, string.Join(", ", names));
        Assert.Empty(names.Except(MetricNames.Series));

        Assert.Equal(0, await first.TerminateAsync());
        Assert.Equal(20, await CountAsync(http, "127.0.0.3"));
        Assert.Equal(HttpStatusCode.OK, (await http.GetAsync(At("127.0.0.3", 1, "/health/ready"))).StatusCode);
        Assert.DoesNotContain("must stop", second.Output, StringComparison.Ordinal);
    }

    private async Task<int> CountAsync(HttpClient http, string address) =>
        (await http.GetFromJsonAsync<Product[]>(At(address, 0, "/api/products")))!.Length;

    private string At(string address, int port, string path) => $"http://{address}:{_ports[port]}{path}";

    private async Task<V1Container> ContainerAsync()
    {
        string[] names = ["http", "management", "silo", "gateway"];
        var (yaml, refusal) = await Helm.TemplateAsync(Repository.ValuesPath("Values", "tls"), ["--set", "database.storages={shop}",
            .. names.SelectMany((name, index) => new[] { "--set", $"ports.{name}={_ports[index]}" })]);
        Assert.Equal("", refusal);
        return KubernetesObjects.Read(yaml, out _).Only<V1Deployment>().Spec.Template.Spec.Containers[0];
    }

    private async Task<DeployedSilo> StartAsync(V1Container container, string address, string database)
    {
        var variables = DeployedSilo.Variables(container, "shop-" + address, address, new Dictionary<string, Dictionary<string, string>>
        {
            ["shop-database"] = new() { ["dsn"] = database },
            ["shop-cluster"] = new() { ["secret"] = "a secret of more than 16 bytes" },
        });
        foreach (var (name, value) in variables.ToArray())
            variables[name] = value.Replace("/etc/actop/tls", _certificates, StringComparison.Ordinal);
        // Each pod has a network of its own; here, both silos share one.
        variables["ASPNETCORE_URLS"] = variables["ASPNETCORE_URLS"].Replace("+", address, StringComparison.Ordinal);
        var output = new DirectoryInfo(AppContext.BaseDirectory);
        var assembly = Path.Combine(Repository.Root, "samples", "Shop", "bin", output.Parent!.Name, output.Name, "Shop.dll");
        return await DeployedSilo.StartAsync(["dotnet", assembly], variables);
    }

    private sealed record Product(string Id, string Name, decimal Price, int InStock);
}
