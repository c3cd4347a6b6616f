#pragma warning disable RS0030 // A callback that hangs needs a thread to hang on.
using System.Net;
using System.Security.Authentication;
using System.Text;
using ActOp.Mesh.Transports;
using Microsoft.Extensions.Logging;
using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

/// <summary>What TLS accepts, what it refuses and says about it, and that it stays on the threads of the mesh.</summary>
public sealed class TlsTests : IDisposable
{
    private static readonly IPEndPoint Stranger = new(IPAddress.Loopback, 777);
    private readonly TestMesh _mesh = new(Wire.Memory);
    private readonly Dictionary<TestNode, TestTls> _tls = [];

    public void Dispose() => _mesh.Dispose();

    [Theory, InlineData(SslProtocols.Tls12), InlineData(SslProtocols.Tls13)]
    public void Frames_larger_than_records_pass_both_ways_in_both_versions(SslProtocols protocol)
    {
        var (a, b) = (Add("a", tls => tls.Protocols = protocol), Add("b"));
        var peer = Connect(a, b);
        var big = new byte[300_000];
        new Random(3).NextBytes(big);
        for (var i = 0; i < 5; i++)
        {
            peer.GetLink(0)!.TryAppend(big);
            b.Connected[0].GetLink(0)!.TryAppend(big);
            _mesh.Until(() => a.AllFrames.Count() > i && b.AllFrames.Count() > i);
        }

        Assert.All(a.AllFrames.Concat(b.AllFrames), frame => Assert.Equal(big, frame));
        Assert.Contains(a.Log, line => line.StartsWith("1035") && line.Contains(protocol.ToString()));
    }

    [Theory, InlineData("expired"), InlineData("not valid yet"), InlineData("other name"), InlineData("other root"), InlineData("revoked")]
    public void A_listener_whose_certificate_is_not_good_is_refused_and_both_ends_log_it(string fault)
    {
        var (a, b) = (Add("a", tls => Spoil(tls, fault, isRemote: true)), Add("b", tls => Spoil(tls, fault, isRemote: false)));
        a.Mesh.Connect(b.EndPoint);
        _mesh.Until(() => a.Events.Contains("!TlsFailed") && b.Mesh.LinkCount == 0 && Tells(a, 1030)
            && (Tells(b, 1030) || Tells(b, 1033)));
        Assert.NotEmpty(Assert.Single(a.Mesh.Peers()).LastFailure!.Why!);
        Assert.Empty(a.Connected);
        Assert.Empty(b.Connected);
    }

    [Theory, InlineData("expired"), InlineData("not valid yet"), InlineData("other root"), InlineData("revoked"), InlineData("none")]
    public void A_dialler_whose_certificate_is_not_good_is_refused_and_both_ends_log_it(string fault)
    {
        var (a, b) = (Add("a", tls => Spoil(tls, fault, isRemote: false)), Add("b", tls => Spoil(tls, fault, isRemote: true)));
        a.Mesh.Connect(b.EndPoint);
        _mesh.Until(() => a.Events.Count > 0 && b.Mesh.LinkCount == 0 && Tells(b, 1030) && (Tells(a, 1030) || Tells(a, 1033)));
        Assert.DoesNotContain("+b", a.Events);
        Assert.Contains("certificate", Assert.Single(a.Mesh.Peers()).LastFailure!.Why!);
        Assert.Empty(b.Events);
    }

    [Fact]
    public void A_listener_beyond_loopback_is_no_reason_to_warn()
    {
        var a = Add("a");
        a.Mesh.Listen(new System.Net.IPEndPoint(System.Net.IPAddress.Parse("10.0.0.7"), 30_001), NodeKind.Client);
        Assert.DoesNotContain(a.Log, static line => line.StartsWith("1011", StringComparison.Ordinal));
    }

    [Fact]
    public void A_listener_may_accept_diallers_without_a_certificate()
    {
        var (a, b) = (Add("a", tls => tls.Certificate = null), Add("b", tls => tls.RequiresClientCertificate = false));
        Connect(a, b);
        Assert.Equal(["CN=b", "CN=b"], _tls[a].Seen);
        Assert.Empty(_tls[b].Seen);
    }

