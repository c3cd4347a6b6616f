using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Net;
using System.Text;
using ActOp.Configuration;
using ActOp.Mesh;
using ActOp.Mesh.Transports;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using ActOp.TestClusters;
using ActOp.Wire;

namespace ActOp.Faults.Tests;

/// <summary>
/// Those who try to get in, or to keep others out: each is refused, counted and logged, while calls of an honest client go on without an
/// error and over the same connections.
/// </summary>
/// <param name="firstByte">How long a silo waits for the first byte of a connection.</param>
/// <param name="handshake">How long it waits for the end of a handshake.</param>
public abstract class HostileMesh(TimeSpan firstByte, TimeSpan handshake) : IAsyncLifetime
{
    private protected const string SiloSecret = "the secret of the silos, random";
    private protected const string ClientSecret = "the secret of the clients, random";
    private protected const string OtherSecret = "the secret of another cluster";
    private protected const int MaxOfAddress = 40;
    private protected const int MaxClientBytes = 64 << 10;

    private readonly CancellationTokenSource _enough = new();
    private protected readonly Counts _counts = new();
    private readonly List<Stranger> _strangers = [];
    private protected InProcessTestCluster _cluster = null!;
    private Task<int> _load = null!;

    private protected InProcessSiloHandle Silo => (InProcessSiloHandle)_cluster.Silos[0];

    private protected SiloAddress Other => _cluster.Silos[1].SiloAddress;

    private protected Node HonestClient => _cluster.Client.ServiceProvider.GetRequiredService<Node>();

    private protected Transport Network => _cluster.Client.ServiceProvider.GetRequiredService<Transport>();

    private protected EndPoint SiloPort => Silo.SiloAddress.Endpoint;

    private protected EndPoint Gateway => Silo.GatewayAddress.Endpoint;

