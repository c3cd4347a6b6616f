using ActOp.Interleaving.Tests.Exploring;

namespace ActOp.Staging;

/// <summary>Models of a stage whose threads groups share. Each slice ends after one item.</summary>
internal static class GroupModels
{
    internal static readonly Dictionary<string, Func<Model>> Constructors = new()
    {
        ["groups, posters"] = static () => new StageModel(2, static model =>
        {
            model.Spawn("first poster", () => model.Post(model.Item(group: 0)));
            model.Spawn("second poster", () => model.Post(model.Item(group: 1)));
            model.Spawn("third poster", () => model.Post(model.Item(group: 1)));
        })
        { Groups = 2 },
        ["groups, each waits for the other"] = static () => new StageModel(2, static model =>
        {
            var (first, second) = model.Pair();
            model.Spawn("first poster", () => model.Post(first));
            model.Spawn("second poster", () => model.Post(second));
        })
        { Groups = 2 },
        ["groups, one posts to others"] = static () => new StageModel(2, static model =>
        {
            IStageItem[] items = [model.Item(group: 1), model.Item(group: 0), model.Item(), model.Item(group: 1), model.Item(group: 0)];
            model.Spawn("poster", () => model.Post(model.Item(
                () =>
                {
                    foreach (var item in items)
                        model.Post(item);
                },
                group: 0)));
        })
        { Groups = 2 },
        ["groups, a long item posts to another"] = static () => new StageModel(2, static model =>
        {
            var (first, second) = model.Pair(() => model.Post(model.Waiting!));
            model.Waiting = second;
            model.Spawn("poster", () => model.Post(first));
            model.Spawn("monitor", () =>
            {
                Interleaver.Current.Block(model.IsQuiet, isLock: false);
                for (var look = 0; look < 4; look++)
                    model.Stage.RescueStuckItems(microseconds: 2000);
            });
        })
        { Groups = 2 },
        ["groups, borrow"] = static () => new StageModel(1, static model =>
        {
            model.Spawn("borrower", () =>
            {
                using var run = model.Stage.Borrow();
                foreach (var group in (int[])[0, 1, 0, 1])
                    model.Post(model.Item(group: group));
            });
            model.Spawn("poster", () => model.Post(model.Item(group: 1)));
        })
        { Groups = 2 },
        ["groups, inline run"] = static () => new StageModel(2, static model =>
        {
            model.SpawnPooled("caller", () => model.Post(model.Item(group: 0)));
            model.SpawnPooled("other caller", () => model.Post(model.Item(group: 1)));
        })
        { Groups = 2 },
        ["groups, resize, down while a thread has a backlog"] = static () => new StageModel(2, static model =>
        {
            IStageItem[] items = [model.Item(group: 1), model.Item(group: 0), model.Item(group: 0)];
            model.Spawn("poster", () => model.Post(model.Item(
                () =>
                {
                    foreach (var item in items)
                        model.Post(item);
                },
                group: 0)));
            model.Spawn("resizer", () => model.Stage.SetThreads(1));
        })
        { Groups = 2 },
        ["groups, stop"] = static () => new StageModel(2, static model =>
        {
            var last = model.Item(group: 1);
            model.Spawn("poster", () =>
            {
                model.Post(model.Item(() => model.Post(last), group: 0));
                model.Post(model.Item(group: 1));
                model.Stop();
            });
        })
        { Groups = 2, Stops = true },
    };
}
