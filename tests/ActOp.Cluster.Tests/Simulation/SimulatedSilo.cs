using System.Net;
using ActOp.Mesh;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests.Simulation;

/// <summary>One silo: the protocol, its directory partition and its activations, driven as the runtime drives them.</summary>
internal sealed partial class SimulatedSilo
{
    private readonly SimulatedCluster _cluster;
    private readonly long _clockOffset;

    public SimulatedSilo(SimulatedCluster cluster, int port, int generation)
    {
        _cluster = cluster;
        _clockOffset = cluster.Random.Next(1_000_000);
        Port = port;
        Address = SiloAddress.New(IPAddress.Loopback, 10_000 + port, generation);
        Protocol = new MembershipProtocol(Address, $"silo-{port}", null, cluster.Options);
        Directory = new DirectoryPartition(Address, cluster.Limits, this, Fence);
    }

    public int Port { get; }

    public SiloAddress Address { get; }

    public MembershipProtocol Protocol { get; }

    public DirectoryPartition Directory { get; }

    public RegistrationFence Fence { get; } = new();

    public List<MembershipAction> Seen { get; } = [];

    public bool IsUp { get; private set; } = true;

    public bool IsHostLost { get; private set; }

    public bool ReachesTable { get; set; } = true;

    /// <summary>Added to every delay between an input's arrival and its handling: a sick, overloaded silo.</summary>
    public int Lag { get; set; }

    /// <summary>Not null: everybody's handshake with this silo fails so, because its settings are wrong.</summary>
    public DisconnectReason? RefusedBy { get; set; }

    /// <summary>Why nobody can dial its address; None if all can.</summary>
    public DisconnectReason NotReachable { get; set; }

    private long Clock => _cluster.Now + _clockOffset;

    /// <summary>Whether its activations may run turns at this very moment.</summary>
    public bool MayRunTurns => IsUp && Protocol.LeaseHeld && Clock < Protocol.LeaseDeadline;

    public string Describe() =>
        $"{Address} {Protocol.View.StatusOf(Address)} view {Protocol.View.Number} slots {string.Join(',', Enumerable.Range(0, SlotMap.SlotCount).GroupBy(Directory.StateOf).Select(states => $"{states.Key}={states.Count()}"))}";

    /// <summary>A message was not sent, because the handshake with the other silo fails.</summary>
    public void Refused(SiloAddress by, DisconnectReason reason) =>
        _cluster.After(1, () => Input(() => Protocol.OnNotReached(by, new DialFailure(reason, null))));

    public void Start()
    {
        Input(() => Protocol.Join(Clock));
        _cluster.After(200, () => Input(() => Protocol.Activate(Clock)));
        Tick();
    }

    public void Kill()
    {
        IsUp = false;
        foreach (var other in _cluster.Running)
        {
            other.Input(() => other.Protocol.OnLinkLost(Address, other.Clock));
        }
    }

    public void LoseHost()
    {
        IsUp = false;
        IsHostLost = true;
    }

    public void BeginShutdown() => Input(() => Protocol.BeginShutdown(Clock));

    public void Leave() => Input(() => Protocol.Leave(Clock));

    /// <summary>Ends all turns, then leaves.</summary>
    public void EndGracefully()
    {
        foreach (var grain in Activations.Keys.ToArray())
        {
            Deactivate(grain);
        }

        Activations.Clear();
        Leaving.Clear();
        Leave();
    }

    public void Input(Action action)
    {
        if (Lag > 0)
        {
            _cluster.After(Lag, () => Run(action));
        }
        else
        {
            Run(action);
        }
    }

    private void Run(Action action)
    {
        if (IsUp)
        {
            action();
            Drain();
        }
    }

    private void Tick()
    {
        if (IsUp)
        {
            Run(() =>
            {
                Protocol.Tick(Clock);
                Directory.OnTick(Clock);
            });
            _cluster.After(_cluster.Options.TickPeriod + Lag, Tick);
        }
    }

