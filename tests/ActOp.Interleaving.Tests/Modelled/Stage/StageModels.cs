using ActOp.Interleaving.Tests.Exploring;
using ActOp.Staging.Groups;

namespace ActOp.Staging;

/// <summary>Models of the protocols of a stage. Each begins with a stage whose threads are parked.</summary>
public static class StageModels
{
    private static readonly Dictionary<string, Func<Model>> Constructors = new()
    {
        ["wake"] = static () => new StageModel(2, static model =>
        {
            model.Spawn("first poster", () => model.Post(model.Item()));
            model.Spawn("second poster", () => model.Post(model.Item()));
        }),
        ["wake, one by one"] = static () => new StageModel(1, static model => model.Spawn("poster", () =>
        {
            model.Post(model.Item());
            model.Post(model.Item());
        })),
        ["wake, each waits for the other"] = static () => new StageModel(2, static model =>
        {
            var (first, second) = model.Pair();
            model.Spawn("first poster", () => model.Post(first));
            model.Spawn("second poster", () => model.Post(second));
        }),
        ["wake, three in a row"] = static () => new StageModel(1, static model => model.Spawn("poster", () =>
        {
            foreach (var item in model.Items(3))
                model.Post(item);
        })),
        ["steal"] = static () => new StageModel(2, static model =>
        {
            var items = model.Items(6);
            model.Spawn("poster", () => model.Post(model.Item(() =>
            {
                foreach (var item in items)
                    model.Post(item);
            })));
        }),
        ["steal from a long item"] = static () => new StageModel(2, static model =>
        {
            var (first, second) = model.Pair(() => model.Post(model.Waiting!));
            model.Waiting = second;
            model.Spawn("poster", () => model.Post(first));
            model.Spawn("monitor", () =>
            {
                for (var look = 0; look < 4; look++)
                {
                    Interleaver.Current.Step();
                    model.Stage.RescueStuckItems(microseconds: 2000);
                }

                // From when nothing else goes on time passes until the item is known to be long.
                Interleaver.Current.Block(model.IsQuiet, isLock: false);
                for (var look = 0; look < 2; look++)
                    model.Stage.RescueStuckItems(microseconds: 2000);
            });
        }),
        ["borrow"] = static () => new StageModel(1, static model =>
        {
            model.Spawn("borrower", () =>
            {
                using var run = model.Stage.Borrow();
                model.Post(model.Item());
            });
            model.Spawn("poster", () => model.Post(model.Item()));
        }),
        // The thread has made its worker idle and has not parked yet.
        ["borrow, before the thread parks"] = static () => new StageModel(1, static model =>
        {
            var (hasWork, isBorrowed) = (false, false);
            var second = model.Item(() => Interleaver.Current.Block(() => !isBorrowed || model.IsParked, isLock: false));
            model.Spawn("borrower", () =>
            {
                Interleaver.Current.Block(() => hasWork && model.IsIdle, isLock: false);
                using var run = model.Stage.Borrow();
                isBorrowed = run.IsHeld;
                // The item posted last runs first.
                model.Post(second);
                model.Post(model.Item());
            });
            model.Spawn("poster", () => model.Post(model.Item(() => hasWork = true)));
        }),
        ["borrow, two posters"] = static () => new StageModel(1, static model =>
        {
            var hasPosted = false;
            var hasEnded = false;
            model.Spawn("poster", () =>
            {
                model.Post(model.Item());
                hasPosted = true;
            });
            // Takes its time, so that the poster goes on without a preemption.
            model.Spawn("slow borrower", () =>
            {
                using (var run = model.Stage.Borrow())
                {
                    var until = Interleaver.Current.Steps + 3;
                    Interleaver.Current.Block(() => Interleaver.Current.Steps >= until || hasPosted, isLock: false);
                }

                hasEnded = true;
            });
            model.Spawn("later poster", () =>
            {
                Interleaver.Current.Block(() => hasEnded, isLock: false);
                model.Post(model.Item());
            });
        }),
        ["borrow, two workers"] = static () => new StageModel(2, static model =>
        {
            for (var borrower = 0; borrower < 2; borrower++)
            {
                model.Spawn("borrower", () =>
                {
                    using var run = model.Stage.Borrow();
                    model.Post(model.Item());
                    model.Post(model.Item());
                });
            }

            model.Spawn("poster", () => model.Post(model.Item()));
        }),
        ["borrow, more than it runs"] = static () => new StageModel(1, static model => model.Spawn("borrower", () =>
        {
            using var run = model.Stage.Borrow();
            foreach (var item in model.Items(6))
                model.Post(item);
        })),
        ["borrow, a chain"] = static () => new StageModel(1, static model =>
        {
            var last = model.Item();
            var middle = model.Item(() => model.Post(last));
            model.Spawn("borrower", () =>
            {
                using var run = model.Stage.Borrow();
                model.Post(model.Item(() => model.Post(middle)));
            });
        }),
        ["inline run"] = static () => new StageModel(1, static model =>
        {
            model.SpawnPooled("caller", () => model.Post(model.Item()));
            model.Spawn("poster", () => model.Post(model.Item()));
        }),
        ["inline run, two callers"] = static () => new StageModel(2, static model =>
        {
            for (var caller = 0; caller < 2; caller++)
            {
                model.SpawnPooled("caller", () =>
                {
                    model.Post(model.Item());
                    model.Post(model.Item());
                });
            }
        }),
        ["inline run, that finds nothing"] = static () => new StageModel(1, static model =>
        {
            var hasRun = false;
            var first = model.Item(() => hasRun = true);
            var second = model.Item();
            model.SpawnPooled("first caller", () =>
            {
                model.Post(first);
                Interleaver.Current.Block(() => hasRun && model.IsIdle, isLock: false);
            });
            model.Spawn("poster", () =>
            {
                Interleaver.Current.Block(() => model.HasPosted(first), isLock: false);
                model.Post(model.Item());
            });
            model.SpawnPooled("second caller", () =>
            {
                Interleaver.Current.Block(() => hasRun && model.IsIdle, isLock: false);
                model.Post(second);
            });
        }),
        ["inline run, while others post"] = static () => new StageModel(1, static model =>
        {
            var (hasRun, hasBegun) = (false, false);
            var first = model.Item(() => hasRun = true);
            var (second, third) = (model.Item(), model.Item());
            model.SpawnPooled("first caller", () =>
            {
                model.Post(first);
                Interleaver.Current.Block(() => hasBegun, isLock: false);
            });
            model.SpawnPooled("second caller", () =>
            {
                hasBegun = true;
                model.Post(second);
            });
            model.SpawnPooled("third caller", () =>
            {
                Interleaver.Current.Block(() => hasRun && model.IsIdle, isLock: false);
                model.Post(third);
            });
        }),
        ["inline run, a burst"] = static () => new StageModel(1, static model => model.SpawnPooled("caller", () =>
        {
            foreach (var item in model.Items(5))
                model.Post(item);
        })),
        ["inline run, borrowed"] = static () => new StageModel(1, static model =>
        {
            model.SpawnPooled("caller", () => model.Post(model.Item()));
            model.Spawn("borrower", () =>
            {
                using var run = model.Stage.Borrow();
                model.Post(model.Item());
            });
        }),
        ["inline run, an item that posts"] = static () => new StageModel(2, static model =>
        {
            var last = model.Item();
            model.SpawnPooled("caller", () => model.Post(model.Item(() => model.Post(last))));
            model.Spawn("poster", () => model.Post(model.Item()));
        }),
        ["inline run, resize"] = static () => new StageModel(2, static model =>
        {
            model.SpawnPooled("caller", () => model.Post(model.Item()));
            model.Spawn("resizer", () =>
            {
                model.Stage.SetThreads(1);
                model.Stage.SetThreads(2);
            });
        }),
        ["inline run, resize, down"] = static () => new StageModel(2, static model =>
        {
            model.SpawnPooled("caller", () => model.Post(model.Item()));
            model.Spawn("resizer", () => model.Stage.SetThreads(1));
        }),
        ["inline run, that comes late"] = static () => new StageModel(1, static model =>
        {
            var hasRun = false;
            var item = model.Item(() => hasRun = true);
            model.SpawnPooled("caller that blocks", () =>
            {
                model.Post(item);
                Interleaver.Current.Block(() => hasRun, isLock: false);
            });
            model.Spawn("monitor", () =>
            {
                for (var look = 0; look < 3; look++)
                {
                    Interleaver.Current.Block(() => hasRun || model.HasPosted(item), isLock: false);
                    model.Stage.RescueStuckItems(microseconds: 2000);
                }
            });
        }),
        ["inline run, stop"] = static () => new StageModel(2, static model =>
        {
            model.SpawnPooled("caller", () =>
            {
                model.Post(model.Item());
                model.Stop();
            });
        })
        { Stops = true },
        ["resize, down"] = static () => new StageModel(2, static model =>
        {
            model.Spawn("poster", () => model.Post(model.Item()));
            model.Spawn("resizer", () => model.Stage.SetThreads(1));
        }),
        ["resize, down, two posters"] = static () => new StageModel(2, static model =>
        {
            model.Spawn("poster", () => model.Post(model.Item()));
            model.Spawn("other poster", () => model.Post(model.Item()));
            model.Spawn("resizer", () => model.Stage.SetThreads(1));
        }),
        ["resize, down while a thread has a backlog"] = static () => new StageModel(2, static model =>
        {
            var items = model.Items(3);
            model.Spawn("poster", () => model.Post(model.Item(() =>
            {
                foreach (var item in items)
                    model.Post(item);
            })));
            model.Spawn("resizer", () => model.Stage.SetThreads(1));
        }),
        ["resize, down and up"] = static () => new StageModel(2, static model =>
        {
            model.Spawn("poster", () => model.Post(model.Item()));
            model.Spawn("other poster", () => model.Post(model.Item()));
            model.Spawn("resizer", () =>
            {
                model.Stage.SetThreads(1);
                model.Stage.SetThreads(2);
            });
        }),
        ["resize, after down and up"] = static () => new StageModel(2, static model =>
        {
            var (first, second) = model.Pair(() => model.Post(model.Waiting!));
            model.Waiting = second;
            // Something in the queue, not in the place of the next item, which no thief takes.
            var last = model.Item();
            model.Spawn("poster", () => model.Post(model.Item(() =>
            {
                model.Post(first);
                model.Post(last);
            })));
            model.Spawn("monitor", () =>
            {
                Interleaver.Current.Block(model.IsQuiet, isLock: false);
                for (var look = 0; look < 3; look++)
                    model.Stage.RescueStuckItems(microseconds: 2000);
            });
        })
        { BeforeBegin = static model => model.Resize(1, 2) },
        ["resize, up"] = static () => new StageModel(1, static model =>
        {
            var (first, second) = model.Pair();
            model.Spawn("poster", () =>
            {
                model.Post(first);
                model.Post(second);
            });
            model.Spawn("resizer", () => model.Stage.SetThreads(2));
        })
        { MostThreads = 2, BeforeBegin = static model => model.Resize(2, 1) },
        ["resize, borrowed"] = static () => new StageModel(2, static model =>
        {
            model.Spawn("borrower", () =>
            {
                using var run = model.Stage.Borrow();
                model.Post(model.Item());
            });
            model.Spawn("resizer", () => model.Stage.SetThreads(1));
            model.Spawn("poster", () => model.Post(model.Item()));
        }),
        ["stop"] = static () => new StageModel(2, static model => model.Spawn("poster", () =>
        {
            model.Post(model.Item());
            model.Stop();
        }))
        { Stops = true },
        ["stop, one thread"] = static () => new StageModel(1, static model => model.Spawn("poster", () =>
        {
            model.Post(model.Item());
            model.Post(model.Item());
            model.Stop();
        }))
        { Stops = true },
        ["stop, while threads run"] = static () => new StageModel(2, static model =>
        {
            var items = model.Items(2);
            model.Spawn("poster", () =>
            {
                model.Post(model.Item(() =>
                {
                    foreach (var item in items)
                        model.Post(item);
                }));
                model.Post(model.Item());
                model.Stop();
            });
        })
        { Stops = true },
        ["stop, while the number of threads changes"] = static () => new StageModel(2, static model =>
        {
            model.Spawn("poster", () =>
            {
                model.Post(model.Item());
                model.Stop();
            });
            model.Spawn("resizer", () =>
            {
                model.SetThreads(1);
                model.SetThreads(3);
            });
        })
        { Stops = true, MostThreads = 3 },
        ["stop, while a thread with an item retires"] = static () => new StageModel(2, static model =>
        {
            var last = model.Item();
            model.Spawn("poster", () =>
            {
                model.Post(model.Item(() => model.Post(last)));
                model.Stop();
            });
            model.Spawn("resizer", () => model.SetThreads(1));
        })
        { Stops = true },
        ["stop, borrowed"] = static () => new StageModel(1, static model =>
        {
            model.Spawn("borrower", () =>
            {
                using var run = model.Stage.Borrow();
                if (run.IsHeld)
                    model.Post(model.Item());
            });
            model.Spawn("stopper", model.Stop);
        })
        { Stops = true },
    };

