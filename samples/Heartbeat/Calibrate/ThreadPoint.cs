namespace Heartbeat.Calibrate;

/// <summary>Threads of the stages that a request of a client passes.</summary>
public readonly record struct ThreadPoint(int Receive, int Work, int ClientSend)
{
    /// <summary>Number of stages.</summary>
    public const int Count = 3;

    /// <summary>The threads of a stage, in the order of the names.</summary>
    public int this[int stage] => stage switch { 0 => Receive, 1 => Work, _ => ClientSend };

    /// <summary>The same with other threads in one stage.</summary>
    public ThreadPoint With(int stage, int threads) => stage switch
    {
        0 => this with { Receive = threads },
        1 => this with { Work = threads },
        _ => this with { ClientSend = threads },
    };

    /// <summary>All threads.</summary>
    public int Total => Receive + Work + ClientSend;

    /// <summary>Points with one thread more or fewer in one of these stages, at least one everywhere.</summary>
    public IEnumerable<ThreadPoint> Neighbours(IEnumerable<int> stages)
    {
        foreach (int stage in stages)
        {
            yield return With(stage, this[stage] + 1);
            if (this[stage] > 1)
                yield return With(stage, this[stage] - 1);
        }
    }

    /// <summary>How many threads two points differ by in these stages.</summary>
    public int DistanceTo(ThreadPoint other, IEnumerable<int> stages)
    {
        int sum = 0;
        foreach (int stage in stages)
            sum += Math.Abs(this[stage] - other[stage]);
        return sum;
    }

    /// <summary>As text, in the order of the names.</summary>
    public override string ToString() => $"{Receive}/{Work}/{ClientSend}";
}
