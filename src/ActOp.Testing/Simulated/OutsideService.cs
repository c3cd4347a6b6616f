namespace ActOp.Testing.Simulated;

/// <summary>
/// Something outside of the cluster that outlives all silos, like a database. The faults make it slow, let it refuse requests, lose its
/// answers, or take it away for a while.
/// </summary>
/// <remarks>
/// A request reaches it even if its sender ends meanwhile, and while it is away the request waits and is done later, however long ago its
/// sender has given up. A lost answer is an error to its sender. The answer reaches only a process that runs.
/// </remarks>
internal abstract class OutsideService(Pump pump, Dice dice)
{
    private readonly List<Action> _parked = [];

    /// <summary>Share of the requests that are refused before anything is done.</summary>
    internal double Refusals { get; set; }

    /// <summary>Share of the requests that are done but whose answer is an error.</summary>
    internal double LostAnswers { get; set; }

    /// <summary>Share of the requests that take up to 3 s.</summary>
    internal double Delays { get; set; }

    /// <summary>Requests wait until it is back.</summary>
    internal bool IsAway
    {
        get;
        set
        {
            field = value;
            HasFailed |= value;
            if (value)
                return;
            foreach (var request in _parked)
                pump.After(dice.Exponential(Pump.Millisecond), null, EventKind.Table, "late request", request);
            _parked.Clear();
        }
    }

    /// <summary>Requests have taken seconds.</summary>
    internal bool WasSlow { get; private set; }

    /// <summary>A request has failed, or had to wait until it was back.</summary>
    internal bool HasFailed { get; private set; }

    /// <summary>Something of it fails.</summary>
    internal bool IsTroubled => IsAway || Refusals > 0 || LostAnswers > 0;

    private protected Pump Pump => pump;

    private protected Dice Dice => dice;

    /// <summary>Draws what goes wrong from now on. In a calm run, and in some others, it is slow at most.</summary>
    internal void BeginFaults(Dice draw, bool isCalm)
    {
        Delays = draw.Pick<double>([0, 0.01, 0.1]);
        WasSlow = Delays > 0;
        if (isCalm || draw.Chance(0.4))
            return;
        Refusals = draw.Pick<double>([0, 0, 0.01, 0.1]);
        LostAnswers = draw.Pick<double>([0, 0, 0.01, 0.1]);
        if (draw.Chance(0.5))
            pump.After(draw.Exponential(8 * Pump.Second), null, EventKind.Fault, "away", () => GoAway(draw));
    }

    internal void EndFaults()
    {
        _isOver = true;
        (Refusals, LostAnswers, Delays) = (0, 0, 0);
        IsAway = false;
    }

    private bool _isOver;

    private void GoAway(Dice draw)
    {
        if (_isOver)
            return;
        IsAway = true;
        pump.After(draw.Between(Pump.Second / 2, 10 * Pump.Second), null, EventKind.Fault, "back", () =>
        {
            IsAway = false;
            pump.After(draw.Exponential(8 * Pump.Second), null, EventKind.Fault, "away", () => GoAway(draw));
        });
    }

    /// <summary>Sends a request.</summary>
    private protected Task<T> AskAsync<T>(Machine machine, string name, Func<T> request)
    {
        var answer = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        pump.After(Latency(), null, EventKind.Table, name, () =>
        {
            if (IsAway)
                _parked.Add(Run);
            else
                Run();
        });
        return answer.Task;

        void Run() => pump.After(Latency(), machine, EventKind.Table, name + " answer", Do(answer, request));
    }

    private Action Do<T>(TaskCompletionSource<T> answer, Func<T> request)
    {
        try
        {
            if (dice.Chance(Refusals))
                throw new IOException("The service refuses.");
            var result = request();
            if (dice.Chance(LostAnswers))
                throw new IOException("The answer of the service is lost.");
            return () => answer.TrySetResult(result);
        }
        catch (Exception exception)
        {
            HasFailed |= exception is IOException;
            return () => answer.TrySetException(exception);
        }
    }

    private long Latency() => dice.Exponential(Pump.Millisecond) + (dice.Chance(Delays) ? dice.Between(0, 3 * Pump.Second) : 0);
}