    public async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((_, silo) => silo.UseClusterSecret(SiloSecret, ClientSecret)
            .Configure<ConnectionLimitOptions>(options =>
            {
                options.MaxConnectionsPerAddress = MaxOfAddress;
                options.MaxClientMessageBodySize = MaxClientBytes;
                options.FirstByteTimeout = firstByte;
            })
            .Configure<ConnectionOptions>(options => options.OpenConnectionTimeout = handshake));
        builder.ConfigureClient(client => client.UseClusterSecret(ClientSecret));
        _cluster = builder.Build();
        await _cluster.DeployAsync();
        _counts.Follow(Silo.SiloAddress.ToParsableString());
        _load = Task.Run(LoadAsync);
    }

    public async ValueTask DisposeAsync()
    {
        _strangers.ForEach(static stranger => stranger.Dispose());
        _enough.Cancel();
        Assert.True(await _load.WaitAsync(Gate.Patience) > 0);
        foreach (var honest in new[] { HonestClient.Address, Other })
            Assert.DoesNotContain("Disconnected from " + honest.ToParsableString(), _cluster.GetLog(), StringComparison.Ordinal);
        _counts.Dispose();
        await _cluster.DisposeAsync();
    }

    private protected static SiloAddress Unlisted => SiloAddress.New(IPAddress.Loopback, 9, 1);

    /// <summary>Clients have negative generations.</summary>
    private protected static string ClientName(int number) => SiloAddress.New(IPAddress.Loopback, 0, -number).ToParsableString();

    /// <summary>A refusal is counted, logged, and costs nobody else anything.</summary>
    private protected async Task RefusedAsync(DisconnectReason reason, int times = 1, bool isLogged = true)
    {
        await Until(() => _counts.Of(reason) >= times);
        if (isLogged)
        {
            await Until(
                () => _cluster.GetLog().Split(Environment.NewLine).Count(line => line.Contains("Handshake with", StringComparison.Ordinal)
                && line.Contains("refused: " + reason, StringComparison.Ordinal)) >= times);
        }

        Assert.False(_load.IsCompleted);
    }

    private protected Stranger Dial(string name, NodeKind kind, string? secret, EndPoint target, Action<MeshOptions>? configure = null)
    {
        var cluster = _cluster.Client.ServiceProvider.GetRequiredService<Microsoft.Extensions.Options.IOptions<ClusterOptions>>().Value;
        var options = new MeshOptions { ClusterId = cluster.ClusterId, ServiceId = cluster.ServiceId, HandshakeTimeout = handshake };
        options.SiloSecrets = options.ClientSecrets = secret is null ? [] : [Encoding.UTF8.GetBytes(secret)];
        configure?.Invoke(options);
        var stranger = new Stranger(new NodeId(name, kind), options, Network);
        _strangers.Add(stranger);
        stranger.Connect(target);
        return stranger;
    }

    private async Task<int> LoadAsync()
    {
        var calls = 0;
        do
            await _cluster.Client.GetGrain<IEchoGrain>("load" + (calls++ % 50)).Echo("hello");
        while (!_enough.IsCancellationRequested);
        return calls;
    }

    private protected static void SendAll(ByteStream stream, byte[] bytes) => Assert.Equal(bytes.Length, stream.Send(bytes));

    /// <summary>Whether the other end has closed the connection. What it has said before is dropped.</summary>
    private protected static bool IsOver(ByteStream stream)
    {
        int read;
        do
            read = stream.Receive(new byte[4096]);
        while (read > 0);
        return read != ByteStream.WouldBlock;
    }

    private protected static Task Until(Func<bool> so) =>
        TestingUtils.WaitUntilAsync(_ => Task.FromResult(so()), Gate.Patience, TimeSpan.FromMilliseconds(1));

    /// <summary>A node that is no part of the cluster, with a thread of its own.</summary>
    private protected sealed class Stranger : MeshEvents, IDisposable
    {
        private readonly MeshNode _mesh;
        private readonly Thread _thread;

        internal Stranger(NodeId id, MeshOptions options, Transport transport)
        {
            _mesh = new MeshNode(id, options, transport, this, TimeProvider.System);
            _thread = new Thread(() =>
            {
                while (_mesh.ControlPoller.Poll(1) >= 0 && _mesh.GetPoller(0).Poll(0) >= 0)
                {
                }
            });
        }

        internal string Name => _mesh.Id.Name;

        internal ConcurrentBag<Peer> Connected { get; } = [];

        internal ConcurrentQueue<byte[]> Frames { get; } = [];

        public override void PeerConnected(Peer peer) => Connected.Add(peer);

        public override void PeerDisconnected(Peer peer, DisconnectReason reason)
        {
        }

        public override void FramesReceived(Link link, FrameBatch frames)
        {
            foreach (var frame in frames)
                Frames.Enqueue(frame.ToArray());
        }

        public override void SendPending(Link link)
        {
            while (link.Flush() == FlushResult.More)
            {
            }
        }

        /// <summary>Each test counts its refusals, so nobody dials twice.</summary>
        public override void DialFailed(Peer peer, DisconnectReason reason, int failures) => peer.Keep = false;

        public void Dispose()
        {
            _mesh.Dispose();
            _thread.Join();
        }

        internal void Connect(EndPoint target)
        {
            _mesh.Connect(target);
            _thread.Start();
        }
    }

    /// <summary>Stands between a client and a silo, and keeps what each connection of the client has sent.</summary>
    private protected sealed class Relay : IDisposable
    {
        private readonly ConcurrentBag<(ByteStream From, ByteStream To, List<byte> Kept)> _ways = [];
        private readonly Listener _listener;
        private readonly Thread _thread;
        private volatile bool _isOver;

        internal Relay(Transport network, EndPoint target)
        {
            _listener = network.Listen(
                new IPEndPoint(IPAddress.Loopback, 0),
                stream =>
                {
                    var onward = network.Dial(target);
                    var kept = new List<byte>();
                    lock (Recorded)
                        Recorded.Add(kept);
                    _ways.Add((stream, onward, kept));
                    _ways.Add((onward, stream, []));
                },
                static error => throw error);
            _thread = new Thread(Pump);
            _thread.Start();
        }

        internal EndPoint EndPoint => _listener.EndPoint;

        internal List<List<byte>> Recorded { get; } = [];

        public void Dispose()
        {
            _isOver = true;
            _thread.Join();
            _listener.Dispose();
            foreach (var (from, _, _) in _ways)
                from.Dispose();
        }

        private void Pump()
        {
            var buffer = new byte[4096];
            while (!_isOver)
            {
                foreach (var (from, to, kept) in _ways)
                {
                    while (from.Receive(buffer) is > 0 and var read)
                    {
                        kept.AddRange(buffer.AsSpan(0, read));
                        to.Send(buffer.AsSpan(0, read));
                    }
                }

                Thread.Yield();
            }
        }
    }

    /// <summary>The refused handshakes and the broken links of one node, by reason.</summary>
    private protected sealed class Counts : IDisposable
    {
        private readonly MeterListener _listener = new();
        private readonly ConcurrentDictionary<string, long> _counts = new();

        internal void Follow(string node)
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name is "actop.mesh.handshake.failures" or "actop.mesh.links.broken"
                    && instrument.Meter.Tags!.Any(tag => tag.Value!.Equals(node)))
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            };
            _listener.SetMeasurementEventCallback<long>((_, count, tags, _) =>
                _counts.AddOrUpdate((string)tags[0].Value!, count, (_, before) => before + count));
            _listener.Start();
        }

        internal long Of(DisconnectReason reason) => _counts.GetValueOrDefault(reason.ToString());

        public void Dispose() => _listener.Dispose();
    }
}

