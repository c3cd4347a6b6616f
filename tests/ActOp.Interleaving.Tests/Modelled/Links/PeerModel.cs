using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Interleaving.Tests.Exploring;
using ActOp.Mesh;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using Orleans.Runtime;

namespace ActOp.Models;

/// <summary>
/// The entries of other nodes, threads that send to them, and the mesh, which connects, disconnects and dials. Each frame is given to a
/// link once, in the order of its sender, or its sender is told once; at rest nothing waits and nothing is counted; and a node that is
/// connected can be sent to.
/// </summary>
internal sealed class PeerModel(Action<PeerModel> spawn) : NodeModel
{
    private static readonly SiloAddress Silo = new("silo");
    private static readonly SiloAddress Client = new("client", IsClient: true);
    private static readonly SiloAddress OtherClient = new("other client", IsClient: true);

    private readonly List<(byte Sender, byte Number)> _sent = [];
    private readonly List<(byte Sender, byte Number)> _delivered = [];
    private readonly List<(byte Sender, byte Number)> _givenUp = [];
    private readonly Meter _meter = new();
    private readonly List<(SiloAddress Address, Peer Peer)> _connected = [];
    private PeerTable _table = null!;
    private PeerEntries _entries = null!;
    private Peer? _dialled;
    private int _left;

    internal static Dictionary<string, Func<Model>> All { get; } = new()
    {
        ["peer, a dial that succeeds"] = static () => new PeerModel(static model =>
        {
            model.Sender(1, Silo, 2);
            model.Sender(2, Silo, 1);
            model.Spawn("mesh", () =>
            {
                WaitFor(() => model._dialled is not null);
                model.Connect(Silo, model._dialled!);
            });
        }),
        ["peer, a dial that fails"] = static () => new PeerModel(static model =>
        {
            model.Sender(1, Silo, 2);
            model.Sender(2, Silo, 1);
            model.Spawn("mesh", () => model.FailDials(until: 10));
        }),
        ["peer, a dial that fails, and the next one"] = static () => new PeerModel(static model =>
        {
            model.Sender(1, Silo, 2);
            model.Spawn("mesh", () =>
            {
                model.FailDials(until: 1);
                model.Connect(Silo, model._dialled!);
            });
        }),
        ["peer, dials that fail and are not repeated"] = static () => new PeerModel(static model =>
        {
            model.Sender(1, Silo, 2);
            model.Spawn("mesh", () => model.FailDials(until: 10, isRepeated: false));
            model.Spawn("tick", model.TendUndialled);
        }),
        ["peer, a connection that is lost and comes again"] = static () => new PeerModel(static model =>
        {
            model.Connect(Silo, model.NewPeer());
            model.Sender(1, Silo, 2);
            model.Spawn("mesh", () =>
            {
                var peer = model._connected[0].Peer;
                model.Disconnect(Silo, isGone: false);
                model.Connect(Silo, peer);
            });
        }),
        ["peer, a silo that is removed while it is dialled"] = static () => new PeerModel(static model =>
        {
            model.Sender(1, Silo, 2);
            model.Spawn("mesh", () => model.FailDials(until: 10));
            model.Spawn("remover", () => model._entries.Remove(Silo));
        }),
        ["peer, a silo that is removed while it connects"] = static () => new PeerModel(static model =>
        {
            model.Sender(1, Silo, 1);
            model.Spawn("mesh", () =>
            {
                WaitFor(() => model._dialled is not null);
                model.Connect(Silo, model._dialled!);
                model.DisconnectClosed();
            });
            model.Spawn("remover", () => model._entries.Remove(Silo));
        }),
        ["peer, a client that goes"] = static () => new PeerModel(static model =>
        {
            model.Connect(Client, model.NewPeer());
            model.Sender(1, Client, 2);
            model.Spawn("mesh", () => model.Disconnect(Client, isGone: true));
        }),
        ["peer, a client that goes and comes again"] = static () => new PeerModel(static model =>
        {
            model.Connect(Client, model.NewPeer());
            model.Sender(1, Client, 2);
            model.Spawn("mesh", () =>
            {
                model.Disconnect(Client, isGone: true);
                model.Connect(Client, model.NewPeer());
            });
        }),
        ["peer, a silo that the view does not list, and that dials"] = static () => new PeerModel(static model =>
        {
            model.Sender(1, Silo, 1);
            model.Spawn("tick", () => model.Tend());
            model.Spawn("mesh", () =>
            {
                WaitFor(() => model._left == 0);
                model.Connect(Silo, model.NewPeer());
                model.DisconnectClosed();
            });
        })
        { IsListed = false },
        ["peer, a full link"] = static () => new PeerModel(static model =>
        {
            model.Connect(Silo, model.NewPeer());
            model.Sender(1, Silo, 3);
            model.Sender(2, Silo, 1);
        })
        { LinkFrames = 1 },
        ["peer, a full link that is lost"] = static () => new PeerModel(static model =>
        {
            model.Connect(Silo, model.NewPeer());
            model.Sender(1, Silo, 3);
            model.Spawn("mesh", () =>
            {
                var peer = model._connected[0].Peer;
                model.Disconnect(Silo, isGone: false);
                model.Connect(Silo, peer);
            });
        })
        { LinkFrames = 1 },
        ["peer, clients that do not read"] = static () => new PeerModel(static model =>
        {
            model.Connect(Client, model.NewPeer());
            model.Connect(OtherClient, model.NewPeer());
            model.Sender(1, Client, 2);
            model.Sender(2, OtherClient, 2);
            model.Spawn("mesh", () =>
            {
                WaitFor(() => model._left == 0);
                model.Disconnect(Client, isGone: true);
                model.Disconnect(OtherClient, isGone: true);
            });
        })
        { LinkFrames = 0, MaxBytes = 4 },
    };

