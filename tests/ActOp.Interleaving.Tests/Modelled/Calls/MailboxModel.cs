using ActOp.Calls;
using ActOp.Interleaving.Tests.Exploring;
using ActOp.Runtime.Activations;

namespace ActOp.Models;

/// <summary>
/// A mailbox, threads that add to it and the turns that empty it. Each item runs once, in the order of its sender, in one turn at a time;
/// at the end the mailbox is idle and empty, and it has never had more requests than its limit.
/// </summary>
internal sealed class MailboxModel(Action<MailboxModel> spawn, int limit = int.MaxValue) : NodeModel
{
    private readonly WorkStage _stage = new();
    private readonly List<Item> _items = [];
    private bool _isClosed;

    internal static Dictionary<string, Func<Model>> All { get; } = new()
    {
        ["mailbox, two senders"] = static () => new MailboxModel(static model =>
        {
            var (first, second, third) = (model.Make("a"), model.Make("a"), model.Make("b"));
            model.Spawn("sender", () =>
            {
                model.Grain.Enqueue(first);
                model.Grain.Enqueue(second);
            });
            model.Spawn("other sender", () => model.Grain.Enqueue(third));
        }),
        ["mailbox, three senders"] = static () => new MailboxModel(static model =>
        {
            for (var sender = 0; sender < 3; sender++)
            {
                var item = model.Make(sender.ToString());
                model.Spawn("sender", () => model.Grain.Enqueue(item));
            }
        }),
        ["mailbox, an item that adds another"] = static () => new MailboxModel(static model =>
        {
            var last = model.Make("grain");
            var first = model.Make("a", () => model.Grain.Enqueue(last));
            var second = model.Make("b");
            model.Spawn("sender", () => model.Grain.Enqueue(first));
            model.Spawn("other sender", () => model.Grain.Enqueue(second));
        }),
        ["mailbox, the end of its grain"] = static () => new MailboxModel(static model =>
        {
            var (first, second, end) = (model.Make("a"), model.Make("a"), model.Make("b", () => model._isClosed = true));
            model.Spawn("sender", () =>
            {
                model.Grain.Enqueue(first);
                model.Grain.Enqueue(second);
            });
            model.Spawn("closer", () => model.Grain.Enqueue(end));
        }),
        ["mailbox, a limit"] = static () => new MailboxModel(
            static model =>
            {
                for (var sender = 0; sender < 3; sender++)
                {
                    var item = model.Make(sender.ToString());
                    model.Spawn("sender", () => model.Request(item, mayRefuse: true));
                }
            },
            limit: 2),
        ["mailbox, a limit and an item that moves on"] = static () => new MailboxModel(
            static model =>
            {
                // The other grain has a long queue, which nobody runs.
                for (var number = 0; number < 3; number++)
                    model.Quiet.Enqueue(new ActionItem(static _ => { }, null));
                Item? first = null;
                first = model.Make("a", () => model.Quiet.Enqueue(first!));
                var second = model.Make("b");
                model.Spawn("sender", () => model.Request(first, mayRefuse: false));
                model.Spawn("other sender", () => model.Request(second, mayRefuse: false));
            },
            limit: 2),
    };

    internal Activation Grain { get; private set; } = null!;

    /// <summary>Where the requests of a grain that has ended go.</summary>
    internal Activation Next { get; private set; } = null!;

    /// <summary>A grain without turns.</summary>
    internal Activation Quiet { get; private set; } = null!;

    protected override void Prepare()
    {
        Grain = new Activation("grain", _stage.Post, limit);
        Next = new Activation("next", _stage.Post);
        Quiet = new Activation("quiet", static _ => { });
        Spawn("worker", _stage.Work);
        Spawn("other worker", _stage.Work);
    }

    protected override void Build() => spawn(this);

    protected override string? CheckRest()
    {
        if ((Grain.Finding ?? Next.Finding) is { } finding)
            return finding;
        foreach (var item in _items)
        {
            if (item.Runs != item.Sent)
                return item.Runs < item.Sent ? "a request was lost" : "a request ran twice";
        }

        if (!Grain.IsIdle || !Next.IsIdle)
            return "a mailbox is empty and not idle";
        return Grain.ArrivedCount == 0 ? null : "an empty mailbox counts requests";
    }

    private Item Make(string sender, Action? action = null)
    {
        var item = new Item(this, sender, _items.Count(one => one.Sender == sender), action);
        _items.Add(item);
        item.Sent = 1;
        return item;
    }

    private void Request(Item item, bool mayRefuse)
    {
        if (!Grain.TryEnqueueRequest(item))
        {
            item.Sent = 0;
            if (!mayRefuse)
                Find("a request was refused by a mailbox that is not full");
        }
        else if (item.Depth > limit && item.Runs == 0)
        {
            Find("a mailbox has more requests than its limit");
        }
    }

    private void Ran(Item item, CallHost host)
    {
        if (_isClosed && ReferenceEquals(host, Grain) && item.Sender == "a")
        {
            Next.Enqueue(item);
            return;
        }

        item.Runs++;
        if (_items.Exists(one => one.Sender == item.Sender && one.Number < item.Number && one.Sent > one.Runs))
            Find("requests of one sender run in another order");
        item.Action?.Invoke();
    }

    private sealed class Item(MailboxModel model, string sender, int number, Action? action) : MailboxItem
    {
        internal string Sender => sender;

        internal int Number => number;

        internal Action? Action => action;

        internal int Sent { get; set; }

        internal int Runs { get; set; }

        internal override void Run(CallHost host) => model.Ran(this, host);
    }
}
