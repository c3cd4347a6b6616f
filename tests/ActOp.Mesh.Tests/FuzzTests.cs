using System.Buffers.Binary;
using System.Net;
using System.Text;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh.Tests;

/// <summary>
/// Every state of the handshake with every message, right, changed, cut or made up. <c>ACTOP_FUZZ</c> sets the number of frames (100,000
/// unless set), <c>ACTOP_FUZZ_SEED</c> the seed:
/// <c>ACTOP_FUZZ=10000000 dotnet test -c Release tests/ActOp.Mesh.Tests --filter FullyQualifiedName~FuzzTests</c>.
/// </summary>
[Collection(nameof(Alone))]
public class FuzzTests(ITestOutputHelper output)
{
    private static readonly long Frames = long.TryParse(Environment.GetEnvironmentVariable("ACTOP_FUZZ"), out var count) ? count : 100_000;
    private static readonly int Seed = int.TryParse(Environment.GetEnvironmentVariable("ACTOP_FUZZ_SEED"), out var seed) ? seed : 1;

    [Theory, InlineData(false), InlineData(true)]
    public void Whatever_a_peer_says_costs_its_own_link_and_no_memory(bool hasSecret)
    {
        using var fuzzer = new Fuzzer(hasSecret, Seed);
        fuzzer.Run(Math.Min(1_000, Frames / 4));
        var before = GC.GetTotalMemory(forceFullCollection: true);
        fuzzer.Run(Frames / 2);
        fuzzer.EndAll();
        var grown = GC.GetTotalMemory(forceFullCollection: true) - before;
        output.WriteLine($"{fuzzer.Sent} frames on {fuzzer.Connections} connections, {fuzzer.Sessions} sessions, most held "
            + $"{fuzzer.MostLinks} links and {fuzzer.MostUnfinished} bytes of unfinished frames, memory grown by {grown} bytes; refusals: "
            + string.Join(", ", fuzzer.Refusals.OrderBy(pair => pair.Key).Select(pair => $"{pair.Key} {pair.Value}")));
        Assert.Equal(0, fuzzer.Node.Mesh.LinkCount);
        Assert.Equal(0, fuzzer.Node.Mesh.Unfinished.All);
        Assert.Empty(fuzzer.Node.Mesh.Peers());
        Assert.Empty(fuzzer.Errors);
        Assert.Equal(0, fuzzer.Intruders);
        Assert.True(fuzzer.Sessions > 0);
        Assert.InRange(grown, long.MinValue, 4 << 20);
        // Each reason that a frame can cause was caused.
        string[] reasons = ["WrongVersion", "WrongRole", "WrongCluster", "WrongService", "Duplicate", "NameTaken", "Self"];
        Assert.Empty(reasons.Except(fuzzer.Refusals.Keys));
        Assert.Equal(hasSecret, fuzzer.Refusals.ContainsKey("NotAuthenticated"));
    }
}

/// <summary>Peers of one node that misbehave in every way, drawn from one seed. One thread, virtual time.</summary>
internal sealed class Fuzzer : IDisposable
{
    private const int MaxOpen = 24;
    private static readonly byte[] Secret = Encoding.UTF8.GetBytes("the secret that insiders know");

    private readonly TestMesh _mesh = new(Wire.Memory, 16 << 10);
    private readonly Random _random;
    private readonly byte[]? _key;
    private readonly Transport _transport;
    private readonly List<Strange> _open = [];
    private readonly Queue<ByteStream> _accepted = new();
    private readonly IPEndPoint[] _listeners;

    public Fuzzer(bool hasSecret, int seed)
    {
        _random = new Random(seed);
        Node = _mesh.Add("victim", options =>
        {
            options.SiloSecrets = hasSecret ? [Secret] : [];
            options.MaxFrameBytes = 64 << 10;
            options.ReceiveBufferBytes = 16 << 10;
            options.MaxUnfinishedBytes = options.MaxUnfinishedClientBytes = 256 << 10;
            options.MaxDialsPerSecond = 1_000_000;
            options.Random = _random.NextBytes;
        });
        Node.Receiver = static (_, _) => { };
        _key = hasSecret ? new HandshakeKeys(new MeshOptions { SiloSecrets = [Secret] }).KeysOf(NodeKind.Silo)[0] : null;
        _transport = _mesh.Network.CreateTransport(new IPEndPoint(IPAddress.Parse("10.0.0.7"), 1));
        _listeners = [.. Enumerable.Range(20_000, 6).Select(port => new IPEndPoint(IPAddress.Parse("10.0.0.7"), port))];
        foreach (var endPoint in _listeners)
        {
            _transport.Listen(endPoint, _accepted.Enqueue, static error => throw error);
        }
    }

    public TestNode Node { get; }

    public long Sent { get; private set; }

    public long Connections { get; private set; }

    public long Sessions { get; private set; }

    /// <summary>Sessions of those who do not know the secret.</summary>
    public long Intruders { get; private set; }

    public int MostLinks { get; private set; }