    /// <summary>Frames that a link takes before it is full; 0: it is full, and takes none.</summary>
    internal int LinkFrames { get; init; } = 100;

    internal long MaxBytes { get; init; } = 100;

    internal bool IsListed { get; init; } = true;

    protected override void Prepare()
    {
        var local = new LocalNode(new SiloAddress("here"));
        _table = new PeerTable
        {
            Dialled = _ => !IsListed ? null : _dialled is { IsClosed: false } ? _dialled : _dialled = NewPeer(),
            GivenUp = frame => _givenUp.Add((frame[0], frame[1])),
        };
        _entries = new PeerEntries(address => new PeerEntry(_table, address, new Sender { Types = new TypeShare() }));
        _table.Waiting = new WaitingBytes(
            local, new ConnectionLimitOptions { MaxWaitingBytes = MaxBytes }, _meter, () => _entries.All);
        Spawn("control stage", _table.RunPosted);
    }

    protected override void Build() => spawn(this);

    protected override string? CheckRest()
    {
        foreach (var frame in _sent)
        {
            var fates = _delivered.Count(one => one == frame) + _givenUp.Count(one => one == frame);
            if (fates != 1)
                return fates == 0 ? "a frame vanished, and its sender was not told" : "a frame was sent and given up, or sent twice";
        }

        foreach (var of in _delivered.GroupBy(static frame => frame.Sender))
        {
            if (!of.Select(static frame => frame.Number).SequenceEqual(of.Select(static frame => frame.Number).Order()))
                return "frames of a sender were sent in another order";
        }

        if (_meter.Observed() != 0)
            return _meter.Observed() + " bytes are counted and nothing waits";
        foreach (var (address, peer) in _connected)
        {
            if (!peer.IsClosed && _entries.FindEntry(address) is not { IsConnected: true })
                return address + " is connected and cannot be sent to";
        }

        return null;
    }

    /// <summary>A thread that sends to a node, as the table of peers does.</summary>
    private void Sender(byte sender, SiloAddress address, byte count)
    {
        _left++;
        Spawn("sender", () =>
        {
            for (byte number = 0; number < count; number++)
            {
                var entry = _entries.FindEntry(address) ?? (address.IsClient ? null : _entries.GetOrAdd(address));
                if (entry?.Send(0, control: false, [sender, number]) is null && entry is not null)
                    _sent.Add((sender, number));
            }

            _left--;
        });
    }

