using System.Collections.Concurrent;
using System.IO.Pipelines;
using System.Net;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using ActOp.Mesh.Transports.Piped;
using ActOp.Mesh.Transports.Tcp;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Connections.Security;
using Orleans.Runtime.Messaging;
using ITlsHandshakeFeature = Orleans.Connections.Security.ITlsHandshakeFeature;

namespace ActOp.Hosting.Tests.Middleware;

/// <summary>Middleware of the connections of silos and clients: where it runs, what it may do, and what its failures lead to.</summary>
public sealed class ConnectionMiddlewareTests
{
    private readonly ConcurrentQueue<string> _runs = [];

    [Fact]
    public async Task Middleware_runs_for_the_connections_of_its_role_in_the_order_of_its_registration()
    {
        IConnectionBuilder Noted(IConnectionBuilder builder, string role) => builder
            .Use((context, next) =>
            {
                _runs.Enqueue(role + "1 of " + context.ConnectionId);
                return next(context);
            })
            .UseMiddleware(new Noting(_runs, role + "2 of "));
        await using var cluster = Cluster(
            silo => silo.Configure<SiloConnectionOptions>(options =>
            {
                options.ConfigureSiloInboundConnection(builder => Noted(builder, "in"));
                options.ConfigureSiloOutboundConnection(builder => Noted(builder, "out"));
                options.ConfigureGatewayInboundConnection(builder => Noted(builder, "gateway"));
            }).Configure<SiloConnectionOptions>(options =>
                options.ConfigureGatewayInboundConnection(builder => builder.UseMiddleware(new Noting(_runs, "gateway3 of ")))),
            client => client.Configure<ClientConnectionOptions>(
                options => options.ConfigureConnection(builder => Noted(builder, "client"))));
        await WorksAsync(cluster);
        var runs = _runs.Select(static run => run.Split(" of ")).GroupBy(static run => run[1], static run => run[0]).ToArray();
        string[][] expected = [["client1", "client2"], ["gateway1", "gateway2", "gateway3"], ["in1", "in2"], ["out1", "out2"]];
        foreach (var connection in runs.Where(one => one.Count() == (one.First() == "gateway1" ? 3 : 2)))
            Assert.Contains(expected, steps => steps.SequenceEqual(connection));
        Assert.All(expected, steps => Assert.Contains(runs, steps.SequenceEqual));
    }

    [Theory, InlineData(ConnectionTransportType.InMemory), InlineData(ConnectionTransportType.TcpSocket)]
    public async Task Calls_pass_middleware_that_changes_every_byte_under_load(ConnectionTransportType transport)
    {
        var builder = new TestClusterBuilder();
        builder.Options.ConnectionTransport = transport;
        builder.AddSiloBuilderConfigurator<XorEverywhere>();
        builder.AddClientBuilderConfigurator<XorEverywhere>();
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var text = new string('x', 3_000);
        await Task.WhenAll(Enumerable.Range(0, 32).Select(async caller =>
        {
            for (var call = 0; call < 50; call++)
                Assert.Equal(text + call, await cluster.GrainFactory.GetGrain<IEchoGrain>(caller + "-" + (call % 8)).Echo(text + call));
        }));
    }

    [Fact]
    public async Task Middleware_of_both_ends_exchanges_frames_before_the_first_call()
    {
        await using var cluster = Cluster(
            silo =>
            {
                silo.Services.AddSingleton(new Password("sesame"));
                silo.Services.AddSingleton<AsksForPassword>();
                silo.Configure<SiloConnectionOptions>(
                    static options => options.ConfigureGatewayInboundConnection(static builder => builder.UseMiddleware<AsksForPassword>()));
            },
            client => client.Configure<ClientConnectionOptions>(
                static options => options.ConfigureConnection(static builder => builder.UseMiddleware(new TellsPassword("sesame")))));
        await WorksAsync(cluster);
    }

