using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using ActOp.Harness.Processes;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;

namespace ActOp.Hosting.Tests;

/// <summary>TLS by the configuration section ActOp:Tls: files as an orchestrator mounts them.</summary>
public sealed class TlsSectionTests : IDisposable
{
    private static readonly DateTimeOffset Now = TimeProvider.System.GetUtcNow();
    private static int s_serial;

    private readonly string _folder = Directory.CreateTempSubdirectory("actop-tls-section").FullName;
    private readonly X509Certificate2 _root = NewRoot();

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Silos_with_files_of_one_authority_form_a_cluster()
    {
        Write(_root, "silos.test");
        using var first = await StartAsync(new Dictionary<string, string?>());
        using var second = await StartAsync(new Dictionary<string, string?>(), first);
        Assert.Equal(2, await CountAsync(first));
    }

    [Fact]
    public async Task A_renewed_authority_and_certificate_are_read_without_a_restart()
    {
        Write(_root, "silos.test");
        using var first = await StartAsync(new Dictionary<string, string?>());
        Write(NewRoot(), "silos.test");
        using var second = await StartAsync(new Dictionary<string, string?>(), first);
        Assert.Equal(2, await CountAsync(first));
    }

    [Fact]
    public async Task A_silo_with_a_certificate_of_another_authority_does_not_join()
    {
        Write(_root, "silos.test");
        using var first = await StartAsync(new Dictionary<string, string?>());
        var other = Directory.CreateDirectory(Path.Combine(_folder, "other")).FullName;
        Write(NewRoot(), "silos.test", other);
        await Assert.ThrowsAnyAsync<Exception>(() => StartAsync(Files(other), first, seconds: 2));
        Assert.Equal(1, await CountAsync(first));
    }

    [Fact]
    public async Task A_silo_whose_certificate_has_another_name_does_not_join()
    {
        Write(_root, "silos.test");
        using var first = await StartAsync(new Dictionary<string, string?>());
        await Assert.ThrowsAnyAsync<Exception>(
            () => StartAsync(new Dictionary<string, string?> { ["ActOp:Tls:TargetHost"] = "others.test" }, first, seconds: 2));
        Assert.Equal(1, await CountAsync(first));
    }

    [Fact]
    public void Files_that_are_missing_or_empty_fail_the_start_and_are_named()
    {
        Assert.Contains(_folder, Assert.ThrowsAny<IOException>(() => Build(Files(_folder))).Message, StringComparison.Ordinal);
        Write(_root, "silos.test");
        File.WriteAllText(Path.Combine(_folder, "ca.crt"), "");
        Assert.Contains("AuthorityPath", Assert.Throws<OrleansConfigurationException>(() => Build(Files(_folder))).Message,
            StringComparison.Ordinal);
        Assert.Contains("CertificatePath", Assert.Throws<OrleansConfigurationException>(() => Build(
            new Dictionary<string, string?> { ["ActOp:Tls:KeyPath"] = "tls.key" })).Message, StringComparison.Ordinal);
    }

    private static void Build(Dictionary<string, string?> settings)
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection(settings);
        builder.UseOrleans(static silo => silo.UseLocalhostClustering());
        builder.Build().Dispose();
    }

    private async Task<IHost> StartAsync(Dictionary<string, string?> settings, IHost? first = null, int seconds = 30)
    {
        var ports = Ports.FindFree(2);
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection(Files(_folder));
        builder.Configuration.AddInMemoryCollection(settings);
        var primary = first?.Services.GetRequiredService<ILocalSiloDetails>().SiloAddress.Endpoint;
        builder.UseOrleans(silo => silo.UseLocalhostClustering(ports[0], ports[1], primary)
            .Configure<ClusterMembershipOptions>(options => options.MaxJoinAttemptTime = TimeSpan.FromSeconds(seconds)));
        var host = builder.Build();
        try
        {
            await host.StartAsync();
            return host;
        }
        catch
        {
            host.Dispose();
            throw;
        }
    }

    private static async Task<int> CountAsync(IHost host) =>
        (await host.Services.GetRequiredService<IGrainFactory>().GetGrain<IManagementGrain>(0).GetHosts(onlyActive: true)).Count;

    private static Dictionary<string, string?> Files(string folder) => new()
    {
        ["ActOp:Tls:CertificatePath"] = Path.Combine(folder, "tls.crt"),
        ["ActOp:Tls:KeyPath"] = Path.Combine(folder, "tls.key"),
        ["ActOp:Tls:AuthorityPath"] = Path.Combine(folder, "ca.crt"),
        ["ActOp:Tls:TargetHost"] = "silos.test",
    };

    private static X509Certificate2 NewRoot()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=root of the section", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        return request.CreateSelfSigned(Now.AddYears(-1), Now.AddYears(1));
    }

    /// <summary>As cert-manager writes a secret.</summary>
    private void Write(X509Certificate2 root, string host, string? folder = null)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=silos", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(host);
        request.CertificateExtensions.Add(names.Build());
        using var signed = request.Create(root, Now.AddDays(-1), Now.AddDays(1), BitConverter.GetBytes(Interlocked.Increment(ref s_serial)));
        folder ??= _folder;
        File.WriteAllText(Path.Combine(folder, "tls.crt"), signed.ExportCertificatePem());
        File.WriteAllText(Path.Combine(folder, "tls.key"), key.ExportPkcs8PrivateKeyPem());
        File.WriteAllText(Path.Combine(folder, "ca.crt"), root.ExportCertificatePem());
    }
}