    private Peer NewPeer()
    {
        var link = new PeerLink(this, LinkFrames);
        if (LinkFrames == 1)
            Spawn("network", link.RunNetwork);
        return new Peer(link);
    }

    private void Connect(SiloAddress address, Peer peer)
    {
        ((PeerLink)peer.Control!).IsClosed = false;
        _connected.Add((address, peer));
        _entries.Connect(address, peer, static (entry, peer) => peer.Tag = entry);
    }

    private void Disconnect(SiloAddress address, bool isGone)
    {
        var connection = _connected.Find(one => one.Address.Equals(address));
        _connected.Remove(connection);
        ((PeerLink)connection.Peer.Control!).Close();
        _entries.Disconnect((PeerEntry)connection.Peer.Tag!, connection.Peer, isGone);
    }

    /// <summary>A peer that was closed is disconnected at some time.</summary>
    private void DisconnectClosed()
    {
        WaitFor(() => _connected.Exists(static one => one.Peer.IsClosed) || _left == 0);
        if (_connected.Exists(static one => one.Peer.IsClosed))
            Disconnect(Silo, isGone: false);
    }

    /// <summary>The mesh dials, in vain, as long as frames wait.</summary>
    private void FailDials(int until, bool isRepeated = true)
    {
        for (var failed = 0; failed < until; failed++)
        {
            WaitFor(() => _dialled is { IsClosed: false } && HasWaiting);
            foreach (var entry in _entries.All)
                entry.DialFailed();
            if (!isRepeated)
                _dialled!.Close();
        }
    }

    private bool HasWaiting => _entries.All.Any(static entry => entry.WaitingBytes > 0);

    /// <summary>The ticks of the control stage while nobody dials.</summary>
    private void TendUndialled()
    {
        while (true)
        {
            WaitFor(() => _dialled is { IsClosed: true } && HasWaiting);
            foreach (var entry in _entries.All)
                entry.EnsureDialled();
        }
    }

    /// <summary>The ticks of the control stage.</summary>
    private void Tend()
    {
        for (var tick = 0; tick < 3; tick++)
        {
            _table.Now += PeerTable.LongestUnlistedMs;
            foreach (var entry in _entries.All)
            {
                if (entry.IsForsaken(_table.Now))
                    _entries.Remove(entry.Address);
            }
        }
    }

    private sealed class PeerLink(PeerModel model, int room) : Link
    {
        private readonly List<Action> _waiting = [];
        private readonly int _room = room;
        private int _left = room;

        internal bool IsClosed { get; set; }

        internal override long QueuedBytes => _room - _left;

        internal override long FramesSent => 0;

        internal override SendResult TryAppend(ReadOnlySpan<byte> frame)
        {
            Point.Fence("link");
            if (IsClosed)
                return SendResult.Closed;
            if (_left == 0)
                return SendResult.Full;
            _left--;
            model._delivered.Add((frame[0], frame[1]));
            return SendResult.Accepted;
        }

        internal override SendResult TryAppendDeferred(ReadOnlySpan<byte> frame) => TryAppend(frame);

        internal override FlushResult Flush() => throw new NotSupportedException(nameof(Flush));

        internal override RoomAwaiter WaitForRoomAsync(int bodyBytes)
        {
            Point.Fence("link");
            return new RoomAwaiter(continuation =>
            {
                if (IsClosed || _left > 0)
                    continuation();
                else
                    _waiting.Add(continuation);
            });
        }

        internal void Close()
        {
            Point.Fence("link");
            IsClosed = true;
            Report();
        }

        /// <summary>The network takes the frames when somebody waits for room.</summary>
        internal void RunNetwork()
        {
            while (true)
            {
                WaitFor(() => _waiting.Count > 0);
                _left = _room;
                Report();
            }
        }

        private void Report()
        {
            Action[] waiting = [.. _waiting];
            _waiting.Clear();
            foreach (var continuation in waiting)
                continuation();
        }
    }
}