    [Fact]
    public void A_new_certificate_is_shown_to_new_connections_and_the_old_ones_go_on()
    {
        var (a, b) = (Add("a"), Add("b"));
        var peer = Connect(a, b);
        var sent = 0;
        for (var round = 0; round < 10; round++)
        {
            _tls[b].Certificate = TestRoot.Default.Issue("b" + round);
            var other = Add("c" + round);
            other.Mesh.Connect(b.EndPoint);
            _mesh.Until(() =>
            {
                peer.GetLink(0)!.TryAppend(Number(sent++));
                return other.Connected.Count == 1;
            });
            Assert.Equal(["CN=b" + round, "CN=b" + round], _tls[other].Seen);
        }

        _mesh.Until(() => b.AllFrames.Count() == sent);
        Assert.Equal(Enumerable.Range(0, sent), b.AllFrames.Select(frame => Number(frame)));
        Assert.Equal(["CN=b", "CN=b"], _tls[a].Seen);
        Assert.Equal(["+b"], a.Events);
    }

    [Fact]
    public void Every_step_runs_on_the_thread_that_polls()
    {
        var threads = new HashSet<int>();
        _mesh.Network.Delay = (_, _) =>
        {
            threads.Add(Environment.CurrentManagedThreadId);
            return TimeSpan.Zero;
        };
        void Note() => threads.Add(Environment.CurrentManagedThreadId);
        Action<TestTls> noted = tls =>
        {
            tls.Asked = _ => Note();
            tls.Check = _ =>
            {
                Note();
                return true;
            };
        };
        var (a, b) = (Add("a", noted), Add("b", noted));
        var peer = Connect(a, b);
        b.Receiver = (link, frames) =>
        {
            Note();
            foreach (var body in frames)
            {
                link.TryAppend(body);
            }
        };
        for (var i = 0; i < 50; i++)
        {
            peer.GetLink(0)!.TryAppend(new byte[1000 * i]);
            _mesh.Until(() => a.AllFrames.Count() > i);
        }

        peer.Close();
        _mesh.Until(() => a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0);
        Assert.Equal([Environment.CurrentManagedThreadId], threads);
    }

    [Fact]
    public void Many_links_of_many_nodes_open_and_close()
    {
        var b = Add("b");
        var others = Enumerable.Range(0, 12).Select(i => Add("a" + i, links: 16)).ToArray();
        var peers = others.Select(other => other.Mesh.Connect(b.EndPoint)).ToArray();
        _mesh.Until(() => b.Connected.Count == 12 && b.Mesh.LinkCount == 12 * 17);
        for (var i = 0; i < 16 * 12; i++)
        {
            peers[i % 12].GetLink((uint)i / 12)!.TryAppend(Number(i));
        }

        _mesh.Until(() => b.AllFrames.Count() == 16 * 12);
        // Half of them closes, the other half is closed.
        Array.ForEach(peers[..6], peer => peer.Close());
        b.Connected.Where(peer => peers[6..].Any(other => other.State == PeerState.Connected)).ToList().ForEach(peer => peer.Close());
        _mesh.Until(() => b.Mesh.LinkCount == 0);
        Assert.DoesNotContain(b.Events, line => line.Contains("Reset"));
    }

    [Fact]
    public void A_dialler_without_TLS_is_refused_in_time_and_both_ends_log_the_reason()
    {
        var b = Add("b");
        var plain = _mesh.Add("plain");
        plain.Mesh.Connect(b.EndPoint);
        _mesh.Rounds(5);
        Assert.Equal(2, b.Mesh.LinkCount);
        _mesh.Clock.Advance(TimeSpan.FromSeconds(2));
        _mesh.Until(() => b.Mesh.LinkCount == 0 && Tells(b, 1032) && Tells(plain, 1034));
        Assert.Empty(b.Events);
    }

    [Fact]
    public void A_listener_without_TLS_is_refused_at_once_and_both_ends_log_the_reason()
    {
        var a = Add("a");
        var plain = _mesh.Add("plain");
        a.Mesh.Connect(plain.EndPoint);
        _mesh.Until(() => Tells(a, 1031) && Tells(plain, 1034) && plain.Mesh.LinkCount == 0);
        Assert.Empty(plain.Events);
    }