/// <summary>Strangers that are refused for what they say: the silo waits for it however slow the machine is.</summary>
public sealed class HostileMeshTests() : HostileMesh(TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(1))
{
    [Theory]
    [InlineData(null)]
    [InlineData(OtherSecret)]
    [InlineData(ClientSecret)]
    public async Task Nobody_poses_as_a_silo_without_the_secret_of_the_silos(string? secret)
    {
        Dial("S127.0.0.1:9@1", NodeKind.Silo, secret, SiloPort);
        await RefusedAsync(DisconnectReason.NotAuthenticated);
    }

    [Theory]
    [InlineData(null)]
    [InlineData(OtherSecret)]
    public async Task Nobody_is_a_client_without_the_secret(string? secret)
    {
        Dial(ClientName(1), NodeKind.Client, secret, Gateway);
        await RefusedAsync(DisconnectReason.NotAuthenticated);
    }

    [Fact]
    public async Task A_silo_is_refused_at_the_gateway_and_a_client_at_the_port_of_the_silos()
    {
        Dial(Unlisted.ToParsableString(), NodeKind.Silo, ClientSecret, Gateway);
        await RefusedAsync(DisconnectReason.WrongRole);
        Dial(ClientName(1), NodeKind.Client, ClientSecret, SiloPort);
        await RefusedAsync(DisconnectReason.WrongRole, times: 2);
    }

    /// <summary>Even those who know the secrets.</summary>
    [Fact]
    public async Task The_name_of_another_is_taken()
    {
        Dial(HonestClient.Address.ToParsableString(), NodeKind.Client, ClientSecret, Gateway);
        await RefusedAsync(DisconnectReason.NameTaken);
        Dial(Other.ToParsableString(), NodeKind.Silo, SiloSecret, SiloPort);
        await RefusedAsync(DisconnectReason.NameTaken, times: 2);
        Dial(Silo.SiloAddress.ToParsableString(), NodeKind.Silo, SiloSecret, SiloPort);
        await RefusedAsync(DisconnectReason.Self);
    }

    /// <summary>
    /// The impostor was first at the silo of the grain, which gets the request from the silo of the client, and answers through it.
    /// </summary>
    [Fact]
    public async Task An_answer_goes_only_to_the_process_that_has_asked()
    {
        const ulong Ticket = 77;
        var grain = _cluster.Client.GetGrain<IEchoGrain>("asked");
        await Place.On(Other, () => grain.Echo("here"));
        var impostor = Dial(ClientName(7), NodeKind.Client, ClientSecret, ((InProcessSiloHandle)_cluster.Silos[1]).GatewayAddress.Endpoint);
        var honest = Dial(ClientName(7), NodeKind.Client, ClientSecret, Gateway);
        await Until(() => !impostor.Connected.IsEmpty && !honest.Connected.IsEmpty);

        var request = EchoOf(grain.GetGrainId(), Ticket, "between us");
        Assert.Equal(SendResult.Accepted, honest.Connected.First().GetLink(0)!.TryAppend(request));

        // The client also hears that its request was forwarded.
        static bool IsReply(byte[] frame) => frame[0] == (byte)FrameKind.Reply;
        await Until(() => honest.Frames.Any(IsReply) || !impostor.Frames.IsEmpty);
        Assert.Empty(impostor.Frames);
        var answer = Assert.Single(honest.Frames, IsReply);
        Assert.Equal(Ticket, BinaryPrimitives.ReadUInt64LittleEndian(answer.AsSpan(2)));
        Assert.Contains("between us", Encoding.UTF8.GetString(answer), StringComparison.Ordinal);
    }