    public static IReadOnlyCollection<string> Names => [.. Constructors.Keys, .. GroupModels.Constructors.Keys];

    public static Model Create(string name) =>
        (Constructors.TryGetValue(name, out var create) ? create : GroupModels.Constructors[name])();
}

/// <summary>
/// A stage, threads that use it, and what must hold at the end: every item has run once, never more at a time than there are threads,
/// none after the end.
/// </summary>
internal sealed class StageModel(int threads, Action<StageModel> spawn) : Model
{
    private readonly List<ModelItem> _items = [];
    private readonly List<string> _findings = [];
    private Interleaver _run = null!;
    private Task? _stopped;
    private int _running;
    private int _waiting;
    private Worker _first = null!;
    private StageGroups? _groups;

    internal Stage Stage { get; private set; } = null!;

    /// <summary>The stage's only worker has nothing to do. Read by conditions, so it is no place to switch.</summary>
    internal bool IsIdle => _first.State == WorkerState.Idle;

    /// <summary>The thread of that worker is parked. Read by conditions, too.</summary>
    internal bool IsParked => _first.IsParked;

    /// <summary>Set by a model that lets one item post another.</summary>
    internal IStageItem? Waiting { get; set; }

    /// <summary>The largest number of threads that the model ever asks for.</summary>
    internal int MostThreads { get; init; }