    [Theory, InlineData("GET / HTTP/1.1\r\n\r\n"), InlineData("x")]
    public void Bytes_that_are_not_TLS_are_refused_at_once(string text)
    {
        var b = Add("b");
        using var stranger = Dial(b);
        stranger.Send(Encoding.ASCII.GetBytes(text));
        _mesh.Until(() => b.Mesh.LinkCount == 0 && Tells(b, 1031));
    }

    [Fact]
    public void A_handshake_that_is_cut_off_is_refused()
    {
        var b = Add("b");
        using (var stranger = Dial(b))
        {
            stranger.Send([0x16, 3, 1, 2, 0, 1, 0]);
            _mesh.Rounds(3);
            Assert.Equal(1, b.Mesh.LinkCount);
        }

        _mesh.Until(() => b.Mesh.LinkCount == 0 && Tells(b, 1030));
    }

    [Fact]
    public void A_handshake_that_goes_on_has_the_time_of_a_handshake_and_no_more()
    {
        var b = Add("b");
        using var stranger = Dial(b);
        stranger.Send([0x16, 3, 1, 2, 0, 1, 0]);
        _mesh.Rounds(3);
        _mesh.Clock.Advance(TimeSpan.FromSeconds(4));
        _mesh.Rounds(3);
        Assert.Equal(1, b.Mesh.LinkCount);
        _mesh.Clock.Advance(TimeSpan.FromSeconds(2));
        _mesh.Until(() => b.Mesh.LinkCount == 0 && Tells(b, 1003));
        Assert.Contains(b.Log, line => line.Contains("HandshakeTimeout"));
    }

    [Theory, InlineData(true), InlineData(false)]
    public void A_callback_that_throws_ends_its_connection_only(bool inCheck)
    {
        var (a, b, c) = (Add("a"), Add("b"), Add("c"));
        Connect(c, b);
        _tls[b].Check = inCheck ? static _ => throw new InvalidOperationException("my check") : null;
        _tls[b].Asked = inCheck ? null : static _ => throw new InvalidOperationException("my certificate");
        a.Mesh.Connect(b.EndPoint);
        _mesh.Until(() => a.Events.Count > 0 && b.Mesh.LinkCount == 2 && Tells(b, 1030));
        Assert.Contains(b.Log, line => line.StartsWith("1030") && line.Contains(inCheck ? "my check" : "my certificate"));
        (_tls[b].Check, _tls[b].Asked) = (null, null);
        _mesh.Clock.Advance(TimeSpan.FromSeconds(1));
        _mesh.Until(() => a.Connected.Count == 1);
        Assert.Equal(["+b"], c.Events);
    }

    [Fact]
    public void A_log_that_throws_ends_no_thread_and_the_connection_is_closed()
    {
        var log = new NodeLog { Throws = true };
        var threads = new List<Thread>();
        var tls = TestMesh.Tls("b");
        tls.Asked = static _ => throw new InvalidOperationException("my certificate");
        tls.Run = step =>
        {
            var thread = new Thread(() => step());
            threads.Add(thread);
            thread.Start();
        };
        var b = _mesh.Add("b", wrap: transport => tls.Wrap(transport, log));
        var a = Add("a");
        a.Mesh.Connect(b.EndPoint);
        _mesh.Until(() => a.Events.Count > 0 && b.Mesh.LinkCount == 0);
        Assert.NotEmpty(threads);
        threads.ForEach(thread => thread.Join());
    }

    [Fact]
    public void A_callback_that_hangs_holds_its_thread_and_neither_the_polling_thread_nor_the_connection()
    {
        using var hanging = new ManualResetEventSlim();
        using var begun = new CountdownEvent(2);
        var threads = new List<Thread>();
        var b = Add("b", tls => tls.Run = step =>
        {
            var thread = new Thread(() => step());
            threads.Add(thread);
            thread.Start();
        });
        _tls[b].Asked = _ =>
        {
            begun.Signal();
            hanging.Wait();
        };
        var a = Add("a");
        a.Mesh.Connect(b.EndPoint);
        // The callbacks run on threads of their own, which need real time to start.
        _mesh.Until(() => begun.Wait(TimeSpan.FromMilliseconds(5)));
        _tls[b].Asked = null;
        var c = Add("c");
        var peer = c.Mesh.Connect(b.EndPoint);
        _mesh.UntilOf(c, () => c.Connected.Count == 1, _mesh.Round);
        peer.GetLink(0)!.TryAppend(Number(1));
        _mesh.Until(() => b.AllFrames.Any());
        Assert.Equal(4, b.Mesh.LinkCount);
        _mesh.Clock.Advance(TimeSpan.FromSeconds(5));
        _mesh.Until(() => b.Mesh.LinkCount == 2);
        hanging.Set();
        threads.ForEach(thread => thread.Join());
        Assert.Equal(["+c"], b.Events);
    }

