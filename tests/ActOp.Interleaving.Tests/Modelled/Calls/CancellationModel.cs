using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Interleaving.Tests.Exploring;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Routing;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Models;

/// <summary>
/// A call whose caller cancels it, here or on another node, at any time in its life. The caller gets one outcome, the method that runs is
/// told, one that was cancelled in time does not run, no other use of the call is cancelled, and nothing is kept.
/// </summary>
internal sealed class CancellationModel(Action<CancellationModel> spawn) : NodeModel
{
    private readonly CancellationTokenSource _source = new();
    private readonly List<(Caller Caller, CallSender Calls)> _callers = [];
    private readonly List<ModelNode> _nodes = [];
    private bool _isUsedAgain;

    internal static Dictionary<string, Func<Model>> All { get; } = new()
    {
        ["cancel, a call"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller => model.Expect(nameof(OperationCanceledException), model.AskHere(caller, MethodKind.UntilCancelled)));
            model.SpawnAndEnd("canceller", model._source.Cancel);
        }),
        ["cancel, a call that ends, and the next one"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller =>
            {
                model.Expect("7 " + nameof(OperationCanceledException), model.AskHere(caller, MethodKind.TwoTurns));
                model._isUsedAgain = true;
                model.Expect("7", model.AskHere(caller, MethodKind.TwoTurns));
            });
            model.SpawnAndEnd("canceller", model._source.Cancel);
        }),
        ["cancel, a call whose caller waits for the callee"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller =>
            {
                model.Expect("7 " + nameof(OperationCanceledException), model.AskHere(caller, MethodKind.TwoTurns));
                model._isUsedAgain = true;
                model.Expect("7", model.AskHere(caller, MethodKind.TwoTurns));
            });
            model.SpawnAndEnd("canceller", model._source.Cancel);
        })
        { WaitsForCallee = true },
        ["cancel, a call to another node"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller => model.Expect(nameof(OperationCanceledException), model.AskThere(caller)));
            model.SpawnAndEnd("canceller", model._source.Cancel);
        })
        { Nodes = 2 },
        ["cancel, a call that has left its grain"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller => model.Expect(nameof(OperationCanceledException), model.AskThere(caller, waitsFirst: true)));
            model.SpawnAndEnd("canceller", model._source.Cancel);
        })
        { Nodes = 2 },
        ["cancel, a request that is passed on"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller => model.Expect(nameof(OperationCanceledException), model.AskThere(caller)));
            model.SpawnAndEnd("canceller", model._source.Cancel);
        })
        { Nodes = 3 },
        ["cancel, a call that ends before it is watched"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller => model.Expect(
                "7 refused TimeoutException " + nameof(OperationCanceledException), model.AskHere(caller, MethodKind.TwoTurns)));
            model.SpawnAndEnd("end", () => model.End(closes: true));
            model.SpawnAndEnd("canceller", model._source.Cancel);
        }),
        ["cancel, nothing, and the call ends before it is watched"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller => model.Expect("refused 7 TimeoutException", model.AskHere(caller, MethodKind.TwoTurns)));
            model.SpawnAndEnd("end", () => model.End(closes: true));
        }),
        ["cancel, by a deadline"] = static () => new CancellationModel(static model =>
        {
            model.Caller(caller => model.Expect("TimeoutException", model.AskHere(caller, MethodKind.UntilCancelled, isPassed: false)));
            model.Spawn("sweep", () =>
            {
                model.End(closes: false);
                WaitFor(() => model._callers[0].Caller.WasAccepted);
                model.End(closes: false);
            });
        }),
    };

    internal bool WaitsForCallee { get; init; }

    /// <summary>The second node has the grain; or, if there are three, passes requests on to the third one.</summary>
    internal int Nodes { get; init; } = 1;

    protected override void Prepare()
    {
        for (var number = 0; number < Nodes; number++)
        {
            var node = new ModelNode(this, number.ToString(), WaitsForCallee);
            _nodes.Add(node);
            Spawn(node.Name + ", worker", node.Stage.Work);
            if (Nodes == 1)
                continue;
            Spawn(node.Name + ", reader", () => node.Read(node.Requests));
            Spawn(node.Name + ", reader of cancellations", () => node.Read(node.Cancellations));
        }
    }

    protected override void Build() => spawn(this);

    protected override string? CheckRest()
    {
        foreach (var node in _nodes)
        {
            if (node.Grain.Finding is { } finding)
                return finding;
            if (node.Running > 0)
                return "a method on " + node.Name + " was not told";
            if (node.Calls.Cancellables.Count > 0)
                return node.Name + " keeps a request that has ended";
            node.Calls.Cancellables.Expire(1000);
            if (node.Calls.Cancellables.Notes > 0)
                return node.Name + " keeps a note for longer than its time";
        }

        if (_callers.Exists(static one => one.Caller.IsWaiting))
            return "a caller waits without end";
        if (Here.Calls.Registry.InFlight > 0)
            return "a call that has ended is in flight";
        // The worker has some of them.
        if (Here.Calls.Registry.Free > Here.Calls.Registry.Capacity)
            return "a slot is free twice";
        var before = Here.Calls.Cancelled;
        _source.Cancel();
        return Here.Calls.Cancelled == before ? null : "the token keeps a call that has ended";
    }

    internal void Send(SiloAddress target, object frame)
    {
        var node = _nodes[int.Parse(target.Name)];
        Point.Fence("wire");
        (frame is CancelFrame ? node.Cancellations : node.Requests).Enqueue(frame);
    }

    /// <summary>The method that runs is that of a call that nobody has cancelled.</summary>
    internal bool IsFree(Call call) => _isUsedAgain && call.Cancellation!.IsCancelled;

    internal ModelNode? NextOf(ModelNode node) => Nodes == 3 && ReferenceEquals(node, _nodes[1]) ? _nodes[2] : null;

    private ModelNode Here => _nodes[0];

    private void Caller(Action<Caller> body)
    {
        var caller = new Caller(this, Here.Calls);
        _callers.Add((caller, Here.Calls));
        SpawnAndEnd("caller", () => body(caller));
    }

    /// <summary>A call to a grain of the same node.</summary>
    private string AskHere(Caller caller, MethodKind kind, bool isPassed = true)
    {
        var call = Prepare(kind, isPassed);
        return caller.Ask(call, 5, _ =>
        {
            if (Cancellations.TryWatch(call))
            {
                call.Cancellation.Isolate(call.Token);
                Here.Grain.Enqueue(call);
            }
        });
    }

    /// <summary>A call to a grain of another node.</summary>
    private string AskThere(Caller caller, bool waitsFirst = false)
    {
        var call = Prepare(MethodKind.UntilCancelled, isPassed: true);
        return caller.Ask(call, 50, _ =>
        {
            if (!Cancellations.TryWatch(call))
                return;
            if (waitsFirst)
                Here.WaitAndLeave(call, _nodes[1].Local.Address);
            else
                Here.Writer.SendRequest(call, _nodes[1].Local.Address);
        });
    }

    private ModelCall Prepare(MethodKind kind, bool isPassed)
    {
        var call = Here.Pool.Rent();
        call.Kind = kind;
        call.Pass(!isPassed ? default : _isUsedAgain ? new CancellationTokenSource().Token : _source.Token);
        return call;
    }

    /// <summary>The node ends, or looks at the deadlines.</summary>
    private void End(bool closes)
    {
        var registry = Here.Calls.Registry;
        if (closes)
            registry.Close();
        foreach (var (call, ticket) in closes ? registry.Read() : registry.ReadExpired(7))
        {
            var remote = Volatile.Read(ref call.Remote);
            if (!call.TryClaim(ticket))
                continue;
            call.Abandon(new TimeoutException());
            if (!closes)
                Here.Calls.Cancellations!.OfExpired(call, ticket, remote);
        }
    }

    private void Expect(string outcomes, string outcome)
    {
        if (!outcomes.Split(' ').Contains(outcome))
            Find("a call ended with " + outcome + " instead of " + outcomes);
    }

    /// <summary>A node with one grain.</summary>
    internal sealed class ModelNode
    {
        private readonly CancellationModel _model;

        internal ModelNode(CancellationModel model, string name, bool waitsForCallee)
        {
            _model = model;
            Name = name;
            Local = new LocalNode(new SiloAddress(name));
            Writer = new FrameWriter(Local, model.Send);
            Calls = new CallSender { CancelsOnTimeout = true, Replies = Reply };
            Calls.Cancellations = new Cancellations(
                Calls,
                new CancelRoutes(Local, new ActivationTable(), new PeerTable(), Writer, new LocationCache(), new DirectoryClient(),
                    new BackgroundPart()),
                waitsForCallee);
            Grain = new Activation(name, Stage.Post) { Admit = Admit };
        }

        internal string Name { get; }

        internal LocalNode Local { get; }

        internal CallSender Calls { get; }

        internal FrameWriter Writer { get; }

        internal Activation Grain { get; }

        internal WorkStage Stage { get; } = new();

        internal CallPool Pool { get; } = new();

        /// <summary>Requests and answers, which come in another link than cancellations.</summary>
        internal Queue<object> Requests { get; } = new();

        internal Queue<object> Cancellations { get; } = new();

        /// <summary>Methods that run until they are cancelled.</summary>
        internal int Running { get; private set; }

        /// <summary>A thread that reads frames. It waits at the end of a schedule.</summary>
        internal void Read(Queue<object> frames)
        {
            while (true)
            {
                WaitFor(() => frames.Count > 0);
                switch (frames.Dequeue())
                {
                    case CancelFrame cancelled:
                        Calls.Cancellations!.OfOther(cancelled);
                        break;
                    case long ticket:
                        ReadReply(ticket);
                        break;
                    case ValueTuple<object, ulong> request:
                        ReadRequest(request.Item1, request.Item2);
                        break;
                }
            }
        }

        /// <summary>The request waits in the grain, which ends: the request goes to another node.</summary>
        internal void WaitAndLeave(ModelCall call, SiloAddress next)
        {
            call.Cancellation.Isolate(call.Token);
            Grain.Enqueue(new ActionItem(
                _ =>
                {
                    if (!call.Cancellation.TryWait(Grain))
                    {
                        Activation.Fail(call, Runtime.Calls.Cancellations.NeverRan(call));
                        return;
                    }

                    Grain.Enqueue(new ActionItem(
                        _ =>
                        {
                            if (call.IsClaimed)
                                return;
                            call.Cancellation.Leave();
                            Writer.SendRequest(call, next);
                        },
                        null));
                },
                null));
        }

        private void ReadRequest(object origin, ulong ticket)
        {
            var call = Pool.Rent();
            call.Runtime = Calls;
            call.Origin = CallOrigin.Remote;
            call.Flags = (InvokeMethodOptions)Call.Cancellable;
            call.Remote = origin;
            call.ReplyTo = ticket;
            call.Kind = MethodKind.UntilCancelled;
            call.Cancellation.Isolate(CancellationToken.None);
            Calls.Cancellables.Add(call.Cancellation);
            if (_model.NextOf(this) is not { } next)
            {
                Grain.Enqueue(call);
                return;
            }

            Writer.SendRequest(call, next.Local.Address);
        }

        private void Reply(Call call)
        {
            _model.Send((SiloAddress)call.Remote!, (long)call.ReplyTo);
            call.Recycle();
        }

        private void ReadReply(long ticket)
        {
            if (Calls.Registry.FindCall(ticket) is not { } call || !call.TryClaim(ticket))
                return;
            call.Error = new OperationCanceledException();
            call.Publish();
        }

        private void Admit(Activation activation, Call call)
        {
            if (call.IsClaimed)
                return;
            var cancellation = call.Cancellation!;
            if (!cancellation.TryStart(activation))
            {
                Activation.Fail(call, Runtime.Calls.Cancellations.NeverRan(call));
                return;
            }

            if (_model.IsFree(call))
                _model.Find("a call is cancelled that nobody has cancelled");
            call.Callee = activation;
            if (((ModelCall)call).Kind == MethodKind.TwoTurns)
            {
                Finish(activation, call, null);
                return;
            }

            Running++;
            cancellation.Source!.Token.Register(() =>
            {
                Running--;
                Finish(activation, call, new OperationCanceledException());
            });
        }

        /// <summary>The method has ended: another item of the mailbox.</summary>
        private void Finish(Activation activation, Call call, Exception? error)
        {
            ((ModelCall)call).Result = 7;
            call.Error = error;
            call.Step = CallStep.Finish;
            activation.Enqueue(call);
        }
    }
}
