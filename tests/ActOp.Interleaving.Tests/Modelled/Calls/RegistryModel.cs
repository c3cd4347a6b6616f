using ActOp.Calls;
using ActOp.Interleaving.Tests.Exploring;
using ActOp.Runtime.Calls;

namespace ActOp.Models;

/// <summary>
/// Calls in flight, and those that end them: answers, late ones too, the sweep of deadlines, the end of the node, and a callee of the same
/// process that still holds a call that was ended. Each call has one outcome, which is its own; at the end every slot is free once.
/// </summary>
internal sealed class RegistryModel(Action<RegistryModel> spawn) : NodeModel
{
    private readonly List<Caller> _callers = [];
    private readonly List<long> _sent = [];
    private int _ended;

    internal static Dictionary<string, Func<Model>> All { get; } = new()
    {
        ["calls, an answer that comes twice"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller =>
            {
                model.Expect("1", caller.Ask(model.Pool.Rent(), 50, model.Send));
                model.Expect("2", caller.Ask(model.Pool.Rent(), 50, model.Send));
            });
            model.SpawnAndEnd("answers", () =>
            {
                model.Answer(0);
                model.Answer(1);
            });
            model.SpawnAndEnd("late answer", () => model.Answer(0));
        }),
        ["calls, an answer or a timeout"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller => model.Expect("1 TimeoutException", caller.Ask(model.Pool.Rent(), 5, model.Send)));
            model.SpawnAndEnd("answers", () => model.Answer(0));
            model.SpawnAndEnd("sweep", () => model.Sweep(5));
        }),
        ["calls, deadlines"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller =>
            {
                model.Expect("TimeoutException", caller.Ask(model.Pool.Rent(), 5, model.Send));
                model.Expect("TimeoutException", caller.Ask(model.Pool.Rent(), 6, model.Send));
            });
            model.SpawnAndEnd("sweep", () =>
            {
                model.Sweep(7);
                model.Sweep(7);
                WaitFor(() => model._sent.Count > 0);
                model.Sweep(7);
                WaitFor(() => model._sent.Count == 2);
                model.Sweep(7);
            });
        }),
        ["calls, an early and a late deadline"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller => model.Expect("TimeoutException", caller.Ask(model.Pool.Rent(), 5, model.Send)));
            model.Caller("other caller", caller => model.Expect("TimeoutException", caller.Ask(model.Pool.Rent(), 20, model.Send)));
            model.SpawnAndEnd("sweep", () =>
            {
                model.Sweep(7);
                WaitFor(() => model._sent.Count == 2);
                model.Sweep(7);
                model.Sweep(21);
            });
        }),
        ["calls, the end of the node"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller => model.Expect("TimeoutException refused", caller.Ask(model.Pool.Rent(), 50, model.Send)));
            model.Caller("other caller", caller => model.Expect("TimeoutException refused", caller.Ask(model.Pool.Rent(), 60, model.Send)));
            model.SpawnAndEnd("end", model.Close);
        })
        { Closes = true },
        ["calls, the end of the node beside a deadline"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller => model.Expect("TimeoutException refused", caller.Ask(model.Pool.Rent(), 5, model.Send)));
            model.SpawnAndEnd("end", model.Close);
            model.SpawnAndEnd("sweep", () => model.Sweep(7));
        })
        { Closes = true },
        ["calls, a late answer to a slot that is used again"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller =>
            {
                model.Expect("1 TimeoutException", model.AskAndEnd(caller, 5));
                model.Expect("2", caller.Ask(model.Pool.Rent(), 50, model.Send));
            });
            model.SpawnAndEnd("late answer", () => model.Answer(0));
            model.SpawnAndEnd("answers", () => model.Answer(1));
        }),
        ["calls, a tick while one is added"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller =>
            {
                model.Expect("TimeoutException", model.AskAndEnd(caller, 5));
                model.Expect("TimeoutException", caller.Ask(model.Pool.Rent(), 6, model.Send));
            });
            model.SpawnAndEnd("sweep", () =>
            {
                WaitFor(() => model._sent.Count > 0);
                model.Sweep(7);
                WaitFor(() => model._sent.Count == 2);
                model.Sweep(7);
            });
        }),
        ["calls, the end of the node while one is added"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller =>
            {
                model.Expect("TimeoutException refused", model.AskAndEnd(caller, 5));
                model.Expect("TimeoutException refused", caller.Ask(model.Pool.Rent(), 6, model.Send));
            });
            model.SpawnAndEnd("end", () =>
            {
                WaitFor(() => model._sent.Count > 0);
                model.Close();
            });
            model.SpawnAndEnd("sweep", () => model.Sweep(5));
        })
        { Closes = true },
        ["calls, an early and a late deadline in one chunk"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller =>
            {
                model.Occupy(20);
                model.Expect("TimeoutException", caller.Ask(model.Pool.Rent(), 5, model.Send));
            });
            model.SpawnAndEnd("sweep", () =>
            {
                model.Sweep(7);
                WaitFor(() => model._sent.Count == 1);
                model.Sweep(7);
                model.Sweep(21);
                if (model.Calls.Registry.InFlight > 0)
                    model.Find("a call is not ended by its deadline");
            });
        }),
        ["calls, threads that end"] = static () => new RegistryModel(static model =>
        {
            for (var number = 0; number < 2; number++)
            {
                model.Caller("caller", caller =>
                {
                    model.Expect("1 2 3 4", caller.Ask(model.Pool.Rent(), 50, model.Send));
                    model.Expect("1 2 3 4", caller.Ask(model.Pool.Rent(), 50, model.Send));
                });
            }

            model.SpawnAndEnd("answers", () =>
            {
                for (var number = 0; number < 4; number++)
                    model.Answer(number);
            });
        }),
        ["calls, more than there are slots"] = static () => new RegistryModel(static model =>
        {
            // Seven wait already, so that one more slot is free.
            for (var number = 0; number < 7; number++)
                model.Occupy(80);
            model.Caller("caller", caller => model.Expect("1 2 refused", caller.Ask(model.Pool.Rent(), 50, model.Send)));
            model.Caller("other caller", caller => model.Expect("1 2 refused", caller.Ask(model.Pool.Rent(), 50, model.Send)));
            model.SpawnAndEnd("answers", () => model.Answer(0));
            model.SpawnAndEnd("other answers", () => model.Answer(1));
        }),
        ["calls, two nodes on one thread"] = static () => new RegistryModel(static model =>
        {
            model.Caller("caller", caller =>
            {
                model.Expect("1", caller.Ask(model.Pool.Rent(), 50, model.Send));
                model.UseOther();
                model.Expect("2", caller.Ask(model.Pool.Rent(), 50, model.Send));
            });
            model.SpawnAndEnd("answers", () =>
            {
                model.Answer(0);
                model.UseOther();
                model.Answer(1);
            });
        }),
        ["calls, a callee that answers beside a timeout"] = static () => new RegistryModel(static model =>
        {
            ModelCall? held = null;
            model.Caller("caller", caller =>
            {
                var call = model.Pool.Rent();
                model.Expect("7 TimeoutException", caller.Ask(call, 5, _ =>
                {
                    Point.Fence("mailbox");
                    held = call;
                }));
                // The same slot, and the same object if it has returned to its pool.
                model.Expect("1", caller.Ask(model.Pool.Rent(), 50, model.Send));
            });
            model.SpawnAndEnd("callee", () =>
            {
                WaitFor(() => held is not null);
                if (held!.IsClaimed)
                    return;
                held.Result = 7;
                if (held.TryClaim())
                    held.Publish();
            });
            model.SpawnAndEnd("sweep", () => model.Sweep(7));
            model.SpawnAndEnd("answers", () => model.Answer(0));
        }),
    };

    internal CallPool Pool { get; } = new();

    /// <summary>The node ends: no slot is given afterwards.</summary>
    internal bool Closes { get; init; }

    internal CallSender Calls { get; } = new();

    protected override void Build() => spawn(this);

    protected override string? CheckRest()
    {
        if (_callers.Exists(static caller => caller.IsWaiting))
            return "a call is never ended";
        var registry = Calls.Registry;
        var (inFlight, free) = (registry.InFlight, registry.Free);
        if (inFlight + free != registry.Capacity)
            return $"{registry.Capacity} slots, {inFlight} calls and {free} free";
        if (Closes)
            return null;
        var added = 0;
        while (added <= 1 << CallSlots.SlotBits && registry.TryAdd(new ModelCall(Pool) { Runtime = Calls, Deadline = 90 }))
            added++;
        return registry.InFlight == 1 << CallSlots.SlotBits && added + inFlight == registry.InFlight
            ? null : $"{added} calls got slots beside {inFlight}, and {registry.InFlight} are found";
    }

    private void Caller(string name, Action<Caller> body)
    {
        var caller = new Caller(this, Calls);
        _callers.Add(caller);
        SpawnAndEnd(name, () =>
        {
            body(caller);
            _ended++;
        });
    }

    /// <summary>A call that nobody answers, and whose caller does not count.</summary>
    private void Occupy(long deadline) => Calls.Registry.TryAdd(new ModelCall(Pool) { Runtime = Calls, Deadline = deadline });

    /// <summary>A call that its own thread ends at once, so that the thread has its slot again.</summary>
    private string AskAndEnd(Caller caller, long deadline)
    {
        var call = Pool.Rent();
        return caller.Ask(call, deadline, ticket =>
        {
            Send(ticket);
            End(call, ticket);
        });
    }

    /// <summary>The calling thread uses the registry of another node, which gets a call and ends it.</summary>
    private void UseOther()
    {
        var other = new CallSender();
        var call = new ModelCall(new CallPool()) { Runtime = other, Deadline = 50 };
        other.Registry.TryAdd(call);
        if (!call.TryClaim(call.Ticket) || other.Registry.InFlight != 0)
            Find("a call is not ended");
    }

    private void Send(long ticket)
    {
        Point.Fence("wire");
        _sent.Add(ticket);
    }

    /// <summary>The answer to the call that was sent as this one: its number.</summary>
    private void Answer(int place)
    {
        WaitFor(() => _sent.Count > place || _ended == _callers.Count);
        if (_sent.Count <= place || Calls.Registry.FindCall(_sent[place]) is not ModelCall call || !call.TryClaim(_sent[place]))
            return;
        call.Result = place + 1;
        call.Publish();
    }

    private void Sweep(long now)
    {
        foreach (var (call, ticket) in Calls.Registry.ReadExpired(now))
            End(call, ticket);
    }

    private void Close()
    {
        Calls.Registry.Close();
        foreach (var (call, ticket) in Calls.Registry.Read())
            End(call, ticket);
    }

    private static void End(Call call, long ticket)
    {
        if (call.TryClaim(ticket))
            call.Abandon(new TimeoutException());
    }

    private void Expect(string outcomes, string outcome)
    {
        if (!outcomes.Split(' ').Contains(outcome))
            Find("a call ended with " + outcome + " instead of " + outcomes);
    }
}
