#pragma warning disable RS0030 // The stage is a sanctioned owner of threads.
using ActOp.Staging.Measuring;

namespace ActOp.Staging;

/// <summary>
/// A stage whose threads wait for the outside (sockets) instead of a queue: each thread waits and reads over and over, and runs
/// what that brings in between, if it can do so in the place of a thread of another stage.
/// </summary>
/// <remarks>
/// A thread that is kept by what it runs loses its post to a new one within milliseconds (<see cref="StageMonitor"/>) and ends when it is
/// free again, so that
/// nothing that runs can hold up the outside.
/// </remarks>
/// <param name="name">Name of the stage; its threads are called <c>actop-name-i</c>.</param>
/// <param name="step">
/// One wait and the reading that follows, for thread i; false ends the thread. Never called by two threads for one i.
/// </param>
/// <param name="wake">Makes thread i return from its wait soon.</param>
/// <param name="onError">Told of what escapes a step: a defect of the step.</param>
public sealed class PollStage(string name, Func<int, bool> step, Action<int> wake, Action<Exception> onError) : IDisposable, IWatched
{
    private readonly Lock _gate = new();
    private readonly List<Post> _posts = [];
    [ThreadStatic]
    private static Post? t_post;

    private long _replaced;
    private long _executedByEnded;
    private BusyTime _busyOfEnded;
    private bool _isDisposed;
    private bool _isWatched;

    /// <summary>How many threads serve the stage.</summary>
    public int Threads
    {
        get
        {
            lock (_gate)
                return _posts.Count;
        }
    }

    /// <summary>Threads that were replaced because what they ran took long.</summary>
    public long Replaced => Interlocked.Read(ref _replaced);

    /// <summary>What the stage has done so far (<see cref="CountItems"/>) and what a sample of it took.</summary>
    public StageUsage Usage
    {
        get
        {
            lock (_gate)
            {
                var (executed, busy) = (_executedByEnded, _busyOfEnded);
                foreach (var post in _posts)
                {
                    executed += Interlocked.Read(ref post.Items);
                    busy += post.Meter.Total;
                }

                return new(executed, 0, busy);
            }
        }
    }

    /// <summary>Whether a sample of the steps is measured for <see cref="Usage"/>. Default true.</summary>
    public bool IsMeasured { get; init; } = true;

    /// <summary>
    /// Makes the stage one without threads: the driver is told where one would begin, and makes its steps (<see cref="StepOnce"/>).
    /// </summary>
    internal StageDriver? Driver { get; init; }

    /// <summary>
    /// Makes one step and what follows it in the place of thread i, whose stage has a driver. False when that thread ends or does not
    /// exist.
    /// </summary>
    internal bool StepOnce(int index)
    {
        Post post;
        lock (_gate)
        {
            if (index >= _posts.Count)
                return false;
            post = _posts[index];
        }

        return TryStep(index, post);
    }

    /// <summary>Told by a step on its thread that its wait is over: what follows is work.</summary>
    public void EndWait()
    {
        if (IsMeasured)
            t_post?.Meter.Begin();
    }

    /// <summary>
    /// Told by a step on its thread: what it makes ready for <paramref name="stage"/> from here on runs on this thread after the step, in
    /// the place of a parked thread of that stage, if there is one
    /// (<see cref="Stage.Borrow"/>).
    /// </summary>
    public static void BorrowUntilStepEnds(Stage stage)
    {
        if (t_post is { Borrowed: null } post)
            post.Borrowed = stage.TryBorrow();
    }

    /// <summary>Told by a step on its thread how many items it has handled.</summary>
    public static void CountItems(int items)
    {
        if (t_post is { } post)
            Interlocked.Add(ref post.Items, items);
    }

    /// <summary>
    /// Changes the number of threads; those with the highest numbers end after their present step. After <see cref="Dispose"/> none
    /// begin.
    /// </summary>
    public void SetThreads(int threads)
    {
        lock (_gate)
        {
            if (_isDisposed)
                return;
            while (_posts.Count > threads)
            {
                var index = _posts.Count - 1;
                var ending = _posts[index];
                _posts.RemoveAt(index);
                ending.IsLost = true;
                wake(index);
                ending.WaitForStep();
                Keep(ending);
            }

            while (_posts.Count < threads)
                _posts.Add(Start(_posts.Count));
            if (!_isWatched && Driver is null)
                StageMonitor.Shared.Add(this);
            _isWatched = true;
        }
    }