    private static byte[] EchoOf(GrainId grain, ulong ticket, string text)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        var echo = TypeManifest.Methods.Single(
            static method => method.InterfaceType == typeof(IEchoGrain) && method.Name == nameof(IEchoGrain.Echo));
        new RequestHeader { ReplyTo = ticket, MethodId = echo.Id }.Write(ref writer, grain, default);
        writer.WriteNullableString(text);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    [Fact]
    public async Task A_name_must_be_the_address_of_a_node_of_its_kind()
    {
        Dial("nobody", NodeKind.Silo, SiloSecret, SiloPort);
        await RefusedAsync(DisconnectReason.WrongName);
        Dial(Unlisted.ToParsableString(), NodeKind.Client, ClientSecret, Gateway);
        await RefusedAsync(DisconnectReason.WrongName, times: 2);
    }

    [Fact]
    public async Task A_node_of_another_cluster_or_service_is_refused()
    {
        Dial(ClientName(1), NodeKind.Client, ClientSecret, Gateway, static options => options.ClusterId = "another");
        await RefusedAsync(DisconnectReason.WrongCluster);
        Dial(ClientName(2), NodeKind.Client, ClientSecret, Gateway, static options => options.ServiceId = "another");
        await RefusedAsync(DisconnectReason.WrongService);
    }

    [Fact]
    public async Task What_was_recorded_opens_no_other_connection()
    {
        using var relay = new Relay(Network, Gateway);
        var insider = Dial(ClientName(1), NodeKind.Client, ClientSecret, relay.EndPoint);
        await Until(() => !insider.Connected.IsEmpty);
        insider.Dispose();
        var refused = 0;
        foreach (var recorded in relay.Recorded)
        {
            using var thief = Network.Dial(Gateway);
            SendAll(thief, [.. recorded]);
            await RefusedAsync(DisconnectReason.NotAuthenticated, ++refused);
        }

        Assert.True(relay.Recorded.Count >= 2);
    }

    [Fact]
    public async Task What_is_no_handshake_is_cut_before_anything_is_stored_for_it()
    {
        byte[][] garbage =
        [
            [0, 0, 0x10, 0, 1, 2, 3, 4], [0xFF, 0xFF, 0xFF, 0x7F, 1, 2, 3, 4], [1, 0x10, 0, 0, 1, 2, 3, 4],
            Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\nHost: silo\r\n\r\n"),
        ];
        var refused = 0;
        foreach (var endPoint in new[] { SiloPort, Gateway })
        {
            foreach (var bytes in garbage)
            {
                using var stranger = Network.Dial(endPoint);
                SendAll(stranger, bytes);
                await RefusedAsync(DisconnectReason.Garbage, ++refused);
                await Until(() => IsOver(stranger));
            }
        }
    }

    [Fact]
    public async Task A_client_that_sends_a_frame_beyond_its_limit_loses_its_own_link()
    {
        var insider = Dial(ClientName(1), NodeKind.Client, ClientSecret, Gateway);
        await Until(() => !insider.Connected.IsEmpty);
        Assert.Equal(SendResult.Accepted, insider.Connected.First().GetLink(0)!.TryAppend(new byte[MaxClientBytes + 1]));
        await Until(() => _counts.Of(DisconnectReason.FrameTooLarge) > 0);
        await Until(() => _cluster.GetLog().Contains("of " + insider.Name + " broke: FrameTooLarge", StringComparison.Ordinal));
    }
}

/// <summary>Strangers that are refused for what they do not say. The limits are longer than a machine stands still.</summary>
public sealed class SilentStrangerTests() : HostileMesh(TimeSpan.FromSeconds(4), TimeSpan.FromSeconds(5))
{
    [Fact]
    public async Task An_address_gets_no_more_connections_than_its_limit_and_those_that_say_nothing_are_closed()
    {
        var idle = Enumerable.Range(0, MaxOfAddress + 6).Select(_ => Network.Dial(Gateway)).ToArray();
        await RefusedAsync(DisconnectReason.TooManyConnectionsOfAddress, times: 6);
        await RefusedAsync(DisconnectReason.HandshakeTimeout, times: 20, isLogged: false);
        await Until(() => idle.All(IsOver));
        Array.ForEach(idle, static stream => stream.Dispose());
        // Then there is room again for those who behave.
        var insider = Dial(ClientName(1), NodeKind.Client, ClientSecret, Gateway);
        await Until(() => !insider.Connected.IsEmpty);
    }

    [Fact]
    public async Task A_handshake_that_stops_half_way_ends_in_time()
    {
        using var stranger = Network.Dial(SiloPort);
        SendAll(stranger, [40, 0, 0, 0, 1, 2, 3]);
        await RefusedAsync(DisconnectReason.HandshakeTimeout);
        await Until(() => IsOver(stranger));
    }
}