    public long MostUnfinished { get; private set; }

    public Dictionary<string, long> Refusals { get; } = [];

    public List<string> Errors { get; } = [];

    public void Run(long frames)
    {
        for (var end = Sent + frames; Sent < end;)
        {
            if (_random.Next(3) == 0)
            {
                LetItDial();
            }
            else
            {
                var persona = new Persona(this);
                for (var place = 0; place < 2; place++)
                {
                    Open(new Strange(this, persona, place, _transport.Dial(Node.EndPoint), isDialler: true));
                }
            }

            for (var i = _random.Next(2, 12); i > 0 && _open.Count > 0; i--)
            {
                var index = _random.Next(_open.Count);
                if (_open[index].IsOver)
                {
                    End(index);
                    continue;
                }

                _open[index].Step();
                Pump();
            }

            Observe();
        }
    }

    public void EndAll()
    {
        foreach (var peer in Node.Mesh.Peers())
        {
            peer.Close();
        }

        while (_open.Count > 0)
        {
            End(0);
        }

        for (var i = 0; i < 30; i++)
        {
            _mesh.Clock.Advance(TimeSpan.FromSeconds(5));
            Pump();
            Pump();
        }

        Observe();
    }

    public void Dispose() => _mesh.Dispose();

    private void LetItDial()
    {
        var target = _listeners[_random.Next(_listeners.Length)];
        var expected = _random.Next(2) == 0 ? null : new NodeId(Persona.Names[_random.Next(Persona.Names.Length)], NodeKind.Silo);
        var peer = Node.Mesh.Connect(target, expected);
        Pump();
        var persona = new Persona(this);
        for (var place = 0; _accepted.TryDequeue(out var stream); place++)
        {
            Open(new Strange(this, persona, place, stream, isDialler: false));
        }

        if (_random.Next(3) == 0)
        {
            peer.Close();
        }
    }

    private void Open(Strange strange)
    {
        Connections++;
        _open.Add(strange);
        Pump();
        if (_open.Count > MaxOpen)
        {
            End(_random.Next(_open.Count));
        }

        if (_random.Next(200) == 0)
        {
            _mesh.Clock.Advance(TimeSpan.FromMilliseconds(_random.Next(3_000)));
        }
    }

    private void End(int index)
    {
        _open[index].Dispose();
        _open.RemoveAt(index);
        Pump();
    }

    private void Pump()
    {
        Node.Pump(0);
        MostLinks = Math.Max(MostLinks, Node.Mesh.LinkCount);
        MostUnfinished = Math.Max(MostUnfinished, Node.Mesh.Unfinished.All);
    }

    private void Observe()
    {
        foreach (var line in Node.Events)
        {
            Sessions += line[0] == '+' ? 1 : 0;
            Intruders += _key is not null && line.StartsWith("+stranger") ? 1 : 0;
        }

        Node.Events.Clear();
        Errors.AddRange(Node.Log.Where(static line => line[..4] is "1006" or "1007" or "1008" or "1009" or "1010"));
        Node.Log.Clear();
    }

    private void Count(DisconnectReason reason)
    {
        var name = reason.ToString();
        Refusals[name] = Refusals.GetValueOrDefault(name) + 1;
    }

    /// <summary>Who a connection, or several, pretend to be.</summary>
    private sealed class Persona
    {
        public static readonly string[] Names = ["a", "b", "w", "zz", "victim", new string('n', 1000)];

        public Persona(Fuzzer fuzzer)
        {
            var random = fuzzer._random;
            IsInsider = fuzzer._key is null || random.Next(3) > 0;
            Name = IsInsider ? Names[random.Next(Names.Length)] : "stranger" + random.Next(4);
            Session = (ulong)random.Next(1, 1_000);
            Token = [.. Enumerable.Repeat((byte)(random.Next(8) == 0 ? 1 : 0), 16)];
            Patience = random.Next(5);
        }

        public bool IsInsider { get; }

        public string Name { get; }

        public ulong Session { get; }

        public byte[] Token { get; }

        /// <summary>Frames that are right, before it begins to lie.</summary>
        public int Patience { get; }
    }

    /// <summary>One connection of somebody who behaves for a while, and then does not.</summary>
    private sealed class Strange(Fuzzer fuzzer, Persona persona, int place, ByteStream stream, bool isDialler) : IDisposable
    {
        private readonly RawEnd _end = new(stream);
        private readonly HandshakeTranscript _transcript = new();
        private readonly Random _random = fuzzer._random;
        private int _goodSteps = persona.Patience;
        private bool _hasBegun;

        public bool IsOver => _end.IsOver;

        /// <summary>The next frame: the right one as long as it behaves, then anything.</summary>
        public void Step()
        {
            HandshakeKind? heard = null;
            while (_end.Next() is { } frame)
            {
                heard = Hear(frame);
            }

            if (_end.IsOver)
            {
                return;
            }

            fuzzer.Sent++;
            if (_goodSteps-- > 0 && Right(heard) is { } right)
            {
                Say(right);
            }
            else if (_random.Next(4) == 0)
            {
                SendBytes(Any());
            }
            else
            {
                SendPieces(Changed(Any()));
            }
        }

