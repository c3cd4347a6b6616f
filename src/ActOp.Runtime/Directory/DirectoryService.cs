using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Hosting;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A silo's part of the directory: carries the partition's messages, and serves the slots this silo owns.</summary>
/// <remarks>Runs on the turns of this system target, on the control stage.</remarks>
internal sealed class DirectoryService : IDirectoryTarget, ILocalActivations, IDisposable
{
    internal const string Name = "directory";

    private static readonly TimeSpan TickPeriod = TimeSpan.FromMilliseconds(100);

    private readonly Node _node;
    private readonly DirectoryPartition _partition;
    private ITimer? _timer;

    internal DirectoryService(Node node, DirectoryLimits limits, RegistrationFence fence)
    {
        _node = node;
        _partition = new DirectoryPartition(node.Address, limits, this, fence);
    }

    /// <summary>Who owns which slot; replaced with every view.</summary>
    internal SlotMap Map { get; private set; } = new(View.Empty);

    internal void Start() => _timer = _node.Time.CreateTimer(_ => Post(() => _partition.OnTick(Now)), null, TickPeriod, TickPeriod);

    internal void OnView(View view) => Post(() =>
    {
        _partition.OnView(view, Now);
        Map = _partition.Map;
    });

    public void Dispose() => _timer?.Dispose();

    public ValueTask<DirectoryReply> Lookup(GrainId grain) => new(_partition.Lookup(grain));

    public ValueTask<DirectoryReply> Register(RegisterRequest request)
    {
        var reply = _partition.Register(request);
        Pump();
        return new(reply);
    }

    public ValueTask<DirectoryReply> Unregister(Registration registration)
    {
        var reply = _partition.Unregister(registration.Grain, registration.Location.Activation);
        Pump();
        return new(reply);
    }

    public ValueTask RequestSlots(SlotRequest request)
    {
        _partition.OnSlotRequest(request, Now);
        return Pump();
    }

    public ValueTask ReplySlots(SlotReply reply)
    {
        _partition.OnSlotReply(reply, Now);
        return Pump();
    }

    public ValueTask AcknowledgeSlots(SlotAck ack)
    {
        _partition.OnSlotAck(ack);
        return Pump();
    }

    public ValueTask EndDuplicate(Registration loser)
    {
        if (_node.Activations.TryGet(loser.Grain, out var activation) && activation.ActivationId.Equals(loser.Location.Activation))
        {
            activation.Registered = false;
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.DuplicateActivation, "Another activation of the grain is registered."));
        }

        return default;
    }

    void ILocalActivations.CollectRegistered(SlotSet slots, List<Registration> into)
    {
        foreach (var activation in _node.Activations)
        {
            if (activation.Registered && slots.Contains(SlotMap.SlotOf(activation.GrainId)))
                into.Add(new Registration(activation.GrainId, new Location(_node.Address, activation.ActivationId, activation.Epoch)));
        }
    }

    private long Now => _node.Clock.Update();

    private void Post(Action step) => _node.DirectoryHost.Enqueue(new ActionWork(static state =>
    {
        var (service, action) = ((DirectoryService, Action))state!;
        action();
        service.Pump();
    }, (this, step)));

    private ValueTask Pump()
    {
        for (var next = 0; next < _partition.Actions.Count; next++)
            Act(_partition.Actions[next]);
        _partition.Actions.Clear();
        return default;
    }

    private void Act(DirectoryAction action)
    {
        switch (action)
        {
            case DirectoryAction.SendRequest send:
                _ = At(send.To).RequestSlots(send.Request);
                break;
            case DirectoryAction.SendReply send:
                _ = At(send.To).ReplySlots(send.Reply);
                break;
            case DirectoryAction.SendAck send:
                _ = At(send.To).AcknowledgeSlots(send.Ack);
                break;
            case DirectoryAction.Deactivate deactivate:
                _ = At(deactivate.Silo).EndDuplicate(deactivate.Loser);
                break;
            case DirectoryAction.RefreshView:
                _node.Cluster?.RefreshTable();
                break;
        }
    }

    private IDirectoryTarget At(SiloAddress silo) => _node.Factory.GetSystemTarget<IDirectoryTarget>(Name, silo);
}
