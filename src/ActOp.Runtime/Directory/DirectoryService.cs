using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A silo's part of the directory: carries the partition's messages, and serves the slots this silo owns.</summary>
/// <remarks>Runs on the turns of this system target, on the control stage.</remarks>
internal sealed class DirectoryService : IDirectoryTarget, ILocalActivations, IDisposable
{
    internal const string Name = "directory";

    /// <summary>
    /// How long a request waits for a slot in transfer before its sender must repeat it. Longer than a successful rebuild takes.
    /// </summary>
    private static readonly TimeSpan LongestHold = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan TickPeriod = TimeSpan.FromMilliseconds(100);

    private readonly LocalNode _local;
    private readonly ActivationTable _activations;
    private readonly GrainFactory _factory;
    private readonly DirectoryPartition _partition;
    private readonly ActionPump<DirectoryAction> _pump;
    private volatile TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ITimer? _timer;

    internal DirectoryService(LocalNode local, ActivationTable activations, GrainFactory factory, DirectoryLimits limits,
        RegistrationFence fence)
    {
        _local = local;
        _activations = activations;
        _factory = factory;
        _partition = new DirectoryPartition(local.Address, limits, this, fence);
        _pump = new ActionPump<DirectoryAction>(_partition.Actions, Perform);
    }

    /// <summary>The activation on whose turns this target runs; set before the start.</summary>
    internal Activation Host { get; set; } = null!;

    /// <summary>Raised when another silo has a newer view than this silo.</summary>
    internal event Action? NewerViewSeen;

    /// <summary>Who owns which slot; replaced with every view.</summary>
    internal SlotMap Map { get; private set; } = new(View.Empty);

    /// <summary>Completes when the map changes, or when more slots are served here.</summary>
    internal Task Changed => _changed.Task;

    /// <summary>Entries of the slots that this silo serves.</summary>
    internal long Entries => _partition.Count;

    internal void Start() => _timer = _local.Time.CreateTimer(_ => Post(() => _partition.OnTick(Now)), null, TickPeriod, TickPeriod);

    internal void OnView(View view) => Post(() =>
    {
        _partition.OnView(view, Now);
        Map = _partition.Map;
        WakeWaiters();
    });

    /// <summary>Whether silos that are only silent have leases.</summary>
    internal bool HasLeases => _partition.HasLeases;

    /// <summary>Whether a silo that is dead in the view of <see cref="Map"/> may still run its grains. Any thread.</summary>
    internal bool IsLeased(SiloAddress silo) => _partition.EndOfLease(silo) > Now;

    /// <summary>Another silo has a newer view: this silo reads the membership table soon. Any thread.</summary>
    internal void RefreshView() => NewerViewSeen?.Invoke();

    public void Dispose() => _timer?.Dispose();

    /// <summary>
    /// Looks up a grain in the slots of this silo without waiting: returns at once if this silo does not serve the slot. Any thread.
    /// </summary>
    internal DirectoryReply LookupNow(in GrainId grain) => _partition.Lookup(grain);

    /// <inheritdoc cref="LookupNow"/>
    internal DirectoryReply RegisterNow(in RegisterRequest request) => _partition.Register(request);

    public ValueTask<DirectoryReply> Lookup(GrainId grain) =>
        Serve(grain, static (partition, id) => partition.Lookup(id));

    public ValueTask<DirectoryReply> Register(RegisterRequest request) =>
        Serve(request, static (partition, register) => partition.Register(register));

    public ValueTask<DirectoryReply> Unregister(Registration registration) =>
        Serve(registration, static (partition, gone) => partition.Unregister(gone.Grain, gone.Location.Activation));

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
        if (_activations.TryGet(loser.Grain, out var activation) && activation.ActivationId.Equals(loser.Location.Activation))
        {
            activation.Registered = false;
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.DuplicateActivation,
                "Another activation of the grain is registered."));
        }

        return default;
    }

    void ILocalActivations.CollectRegistered(SlotSet slots, List<Registration> into)
    {
        foreach (var activation in _activations)
        {
            if (slots.Contains(SlotMap.SlotOf(activation.GrainId)) && activation.RegisteredAs is { IsNone: false } location)
                into.Add(new Registration(activation.GrainId, location));
        }
    }

    /// <summary>Replies at once, or when the slot is served. A hand-over takes milliseconds, a rebuild somewhat longer.</summary>
    private ValueTask<DirectoryReply> Serve<TRequest>(TRequest request, Func<DirectoryPartition, TRequest, DirectoryReply> serve)
    {
        var reply = serve(_partition, request);
        return reply.Status == DirectoryStatus.NotReady ? new(ServeLater(request, serve)) : new(reply);
    }

    private async Task<DirectoryReply> ServeLater<TRequest>(TRequest request, Func<DirectoryPartition, TRequest, DirectoryReply> serve)
    {
        var until = Now + (long)LongestHold.TotalMilliseconds;
        while (true)
        {
            var changed = Changed;
            var reply = serve(_partition, request);
            var left = until - Now;
            if (reply.Status != DirectoryStatus.NotReady || left <= 0 || _local.Background.Stopping.IsCancellationRequested)
                return reply;
            await changed.WaitAsync(TimeSpan.FromMilliseconds(left), _local.TaskTime, _local.Background.Stopping)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }

    private void WakeWaiters()
    {
        var changed = _changed;
        _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        changed.TrySetResult();
    }

    private long Now => _local.Clock.Update();

    private void Post(Action step) => Host.Enqueue(new ActionItem(static state =>
    {
        var (service, action) = ((DirectoryService, Action))state!;
        action();
        service.Pump();
    }, (this, step)));

    private ValueTask Pump()
    {
        _pump.Run();
        return default;
    }

    private void Perform(DirectoryAction action)
    {
        try
        {
            Act(action);
        }
        catch (Exception exception)
        {
            BorderLog.DirectoryActionFailed(_local.Log.Logger, action.GetType().Name, exception);
        }
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
            case DirectoryAction.SlotsReady:
                WakeWaiters();
                break;
            case DirectoryAction.RefreshView:
                RefreshView();
                break;
        }
    }

    private IDirectoryTarget At(SiloAddress silo) => _factory.GetSystemTarget<IDirectoryTarget>(Name, silo);
}