    /// <summary>Ends all threads after their present steps.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            SetThreads(0);
            _isDisposed = true;
        }

        StageMonitor.Shared.Remove(this);
    }

    /// <summary>Replaces threads that have run what one and the same step brought for some milliseconds.</summary>
    Sight IWatched.Look(int microseconds) => Look(microseconds);

    internal Sight Look(int microseconds)
    {
        var isBeyond = false;
        // Who changes the stage may wait for a step.
        if (!_gate.TryEnter())
            return Sight.Awake;
        try
        {
            for (var index = 0; index < _posts.Count; index++)
            {
                if (_posts[index].TryLose(microseconds, ref isBeyond))
                {
                    _replaced++;
                    Keep(_posts[index]);
                    _posts[index] = Start(index);
                }
            }
        }
        finally
        {
            _gate.Exit();
        }

        return isBeyond ? Sight.Inside : Sight.Asleep;
    }

    private void Keep(Post ended)
    {
        _executedByEnded += Interlocked.Read(ref ended.Items);
        _busyOfEnded += ended.Meter.Total;
    }

    private Post Start(int index)
    {
        var post = new Post(name);
        if (Driver is { } driver)
            driver.Begin(this, index);
        else
            new Thread(() => Loop(index, post)) { IsBackground = true, Name = "actop-" + name + "-" + index }.UnsafeStart();
        return post;
    }

    private void Loop(int index, Post post)
    {
        while (TryStep(index, post))
        {
        }
    }

    private bool TryStep(int index, Post post)
    {
        if (!post.TryBeginStep())
            return false;
        t_post = post;
        var goesOn = true;
        try
        {
            goesOn = step(index);
        }
        catch (Exception exception)
        {
            onError(exception);
        }

        post.EndStep();
        t_post = null;
        if (post.Borrowed is { } worker)
        {
            post.Borrowed = null;
            worker.Stage.EndBorrow(worker);
        }

        return goesOn;
    }

    /// <summary>The right to be thread i. The lock keeps two threads out of one step, and is free except when the stage changes.</summary>
    private sealed class Post(string stage)
    {
        /// <summary>
        /// For how long looks see one and the same step until the thread has lost its post: one that only lacks a processor should rarely.
        /// </summary>
        private const int LostMicroseconds = 2 * 1000 * StageMonitor.AlertMilliseconds;

        private readonly Lock _stepping = new();
        private long _itemsMeasured;
        private long _steps;
        private long _seen = -1;
        private long _keptMicroseconds;

        internal readonly BusyMeter Meter = new(stage);

        /// <summary>What the step has borrowed; belongs to the post's thread.</summary>
        internal Worker? Borrowed;

        /// <summary>Items handled; written by the post's thread.</summary>
        internal long Items;

        internal volatile bool IsLost;

        internal bool TryBeginStep()
        {
            _stepping.Enter();
            if (IsLost)
            {
                _stepping.Exit();
                return false;
            }

            return true;
        }

        internal void EndStep()
        {
            Meter.End((int)(Items - _itemsMeasured));
            _itemsMeasured = Items;
            _steps++;
            _stepping.Exit();
        }

        internal void WaitForStep()
        {
            lock (_stepping)
            {
            }
        }

        /// <summary>
        /// Takes the post from a thread that has been beyond one and the same step for some milliseconds. One that has made no step yet is about
        /// to begin.
        /// </summary>
        internal bool TryLose(int microseconds, ref bool isBeyond)
        {
            if (!_stepping.TryEnter())
                return false;
            isBeyond = true;
            _keptMicroseconds = _steps == _seen ? _keptMicroseconds + microseconds : 0;
            _seen = _steps;
            IsLost = _steps > 0 && _keptMicroseconds >= LostMicroseconds;
            _stepping.Exit();
            return IsLost;
        }
    }
}