    internal bool Stops { get; init; }

    /// <summary>How many groups share the stage; 0 for none.</summary>
    internal int Groups { get; init; }

    internal Action<StageModel>? BeforeBegin { get; init; }

    public override void Start(Interleaver run)
    {
        _run = run;
        Worker.Current?.Leave();
        // Each slice ends after one item.
        _groups = Groups == 0 ? null : new StageGroups(
            [.. Enumerable.Range(0, Groups).Select(static group => new GroupShape("g" + group, 1 + group))],
            new GroupSetting(TimeSpan.Zero, TimeSpan.FromSeconds(1), threads, TimeProvider.System));
        Action<Exception> onError = exception =>
        {
            if (exception is not ScheduleOverException)
                _findings.Add(exception.ToString());
        };
        Stage = new Stage("s", threads, StageMode.OwnThreads, onError, null, _groups);
        run.Settle();
        _first = Stage.Workers[0];
        BeforeBegin?.Invoke(this);
        spawn(this);
        run.Begin();
    }

    public override string? Check()
    {
        if (_findings.Count > 0)
            return _findings[0];
        foreach (var item in _items)
        {
            if (item.Posted != item.Runs)
                return item.Runs < item.Posted ? "an item waits and no thread will run it" : "an item ran twice";
        }

        if (Stops && _stopped is not { IsCompleted: true })
            return "the stage has not ended";
        if (!Stops && !Stage.IsAsleep)
            return "all threads are parked, and the stage counts " + Stage.Roster.Idle + " idle of " + Stage.Threads;
        return Stops || Stage.Roster.MayWake ? null : "a search is counted that nobody makes";
    }

