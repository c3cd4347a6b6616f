using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Nodes.Tls;
using ActOp.TestClusters;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Connections.Security;

namespace ActOp.Hosting.Tests;

/// <summary>UseTls on silos and clients: who is let in, which certificates are shown, and what fails at start.</summary>
public sealed class TlsHostTests : IDisposable
{
    private static readonly DateTimeOffset Now = TimeProvider.System.GetUtcNow();
    private static readonly X509Certificate2 Root = NewRoot();
    private static int s_serial;

    private readonly string _folder = Directory.CreateTempSubdirectory("actop-tls").FullName;

    private string CertificatePath => Path.Combine(_folder, "tls.crt");

    private string KeyPath => Path.Combine(_folder, "tls.key");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Silos_with_certificates_and_a_client_without_one_work()
    {
        var certificate = Issue("silo");
        await using var cluster = Cluster(silo => silo.UseTls(certificate, TrustRoot), client => client.UseTls(TrustRoot));
        await WorksAsync(cluster);
    }

    [Fact]
    public async Task Silos_and_a_client_work_over_sockets_with_certificates_from_files()
    {
        Write(Issue("files"));
        TlsConfigurator.Files = (CertificatePath, KeyPath);
        var builder = new TestClusterBuilder();
        builder.Options.ConnectionTransport = ConnectionTransportType.TcpSocket;
        builder.AddSiloBuilderConfigurator<TlsConfigurator>();
        builder.AddClientBuilderConfigurator<TlsConfigurator>();
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        for (var key = 0; key < 20; key++)
            Assert.Equal("hello", await cluster.GrainFactory.GetGrain<IEchoGrain>(key.ToString()).Echo("hello"));
    }

    [Fact]
    public async Task A_client_without_a_certificate_is_refused_at_the_silo_port()
    {
        var certificate = Issue("silo");
        var siloPort = 0;
        var log = new Awaited("has shown no certificate");
        await using var cluster = Cluster(
            silo =>
            {
                silo.UseTls(certificate, TrustRoot);
                silo.Configure<EndpointOptions>(options => siloPort = options.SiloPort);
                silo.Services.AddSingleton<ILoggerProvider>(log);
            },
            client =>
            {
                client.UseTls(TrustRoot);
                client.UseConnectionRetryFilter(static (_, _) => Task.FromResult(false));
                client.Configure<StaticGatewayListProviderOptions>(
                    options => options.Gateways = [new Uri("gwy.tcp://127.0.0.1:" + siloPort + "/0")]);
            },
            silos: 1);
        cluster.Options.InitializeClientOnDeploy = false;
        await cluster.DeployAsync();
        var connecting = cluster.InitializeClientAsync();
        Assert.Contains("TLS handshake", await log.Line.WaitAsync(Gate.Patience), StringComparison.Ordinal);
        Assert.NotNull(await Record.ExceptionAsync(() => connecting.WaitAsync(Gate.Patience)));
    }

    [Fact]
    public async Task A_client_must_show_a_certificate_at_a_gateway_that_requires_one()
    {
        var certificate = Issue("node");
        var subjects = new ConcurrentBag<string>();
        await using var cluster = Cluster(
            silo => silo.UseTls(certificate, options =>
            {
                TrustRoot(options);
                options.ClientCertificateMode = RemoteCertificateMode.RequireCertificate;
                var trusts = options.RemoteCertificateValidation!;
                options.RemoteCertificateValidation = (remote, chain, errors) =>
                {
                    subjects.Add(remote.Subject);
                    return trusts(remote, chain, errors);
                };
            }),
            client => client.UseTls(Issue("client"), TrustRoot));
        await WorksAsync(cluster);
        Assert.Contains("CN=client", subjects);
    }