    private void Drain()
    {
        for (var i = 0; i < Protocol.Actions.Count; i++)
        {
            Seen.Add(Protocol.Actions[i]);
            Do(Protocol.Actions[i]);
        }

        Protocol.Actions.Clear();
        for (var i = 0; i < Directory.Actions.Count; i++)
        {
            Do(Directory.Actions[i]);
        }

        Directory.Actions.Clear();
        if (Protocol.Actions.Count > 0)
        {
            Drain();
        }
    }

    private void Do(MembershipAction action)
    {
        switch (action)
        {
            case MembershipAction.SendProbe send:
                _cluster.Send(
                    this, send.To, to =>
                        to.Input(() => to.Protocol.OnProbe(send.Probe, to.Clock)), () => Input(() => Protocol.OnRefused(send.To, Clock)));
                break;
            case MembershipAction.SendProbeReply send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Protocol.OnProbeReply(send.Reply, to.Clock)));
                break;
            case MembershipAction.SendIndirectProbe send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Protocol.OnIndirectProbe(send.Probe, to.Clock)));
                break;
            case MembershipAction.SendIndirectProbeReply send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Protocol.OnIndirectProbeReply(send.Reply, to.Clock)));
                break;
            case MembershipAction.SendGossip send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Protocol.OnGossip(send.Table, to.Clock)));
                break;
            case MembershipAction.SendIntroduction send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Protocol.OnIntroduction(send.Introduction, to.Clock)), () =>
                    Input(() => Protocol.OnNotReached(send.To, new DialFailure(DisconnectReason.ConnectRefused, null))));
                break;
            case MembershipAction.SendIntroductionReply send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Protocol.OnIntroductionReply(send.Reply, to.Clock)));
                break;
            case MembershipAction.DialBack dial:
                DialBack(dial.Silo);
                break;
            case MembershipAction.UseTable use:
                UseTable(use.Request);
                break;
            case MembershipAction.Publish publish:
                Directory.OnView(publish.View, Clock);
                break;
            case MembershipAction.StopDead or MembershipAction.Left:
                Activations.Clear();
                Leaving.Clear();
                break;
        }
    }

    /// <summary>A dial ends in any case; one that nobody answers by its time limit.</summary>
    private void DialBack(SiloAddress silo)
    {
        var hasEnded = false;
        if (_cluster.Silos.Find(other => other.Address.Equals(silo))?.RefusedBy is { } reason)
        {
            _cluster.After(1, () => End(reason));
        }

        _cluster.Send(this, silo, to => End(to.NotReachable), () => End(DisconnectReason.ConnectRefused));
        _cluster.After(5_000, () => End(DisconnectReason.HandshakeTimeout));

        void End(DisconnectReason reason)
        {
            if (!hasEnded)
            {
                hasEnded = true;
                Input(() => Protocol.OnDialledBack(silo, reason == DisconnectReason.None ? null : new DialFailure(reason, null)));
            }
        }
    }

    private void UseTable(TableRequest request)
    {
        if (!ReachesTable)
        {
            _cluster.After(50, () => Input(() => Protocol.OnTableFailed(request.Id, Clock)));
            return;
        }

        _cluster.After(_cluster.Random.Next(1, 6), () =>
        {
            var reply = _cluster.Table.Apply(request);
            if (_cluster.Random.NextDouble() >= _cluster.Faults.Loss)
            {
                _cluster.After(_cluster.Random.Next(1, 6), () => Input(() => Protocol.OnTableReply(reply, Clock)));
            }
        });
    }

    private void Do(DirectoryAction action)
    {
        switch (action)
        {
            case DirectoryAction.SendRequest send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Directory.OnSlotRequest(send.Request, to.Clock)));
                break;
            case DirectoryAction.SendReply send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Directory.OnSlotReply(send.Reply, to.Clock)));
                break;
            case DirectoryAction.SendAck send:
                _cluster.Send(this, send.To, to => to.Input(() => to.Directory.OnSlotAck(send.Ack)));
                break;
            case DirectoryAction.RefreshView:
                Protocol.Refresh(Clock);
                break;
            case DirectoryAction.Deactivate kill:
                _cluster.Send(this, kill.Silo, to => to.Input(() => to.End(kill.Loser)));
                break;
        }
    }
}