    internal void Spawn(string name, Action body) => _run.Spawn(name, () =>
    {
        Worker.Current?.Leave();
        body();
    });

    /// <summary>A thread of the pool; afterwards it is free for what it has queued.</summary>
    internal void SpawnPooled(string name, Action body) => Spawn(name, () => ThreadPool.Run(body));

    internal bool HasPosted(IStageItem item) => ((ModelItem)item).IsPosted;

    internal IStageItem Item(Action? action = null, int? group = null)
    {
        var item = new ModelItem(this, action, group is { } index ? _groups!["g" + index] : null);
        _items.Add(item);
        return item;
    }

    internal IStageItem[] Items(int count) => [.. Enumerable.Range(0, count).Select(_ => Item())];

    /// <summary>Two items of which each ends only when the other has begun: they need two threads.</summary>
    internal (IStageItem First, IStageItem Second) Pair(Action? begin = null)
    {
        var begun = 0;
        void Meet()
        {
            begun++;
            _waiting++;
            Interleaver.Current.Block(() => begun == 2, isLock: false);
            _waiting--;
        }

        return (Item(
            () =>
            {
                begin?.Invoke();
                Meet();
            },
            Groups > 0 ? 0 : null), Item(Meet, Groups > 0 ? Groups - 1 : null));
    }

    /// <summary>An item waits for another one.</summary>
    internal bool IsQuiet() => _waiting > 0;

    internal void Post(IStageItem item)
    {
        ((ModelItem)item).Posted++;
        Stage.Post(item);
        ((ModelItem)item).IsPosted = true;
    }

    /// <summary>Changes the number of threads; after the end that must do nothing.</summary>
    internal void SetThreads(int count)
    {
        var isOver = _stopped is { IsCompleted: true };
        var before = Stage.Workers.Length;
        Stage.SetThreads(count);
        if (isOver && Stage.Workers.Length > before)
            _findings.Add("threads began after the end");
    }

    internal void Stop() => _stopped = Stage.StopAsync();

    internal void Resize(params int[] counts)
    {
        foreach (var count in counts)
        {
            Stage.SetThreads(count);
            _run.Settle();
        }
    }

    private void Run(Action? action)
    {
        var most = Math.Max(threads, MostThreads);
        if (++_running > most)
            _findings.Add(_running + " threads are inside items of a stage of " + most);
        if (_stopped is { IsCompleted: true })
            _findings.Add("an item began after the end");
        Interleaver.Current.Step();
        action?.Invoke();
        _running--;
    }

    private sealed class ModelItem(StageModel model, Action? action, StageGroup? group) : IStageItem
    {
        StageGroup? IStageItem.Group => group;

        internal int Posted { get; set; }

        internal bool IsPosted { get; set; }

        internal int Runs { get; private set; }

        public void Execute()
        {
            Runs++;
            model.Run(action);
        }
    }
}