    [Fact]
    public async Task Self_signed_certificates_work_where_any_is_allowed()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var certificate =
            new CertificateRequest("CN=self", key, HashAlgorithmName.SHA256).CreateSelfSigned(Now.AddDays(-1), Now.AddDays(1));
        await using var cluster = Cluster(
            silo => silo.UseTls(certificate, static options => options.AllowAnyRemoteCertificate()),
            client => client.UseTls(static options => options.AllowAnyRemoteCertificate()));
        await WorksAsync(cluster);
    }

    [Fact]
    public async Task The_expected_name_and_the_shown_certificate_come_from_callbacks_for_each_connection()
    {
        var certificate = Issue("named", "silos.example", null);
        var (shown, asked, ends) = (0, 0, new ConcurrentBag<(EndPoint?, EndPoint?)>());
        void Name(TlsOptions options)
        {
            TrustRoot(options);
            options.OnAuthenticateAsClient = (_, tls) =>
            {
                Interlocked.Increment(ref asked);
                tls.TargetHost = "silos.example";
            };
        }

        await using var cluster = Cluster(
            silo => silo.UseTls(options =>
            {
                Name(options);
                options.OnAuthenticateAsServer = (context, _) => ends.Add((context.LocalEndPoint, context.RemoteEndPoint));
                options.LocalServerCertificateSelector = (_, host) =>
                {
                    Interlocked.Increment(ref shown);
                    Assert.True(host is null or "silos.example");
                    return certificate;
                };
            }),
            client => client.UseTls(Name));
        await WorksAsync(cluster);
        Assert.True(shown >= 4);
        Assert.True(asked >= 4);
        Assert.All(ends, static both => Assert.True(both is (IPEndPoint, IPEndPoint)));
    }

    [Fact]
    public async Task Handshakes_have_the_versions_the_revocation_check_and_the_client_certificate_of_the_options()
    {
        var certificate = Issue("silo");
        var clients = new ConcurrentBag<string>();
        var seen = new ConcurrentBag<(SslProtocols Protocols, X509RevocationMode Mode)>();
        void Configure(TlsOptions options)
        {
            TrustRoot(options);
            options.SslProtocols = SslProtocols.Tls12;
            options.CheckCertificateRevocation = true;
            options.OnAuthenticateAsServer = (_, tls) =>
            {
                seen.Add((tls.EnabledSslProtocols, tls.CertificateRevocationCheckMode));
                tls.CertificateRevocationCheckMode = X509RevocationMode.NoCheck;
            };
            options.OnAuthenticateAsClient = (_, tls) =>
            {
                seen.Add((tls.EnabledSslProtocols, tls.CertificateRevocationCheckMode));
                tls.CertificateRevocationCheckMode = X509RevocationMode.NoCheck;
            };
        }

        await using var cluster = Cluster(
            silo => silo.UseTls(certificate, options =>
            {
                Configure(options);
                options.ClientCertificateMode = RemoteCertificateMode.RequireCertificate;
            }),
            client => client.UseTls(options =>
            {
                Configure(options);
                options.LocalClientCertificateSelector = (_, host, _, _, _) =>
                {
                    clients.Add(host);
                    return certificate;
                };
            }));
        await WorksAsync(cluster);
        Assert.Equal((SslProtocols.Tls12, X509RevocationMode.Online), Assert.Single(seen.Distinct()));
        Assert.Equal("127.0.0.1", Assert.Single(clients.Distinct()));
    }

    [Fact]
    public async Task The_handshake_timeout_limits_the_handshakes_of_the_node()
    {
        await using var cluster = Cluster(
            silo => silo.UseTls(options =>
            {
                TrustRoot(options);
                options.LocalCertificate = Issue("silo");
                options.HandshakeTimeout = TimeSpan.FromSeconds(3);
            }),
            static _ => { },
            silos: 1);
        cluster.Options.InitializeClientOnDeploy = false;
        await cluster.DeployAsync();
        Assert.Equal(TimeSpan.FromSeconds(3), SetupReader.Silo(cluster.Silos[0].ServiceProvider).Mesh.HandshakeTimeout);
    }

    [Fact]
    public async Task Another_name_than_the_expected_one_is_refused_and_logged()
    {
        var certificate = Issue("named", "silos.example", null);
        var log = new Awaited("RemoteCertificateNameMismatch");
        await using var cluster = Cluster(
            silo => silo.UseTls(certificate, TrustRoot),
            client =>
            {
                client.UseTls(TrustRoot);
                client.UseConnectionRetryFilter(static (_, _) => Task.FromResult(false));
                client.Services.AddSingleton<ILoggerProvider>(log);
            },
            silos: 1);
        cluster.Options.InitializeClientOnDeploy = false;
        await cluster.DeployAsync();
        var connecting = cluster.InitializeClientAsync();
        Assert.Contains("CN=named", await log.Line.WaitAsync(Gate.Patience), StringComparison.Ordinal);
        Assert.NotNull(await Record.ExceptionAsync(() => connecting.WaitAsync(Gate.Patience)));
    }

    [Fact]
    public void Certificate_files_are_read_again_when_they_change_and_bad_ones_leave_the_old_certificate()
    {
        var lines = new LogCapture();
        var log = new Log(lines);
        Write(Issue("first"));
        var source = new FileCertificate(CertificatePath, KeyPath);
        source.Load();
        string Subject() => source.Current(TimeProvider.System, log).TargetCertificate.Subject;
        Assert.Equal("CN=first", Subject());
        Assert.Same(source.Current(TimeProvider.System, log), source.Current(TimeProvider.System, log));
        Write(Issue("second certificate"));
        Assert.Equal("CN=second certificate", Subject());
        Assert.Single(lines.Lines(LogLevel.Information));

        // The key of another certificate, as in the midst of a renewal that writes one file after the other.
        var third = Issue("the third certificate");
        File.WriteAllText(CertificatePath, third.ExportCertificatePem());
        Assert.Equal("CN=second certificate", Subject());
        Assert.Equal("CN=second certificate", Subject());
        Assert.Single(lines.Lines(LogLevel.Warning));
        Write(third);
        Assert.Equal("CN=the third certificate", Subject());
        File.Delete(CertificatePath);
        Assert.Equal("CN=the third certificate", Subject());
        Assert.Equal(2, lines.Lines(LogLevel.Warning).Length);
    }

    [Fact]
    public void Files_that_cannot_be_read_fail_the_start()
    {
        Assert.ThrowsAny<IOException>(() => Silo(silo => silo.UseTls(options => options.UseCertificateFiles(CertificatePath, KeyPath))));
        File.WriteAllText(CertificatePath, "no certificate");
        Assert.ThrowsAny<CryptographicException>(
            () => Silo(silo => silo.UseTls(options => options.UseCertificateFiles(CertificatePath))));
    }

    [Fact]
    public void A_silo_without_a_certificate_fails_the_start()
    {
        Assert.Throws<InvalidOperationException>(() => Silo(static silo => silo.UseTls(static _ => { })));
        Silo(silo => silo.UseTls(options => options.LocalServerCertificateSelector = (_, _) => Root));
    }

    [Fact]
    public void A_client_needs_a_certificate_only_if_it_is_to_show_one()
    {
        Client(static client => client.UseTls(static _ => { }));
        Assert.Throws<InvalidOperationException>(
            () => Client(static client => client.UseTls(
                static options => options.ClientCertificateMode = RemoteCertificateMode.RequireCertificate)));
    }

    [Fact]
    public void A_certificate_without_its_private_key_fails_the_start()
    {
        using var keyless = X509CertificateLoader.LoadCertificate(Root.RawData);
        Assert.Throws<ArgumentException>(() => Silo(silo => silo.UseTls(keyless)));
        Assert.Throws<ArgumentException>(() => Client(client => client.UseTls(options => options.LocalCertificate = keyless)));
    }

    [Fact]
    public void A_handshake_timeout_must_be_positive_or_infinite()
    {
        var options = new TlsOptions { HandshakeTimeout = Timeout.InfiniteTimeSpan };
        Assert.Throws<ArgumentOutOfRangeException>(() => options.HandshakeTimeout = TimeSpan.Zero);
        Assert.Throws<ArgumentOutOfRangeException>(() => options.HandshakeTimeout = TimeSpan.FromSeconds(-2));
        Assert.Equal(TimeSpan.FromSeconds(10), new TlsOptions().HandshakeTimeout);
    }

    [Fact]
    public void A_store_without_the_certificate_fails_the_start()
        => Assert.Throws<InvalidOperationException>(() => Silo(static silo => silo.UseTls(
            StoreName.My, "nobody.example", allowInvalid: true, StoreLocation.CurrentUser, static _ => { })));

    [Fact]
    public void Of_several_certificates_in_a_store_the_one_that_is_valid_longest_is_used()
    {
        const string Name = "ActOpTests";
        using var store = new X509Store(Name, StoreLocation.CurrentUser);
        store.Open(OpenFlags.ReadWrite);
        X509Certificate2[] certificates = [Issue("stored.example"), Issue("stored.example", days: 3), Issue("stored.example", days: 2)];
        store.AddRange([.. certificates]);
        try
        {
            var found = CertificateLoader.LoadFromStoreCert(
                "stored.example", Name, StoreLocation.CurrentUser, allowInvalid: true, server: true);
            Assert.Equal(certificates[1].Thumbprint, found.Thumbprint);
            Assert.True(found.HasPrivateKey);
            Assert.Throws<InvalidOperationException>(() => CertificateLoader.LoadFromStoreCert(
                "stored.example", Name, StoreLocation.CurrentUser, allowInvalid: false, server: true));
        }
        finally
        {
            store.RemoveRange([.. certificates]);
        }
    }

    private static async Task WorksAsync(InProcessTestCluster cluster)
    {
        await cluster.DeployAsync();
        for (var key = 0; key < 20; key++)
            Assert.Equal("hello", await cluster.Client.GetGrain<IEchoGrain>("tls-" + key).Echo("hello"));
    }

    private static void TrustRoot(TlsOptions options) => options.RemoteCertificateValidation = static (certificate, _, errors) =>
    {
        using var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.CustomTrustStore.Add(Root);
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        return (errors & SslPolicyErrors.RemoteCertificateNameMismatch) == 0 && chain.Build(certificate);
    };

    private static InProcessTestCluster Cluster(Action<ISiloBuilder> silo, Action<IClientBuilder> client, short silos = 2)
        => new InProcessTestClusterBuilder(silos).ConfigureSilo((_, builder) => silo(builder)).ConfigureClient(client).Build();

    private static void Silo(Action<ISiloBuilder> configure) => new HostBuilder().UseOrleans(configure).Build().Dispose();

    private static void Client(Action<IClientBuilder> configure) => new HostBuilder().UseOrleansClient(configure).Build().Dispose();

    private static X509Certificate2 NewRoot()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=root of the tests", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        return request.CreateSelfSigned(Now.AddYears(-1), Now.AddYears(1));
    }

    private static X509Certificate2 Issue(string name, int days = 1) => Issue(name, "localhost", IPAddress.Loopback, days);

    private static X509Certificate2 Issue(string name, string host, IPAddress? address, int days = 1)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=" + name, key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(host);
        if (address is not null)
            names.AddIpAddress(address);
        request.CertificateExtensions.Add(names.Build());
        using var signed =
            request.Create(Root, Now.AddDays(-1), Now.AddDays(days), BitConverter.GetBytes(Interlocked.Increment(ref s_serial)));
        using var withKey = signed.CopyWithPrivateKey(key);
        return X509CertificateLoader.LoadPkcs12(withKey.Export(X509ContentType.Pfx), null, X509KeyStorageFlags.Exportable);
    }

    private void Write(X509Certificate2 certificate)
    {
        File.WriteAllText(CertificatePath, certificate.ExportCertificatePem());
        using var key = certificate.GetECDsaPrivateKey()!;
        File.WriteAllText(KeyPath, key.ExportPkcs8PrivateKeyPem());
    }

    public sealed class TlsConfigurator : ISiloConfigurator, IClientBuilderConfigurator
    {
        internal static (string Certificate, string Key) Files { get; set; }

        public void Configure(ISiloBuilder siloBuilder) => siloBuilder.UseTls(Use);

        public void Configure(Microsoft.Extensions.Configuration.IConfiguration configuration, IClientBuilder clientBuilder)
            => clientBuilder.UseTls(Use);

        private static void Use(TlsOptions options)
        {
            TrustRoot(options);
            options.UseCertificateFiles(Files.Certificate, Files.Key);
        }
    }

    /// <summary>Tells when a line with a text is logged.</summary>
    private sealed class Awaited(string text) : ILoggerProvider, ILogger
    {
        private readonly TaskCompletionSource<string> _line = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<string> Line => _line.Task;

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            var line = formatter(state, exception);
            if (line.Contains(text, StringComparison.Ordinal))
                _line.TrySetResult(line);
        }

        public void Dispose()
        {
        }
    }
}