    [Fact]
    public void An_end_that_is_not_announced_is_a_failure_and_not_an_end()
    {
        Tap wire = null!;
        var b = Add("b");
        var a = _mesh.Add("a", wrap: transport => TestMesh.Tls("a").Wrap(wire = new Tap(transport)));
        Connect(a, b);
        // As whoever is on the way between the two could do.
        wire.Dialled[1].FinishSending();
        _mesh.Until(() => b.Events.Contains("-a:Reset"));
        Assert.Contains(b.Log, line => line.StartsWith("1033"));
    }

    [Fact]
    public void A_port_that_nobody_listens_at_is_no_matter_of_TLS()
    {
        var a = Add("a");
        a.Mesh.Connect(Stranger);
        _mesh.Until(() => a.Events.Contains("!ConnectRefused"));
        Assert.DoesNotContain(a.Log, line => line.StartsWith("103"));
    }

    private static bool Tells(TestNode node, int id) => node.Log.Any(line => line.StartsWith(id.ToString()));

    private static void Spoil(TestTls tls, string fault, bool isRemote)
    {
        var root = TestRoot.Default;
        switch (fault)
        {
            case "revoked" when isRemote:
                tls.Check = static _ => false;
                break;
            case "other root" when isRemote:
                tls.Root = new TestRoot("other root");
                break;
            case "expired" when !isRemote:
                tls.Certificate = root.Issue("expired", fromDays: -9, toDays: -2);
                break;
            case "not valid yet" when !isRemote:
                tls.Certificate = root.Issue("early", fromDays: 2, toDays: 9);
                break;
            case "other name" when !isRemote:
                tls.Certificate = root.Issue("other", "other.example", IPAddress.Parse("10.9.9.9"));
                break;
            case "none" when !isRemote:
                tls.Certificate = null;
                break;
        }
    }

    private ByteStream Dial(TestNode node) => _mesh.Network.CreateTransport(Stranger).Dial(node.EndPoint);

    private TestNode Add(string name, Action<TestTls>? configure = null, int links = 1)
    {
        var tls = TestMesh.Tls(name);
        configure?.Invoke(tls);
        var log = new NodeLog();
        var node = _mesh.Add(name, options => options.LinksPerPeer = links, wrap: transport => tls.Wrap(transport, log));
        log.Node = node;
        _tls.Add(node, tls);
        return node;
    }

    private Peer Connect(TestNode a, TestNode b)
    {
        var peer = a.Mesh.Connect(b.EndPoint);
        _mesh.Until(() => a.Connected.Count == 1 && b.Connected.Any(other => other.Name == a.Mesh.Id.Name), "connected");
        _mesh.Rounds(3);
        return peer;
    }

    /// <summary>The log of a node that is made after its transport.</summary>
    private sealed class NodeLog : ILogger
    {
        public TestNode Node { get; set; } = null!;

        public bool Throws { get; init; }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (Throws)
            {
                throw new IOException("The log is full.");
            }

            ((ILogger)Node).Log(
                logLevel, eventId, (state, exception), null, (both, _) => formatter(both.state, both.exception) + both.exception);
        }
    }

    /// <summary>A transport that keeps what it has dialled.</summary>
    private sealed class Tap(Transport inner) : Transport
    {
        public List<ByteStream> Dialled { get; } = [];

        public override ByteStream Dial(EndPoint endPoint)
        {
            Dialled.Add(inner.Dial(endPoint));
            return Dialled[^1];
        }

        public override Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed)
            => inner.Listen(endPoint, accepted, failed);

        public override Readiness CreateReadiness() => inner.CreateReadiness();
    }
}