        public void Dispose() => _end.Dispose();

        private HandshakeKind? Hear(byte[] bytes)
        {
            if (HandshakeFrame.Decode(bytes) is not { } frame)
            {
                return null;
            }

            if (frame.Kind == HandshakeKind.Refusal)
            {
                fuzzer.Count(frame.Reason);
            }
            else
            {
                _transcript.Add(bytes);
            }

            return frame.Kind;
        }

        /// <summary>What the other end waits for; null when there is nothing to say.</summary>
        private HandshakeFrame? Right(HandshakeKind? heard)
        {
            var kind = heard switch
            {
                HandshakeKind.Greeting => HandshakeKind.Hello,
                HandshakeKind.Hello => HandshakeKind.Answer,
                HandshakeKind.Answer => HandshakeKind.Claim,
                HandshakeKind.Claim => HandshakeKind.Welcome,
                _ when !isDialler && !_hasBegun => HandshakeKind.Greeting,
                _ => (HandshakeKind?)null,
            };
            _hasBegun = true;
            return kind is null ? null : Make(kind.Value);
        }

        private HandshakeFrame Make(HandshakeKind kind)
        {
            _transcript.Key = persona.IsInsider ? fuzzer._key : null;
            var nonce = new byte[32];
            _random.NextBytes(nonce);
            var lies = _random.Next(12) == 0;
            var links = lies ? (ushort)_random.Next(1, 65) : (ushort)1;
            var isControl = lies ? _random.Next(2) == 0 : place == 0;
            return new HandshakeFrame
            {
                Kind = kind,
                Nonce = nonce,
                Cluster = _transcript.Mark("cluster", _random.Next(30) == 0 ? "other" : "default", nonce),
                Service = _transcript.Mark("service", _random.Next(20) == 0 ? "other" : "default", nonce),
                NodeKind = _random.Next(30) == 0 ? NodeKind.Client : NodeKind.Silo,
                Name = persona.Name,
                KeepAlive = _random.Next(2) == 0 ? null : _random.Next(10_000),
                Session = lies ? (ulong)_random.Next(5) : persona.Session,
                Channel = isControl ? Channel.Control : Channel.Data,
                Links = links,
                Index = isControl ? (ushort)0 : (ushort)_random.Next(links),
                Supersedes = _random.Next(3) == 0 ? ulong.MaxValue : 0,
                Token = persona.Token,
                Reason = (DisconnectReason)_random.Next(40),
            };
        }

        private void Say(HandshakeFrame frame)
        {
            var bytes = _transcript.Seal(frame);
            _transcript.Add(bytes);
            SendBytes(bytes);
        }

        /// <summary>A frame of any kind, or what may follow a handshake.</summary>
        private byte[] Any()
        {
            switch (_random.Next(10))
            {
                case 0:
                    var noise = new byte[_random.Next(5_000)];
                    _random.NextBytes(noise);
                    return noise;
                case 1:
                    return new byte[_random.Next(64 << 10)];
                default:
                    var frame = Make((HandshakeKind)_random.Next(1, 7));
                    if (_random.Next(12) == 0)
                    {
                        (frame.MinVersion, frame.MaxVersion) = ((ushort)_random.Next(5), (ushort)_random.Next(5));
                    }

                    return _transcript.Seal(frame);
            }
        }

        private byte[] Changed(byte[] bytes)
        {
            for (var changes = _random.Next(1, 5); changes > 0 && bytes.Length > 0; changes--)
            {
                var at = _random.Next(bytes.Length);
                switch (_random.Next(5))
                {
                    case 0: bytes[at] ^= (byte)(1 << _random.Next(8)); break;
                    case 1: bytes[at] = (byte)_random.Next(256); break;
                    case 2: bytes = bytes[..at]; break;
                    case 3: bytes = [.. bytes, .. bytes[at..]]; break;
                    case 4: bytes = [.. bytes[at..], .. bytes[..at]]; break;
                }
            }

            return bytes;
        }

        private void SendBytes(byte[] body) => _end.SendFrame(body);

        /// <summary>In pieces, of which the last may be missing, behind a length that may be wrong.</summary>
        private void SendPieces(byte[] body)
        {
            byte[] bytes = [.. BitConverter.GetBytes(body.Length), .. body];
            if (_random.Next(4) == 0)
            {
                BinaryPrimitives.WriteInt32LittleEndian(bytes, _random.Next(3) switch
                {
                    0 => _random.Next(),
                    1 => -_random.Next(8),
                    _ => _random.Next(70_000),
                });
            }

            for (var at = 0; at < bytes.Length;)
            {
                var piece = _random.Next(1, bytes.Length - at + 1);
                _end.Send(bytes.AsSpan(at, piece));
                at += piece;
                fuzzer.Pump();
                if (_random.Next(6) == 0)
                {
                    return;
                }
            }
        }
    }
}