    [Fact]
    public async Task A_gateway_whose_middleware_throws_lets_nobody_in_and_says_why()
    {
        var log = new LogCapture();
        await using var cluster = Cluster(
            silo =>
            {
                silo.Services.AddSingleton<ILoggerProvider>(log);
                silo.Services.AddSingleton(new Password("sesame"));
                silo.Services.AddSingleton<AsksForPassword>();
                silo.Configure<SiloConnectionOptions>(
                    static options => options.ConfigureGatewayInboundConnection(static builder => builder.UseMiddleware<AsksForPassword>()));
            },
            static client =>
            {
                client.UseConnectionRetryFilter(static (_, _) => Task.FromResult(false));
                client.Configure<ClientConnectionOptions>(
                    static options => options.ConfigureConnection(static builder => builder.UseMiddleware(new TellsPassword("guess"))));
            },
            silos: 1);
        cluster.Options.InitializeClientOnDeploy = false;
        await cluster.DeployAsync();
        using var giveUp = new CancellationTokenSource();
        var connecting = cluster.InitializeClientAsync(giveUp.Token);
        bool Tells() => log.Lines(LogLevel.Warning).Any(
            static line => line.Contains("Middleware of the accepted", StringComparison.Ordinal));
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Tells()), Gate.Patience, TimeSpan.FromMilliseconds(5));
        Assert.True(Tells());
        Assert.False(connecting.IsCompletedSuccessfully);
        await giveUp.CancelAsync();
        Assert.NotNull(await Record.ExceptionAsync(() => connecting.WaitAsync(Gate.Patience)));
    }

    [Fact]
    public async Task A_connection_has_an_id_its_ends_items_and_features_and_tells_its_close()
    {
        var seen = new ConcurrentQueue<(ConnectionContext Context, bool Connected)>();
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var cluster = Cluster(
            silo => silo.Configure<SiloConnectionOptions>(options => options.ConfigureGatewayInboundConnection(
                builder => builder.Use(next => async context =>
                {
                    context.Items["key"] = "value";
                    context.ConnectionClosed.Register(() => closed.TrySetResult());
                    seen.Enqueue((context, false));
                    await next(context);
                    Assert.Equal("value", context.Items["key"]);
                    seen.Enqueue((context, true));
                }))),
            static _ => { },
            silos: 1);
        await using (cluster)
        {
            await WorksAsync(cluster);
            await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Connections() >= 2), Gate.Patience, TimeSpan.FromMilliseconds(5));
            Assert.All(seen, static one =>
            {
                var (context, _) = one;
                Assert.True(context.LocalEndPoint is IPEndPoint);
                Assert.True(context.RemoteEndPoint is IPEndPoint);
                Assert.Same(context.Items, context.Features.Get<IConnectionItemsFeature>()!.Items);
                Assert.Same(context.Transport, context.Features.Get<IConnectionTransportFeature>()!.Transport);
                Assert.Equal(context.ConnectionId, context.Features.Get<IConnectionIdFeature>()!.ConnectionId);
                Assert.Equal(context.RemoteEndPoint, context.Features.Get<IConnectionEndPointFeature>()!.RemoteEndPoint);
                Assert.Equal(context.ConnectionClosed, context.Features.Get<IConnectionLifetimeFeature>()!.ConnectionClosed);
                Assert.Null(context.Features.Get<ITlsHandshakeFeature>());
            });
            await cluster.StopClusterClientAsync(TestContext.Current.CancellationToken);
            await closed.Task.WaitAsync(Gate.Patience);
        }

        // The chains return on the thread pool after their connections have ended.
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(seen.Count == 2 * Connections()), Gate.Patience, TimeSpan.FromMilliseconds(5));
        Assert.All(
            seen.GroupBy(static one => one.Context.ConnectionId, static one => one.Connected),
            static one => Assert.Equal([false, true], one));

        // Two, and one more for each that a slow machine has given up before its first byte.
        int Connections() => seen.Select(static one => one.Context.ConnectionId).Distinct().Count();
    }

    [Fact]
    public async Task An_abort_ends_the_connection_and_calls_go_on_over_a_new_one()
    {
        var first = new ConcurrentQueue<ConnectionContext>();
        await using var cluster = Cluster(
            silo => silo.Configure<SiloConnectionOptions>(options => options.ConfigureGatewayInboundConnection(
                builder => builder.Use((context, next) =>
                {
                    first.Enqueue(context);
                    return next(context);
                }))),
            static _ => { },
            silos: 1);
        await WorksAsync(cluster);
        var count = first.Count;
        first.TryPeek(out var one);
        one!.Abort(new ConnectionAbortedException("enough"));
        await TestingUtils.WaitUntilAsync(
            last =>
            {
                Assert.True(first.Count >= 2 * count || !last, "There is no new connection.");
                return Task.FromResult(first.Count >= 2 * count);
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(5));
        for (var key = 0; key < 20; key++)
            Assert.Equal("hello", await EchoAgainAsync(cluster, key));
    }

    [Theory, InlineData(ConnectionTransportType.InMemory), InlineData(ConnectionTransportType.TcpSocket)]
    public async Task TLS_by_middleware_encrypts_and_tells_what_was_agreed(ConnectionTransportType transport)
    {
        TlsEverywhere.Seen.Clear();
        var builder = new TestClusterBuilder();
        builder.Options.ConnectionTransport = transport;
        builder.AddSiloBuilderConfigurator<TlsEverywhere>();
        builder.AddClientBuilderConfigurator<TlsEverywhere>();
        await using (var cluster = builder.Build())
        {
            await cluster.DeployAsync();
            var text = new string('y', 50_000);
            for (var key = 0; key < 20; key++)
                Assert.Equal(text, await cluster.GrainFactory.GetGrain<IEchoGrain>("tls" + key).Echo(text));
        }

        Assert.NotEmpty(TlsEverywhere.Seen);
        Assert.All(TlsEverywhere.Seen, static seen =>
        {
            Assert.True(seen.Protocol is SslProtocols.Tls12 or SslProtocols.Tls13);
            Assert.NotNull(seen.Suite);
            Assert.True(seen.HasNoProtocol);
        });
        Assert.Contains(TlsEverywhere.Seen, static seen => seen.Subject == "CN=middleware");
    }

    [Fact]
    public async Task Middleware_beside_UseTls_sees_the_certificate_of_the_other_end()
    {
        var certificate = TlsEverywhere.Certificate;
        var subjects = new ConcurrentBag<string?>();
        await using var cluster = Cluster(
            silo => silo.Configure<SiloConnectionOptions>(options => options.ConfigureSiloInboundConnection(
                builder => builder.Use((context, next) =>
                {
                    subjects.Add(context.Features.Get<ITlsConnectionFeature>()?.RemoteCertificate?.Subject);
                    return next(context);
                }))).UseTls(certificate, static options => options.AllowAnyRemoteCertificate()),
            client => client.UseTls(static options => options.AllowAnyRemoteCertificate()));
        await WorksAsync(cluster);
        Assert.Equal("CN=middleware", Assert.Single(subjects.Distinct()));
    }

    [Fact]
    public void A_node_or_a_role_without_middleware_has_the_transport_that_it_had()
    {
        Assert.IsType<TcpTransport>(Silo(static _ => { }).Transport);
        Assert.IsType<TcpTransport>(Silo(static silo => silo.Configure<SiloConnectionOptions>(
            static options => options.ConfigureSiloInboundConnection(static _ => { }))).Transport);
        var setup = Silo(static silo => silo.Configure<SiloConnectionOptions>(static options =>
            options.ConfigureGatewayInboundConnection(static builder => builder.UseMiddleware(new TellsPassword("")))));
        var settings = Assert.IsType<PipedTransport>(setup.Transport);
        using var dialled = settings.Dial(new IPEndPoint(IPAddress.Loopback, 1));
        Assert.IsAssignableFrom<Mesh.Transports.ByteStream>(dialled);
        Assert.DoesNotContain("Piped", dialled.GetType().Name, StringComparison.Ordinal);
    }

    [Fact]
    public void Middleware_that_is_not_among_the_services_fails_the_start() => Assert.Throws<InvalidOperationException>(
        () => Silo(static silo => silo.Configure<SiloConnectionOptions>(
            static options => options.ConfigureSiloOutboundConnection(static builder => builder.UseMiddleware<AsksForPassword>()))));

    [Fact]
    public void TLS_without_a_usable_certificate_is_refused_where_it_is_added()
    {
        var builder = new ConnectionBuilder(new ServiceCollection().BuildServiceProvider());
        Assert.Throws<InvalidOperationException>(() => builder.UseServerTls(new TlsOptions()));
        builder.UseClientTls(new TlsOptions());
        Assert.Throws<InvalidOperationException>(() => builder.UseClientTls(
            new TlsOptions { ClientCertificateMode = RemoteCertificateMode.RequireCertificate }));
        using var keyless = X509CertificateLoader.LoadCertificate(TlsEverywhere.Certificate.RawData);
        Assert.Throws<ArgumentException>(() => builder.UseServerTls(new TlsOptions { LocalCertificate = keyless }));
    }

    private static async Task<string> EchoAgainAsync(InProcessTestCluster cluster, int key)
    {
        // A call that was on the way when the connection ended fails.
        try
        {
            return await cluster.Client.GetGrain<IEchoGrain>("again-" + key).Echo("hello");
        }
        catch (SiloUnavailableException)
        {
            return await cluster.Client.GetGrain<IEchoGrain>("again-" + key).Echo("hello");
        }
    }

    private static async Task WorksAsync(InProcessTestCluster cluster)
    {
        await cluster.DeployAsync();
        for (var key = 0; key < 20; key++)
            Assert.Equal("hello", await cluster.Client.GetGrain<IEchoGrain>("middleware-" + key).Echo("hello"));
    }

    private static InProcessTestCluster Cluster(Action<ISiloBuilder> silo, Action<IClientBuilder> client, short silos = 2)
        => new InProcessTestClusterBuilder(silos).ConfigureSilo((_, builder) => silo(builder)).ConfigureClient(client).Build();

    private static NodeSetup Silo(Action<ISiloBuilder> configure)
    {
        using var host = new HostBuilder().UseOrleans(silo =>
        {
            silo.UseLocalhostClustering();
            configure(silo);
        }).Build();
        return SetupReader.Silo(host.Services);
    }

    private sealed class Noting(ConcurrentQueue<string> runs, string name) : IConnectionMiddleware
    {
        public Task OnConnectionAsync(ConnectionContext context, ConnectionDelegate next)
        {
            runs.Enqueue(name + context.ConnectionId);
            return next(context);
        }
    }

    private sealed record Password(string Text);

    private sealed class AsksForPassword(Password password) : IConnectionMiddleware
    {
        public async Task OnConnectionAsync(ConnectionContext context, ConnectionDelegate next)
        {
            var (kind, payload) = await ConnectionFrameHelper.ReadFrameAsync(context, context.ConnectionClosed, 100);
            if (kind != 1 || Encoding.UTF8.GetString(payload) != password.Text)
                throw new InvalidOperationException("wrong password");
            await ConnectionFrameHelper.WriteFrameAsync(context, 2, [], context.ConnectionClosed);
            await next(context);
        }
    }

    private sealed class TellsPassword(string text) : IConnectionMiddleware
    {
        public async Task OnConnectionAsync(ConnectionContext context, ConnectionDelegate next)
        {
            await ConnectionFrameHelper.WriteFrameAsync(context, 1, Encoding.UTF8.GetBytes(text), context.ConnectionClosed);
            await ConnectionFrameHelper.ReadFrameAsync(context, context.ConnectionClosed);
            await next(context);
        }
    }

    /// <summary>Puts pipes over the connection that invert some bits of every byte.</summary>
    private sealed class Xor : IConnectionMiddleware
    {
        public async Task OnConnectionAsync(ConnectionContext context, ConnectionDelegate next)
        {
            var (below, near, far) = (context.Transport, new Pipe(), new Pipe());
            var copies = Task.WhenAll(CopyAsync(below.Input, near.Writer), CopyAsync(far.Reader, below.Output));
            context.Transport = new Both(near.Reader, far.Writer);
            await next(context);
            await copies;
        }

        private static async Task CopyAsync(PipeReader from, PipeWriter to)
        {
            while (true)
            {
                var read = await from.ReadAsync();
                foreach (var segment in read.Buffer)
                {
                    var target = to.GetSpan(segment.Length);
                    for (var i = 0; i < segment.Length; i++)
                        target[i] = (byte)~segment.Span[i];
                    to.Advance(segment.Length);
                }

                from.AdvanceTo(read.Buffer.End);
                var flush = await to.FlushAsync();
                if (read.IsCompleted || flush.IsCompleted)
                    break;
            }

            await from.CompleteAsync();
            await to.CompleteAsync();
        }
    }

    private sealed record Both(PipeReader Input, PipeWriter Output) : IDuplexPipe;

    public sealed class XorEverywhere : ISiloConfigurator, IClientBuilderConfigurator
    {
        public void Configure(ISiloBuilder siloBuilder) => siloBuilder.Configure<SiloConnectionOptions>(static options =>
        {
            options.ConfigureSiloInboundConnection(static builder => builder.UseMiddleware(new Xor()));
            options.ConfigureSiloOutboundConnection(static builder => builder.UseMiddleware(new Xor()));
            options.ConfigureGatewayInboundConnection(static builder => builder.UseMiddleware(new Xor()));
        });

        public void Configure(Microsoft.Extensions.Configuration.IConfiguration configuration, IClientBuilder clientBuilder)
            => clientBuilder.Configure<ClientConnectionOptions>(
                static options => options.ConfigureConnection(static builder => builder.UseMiddleware(new Xor())));
    }

    public sealed class TlsEverywhere : ISiloConfigurator, IClientBuilderConfigurator
    {
        internal static X509Certificate2 Certificate { get; } = NewCertificate();

        internal static ConcurrentQueue<(SslProtocols Protocol, object? Suite, string? Subject, bool HasNoProtocol)> Seen { get; } = [];

        public void Configure(ISiloBuilder siloBuilder) => siloBuilder.Configure<SiloConnectionOptions>(static options =>
        {
            options.ConfigureSiloInboundConnection(static builder => Server(builder));
            options.ConfigureSiloOutboundConnection(static builder => Client(builder));
            options.ConfigureGatewayInboundConnection(static builder => Server(builder));
        });

        public void Configure(Microsoft.Extensions.Configuration.IConfiguration configuration, IClientBuilder clientBuilder)
            => clientBuilder.Configure<ClientConnectionOptions>(static options => options.ConfigureConnection(static builder => Client(builder)));

        private static void Server(IConnectionBuilder builder)
        {
            builder.UseServerTls(NewOptions());
            builder.Use(static (context, next) => See(context, next));
        }

        private static void Client(IConnectionBuilder builder)
        {
            builder.UseClientTls(NewOptions());
            builder.Use(static (context, next) => See(context, next));
        }

        private static TlsOptions NewOptions()
        {
            var options = new TlsOptions { LocalCertificate = Certificate };
            options.AllowAnyRemoteCertificate();
            return options;
        }

        private static Task See(ConnectionContext context, ConnectionDelegate next)
        {
            var handshake = context.Features.Get<ITlsHandshakeFeature>()!;
            Seen.Enqueue((handshake.Protocol, handshake.NegotiatedCipherSuite,
                context.Features.Get<ITlsConnectionFeature>()!.RemoteCertificate?.Subject,
                context.Features.Get<ITlsApplicationProtocolFeature>()!.ApplicationProtocol.IsEmpty));
            return next(context);
        }

        private static X509Certificate2 NewCertificate()
        {
            using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
            var now = TimeProvider.System.GetUtcNow();
            using var made = new CertificateRequest("CN=middleware", key, HashAlgorithmName.SHA256)
                .CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
            return X509CertificateLoader.LoadPkcs12(made.Export(X509ContentType.Pfx), null, X509KeyStorageFlags.Exportable);
        }
    }
}
