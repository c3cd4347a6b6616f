namespace ActOp.Staging.Groups;

/// <summary>
/// Divides the time of a stage's threads among shares by their weights: earliest eligible virtual deadline first. Source: I. Stoica, H.
/// Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995; Linux uses the same rule since version 6.6.
/// </summary>
/// <remarks>
/// <para>Virtual time <see cref="Now"/> advances by (time used) / (weights that compete). A share of weight w that has used the time u has
/// advanced by u / w; its <b>lag</b>, w times the difference, is what it is owed. The sum of all lags is zero. A share is eligible while
/// its lag is not negative; its deadline is the virtual time at which it will have used one more quantum. Of the eligible shares that wait,
/// the one with the earliest deadline is picked. If none is eligible, the one that is eligible next: no thread is idle while something
/// waits.</para>
/// <para>What has been picked is charged when it ends, with the time that it has used (<see cref="Charge"/>). Until then one quantum counts
/// in the order, so that several threads do not pick the same share for the same credit. A share that has used too much competes until
/// virtual time has reached it, although nothing of it waits: it cannot lose its debt by a pause. Unused credit expires.</para>
/// <para>With one thread, the lag of a share that always waits is at most one quantum plus the longest turn, in either direction. A share
/// that cannot use its credit (its work is on fewer threads than it is owed) keeps at most <see cref="MostLag"/> of it. Not thread-safe:
/// the caller has a lock. All times are in microseconds.</para>
/// </remarks>
/// <param name="quantum">The time for which a share is picked, above 0.</param>
internal sealed class ShareLevel(double quantum)
{
    /// <summary>The longest charge is forgotten by this factor with each charge: a single long turn is no measure for ever.</summary>
    private const double Forgetting = 0.999;

    private readonly ShareHeap _eligible = new(ShareState.Eligible);
    private readonly ShareHeap _pending = new(ShareState.Pending);

    /// <summary>Shares of which nothing waits or runs, and which owe time.</summary>
    private readonly ShareHeap _owing = new(ShareState.Owing);

    /// <summary>Shares of which something waits or runs.</summary>
    private int _busy;
    private double _weights;
    private double _longest;

    /// <summary>Virtual time. Never decreases.</summary>
    internal double Now { get; private set; }

    /// <summary>Something waits.</summary>
    internal bool HasWaiting => _eligible.Count + _pending.Count > 0;

    /// <summary>The most credit that a share keeps: twice the lag that waiting alone can cause.</summary>
    internal double MostLag => 2 * (quantum + _longest);

    /// <summary>Comparisons so far, for tests.</summary>
    internal long Steps => _eligible.Steps + _pending.Steps + _owing.Steps;

    /// <summary>What the share is owed; negative if it owes. 0 while it does not compete.</summary>
    internal double LagOf(Share share) => share.Competes ? share.Weight * (Now - share.Received) : 0;

    /// <summary>Something of the share waits from now on.</summary>
    internal void Wait(Share share)
    {
        if (share.Waits)
            return;
        if (share.State == ShareState.Owing)
            _owing.Remove(share);
        if (!share.Competes)
        {
            share.Competes = true;
            share.Received = Now;
            _weights += share.Weight;
        }

        if (share.Running == 0)
            _busy++;
        Limit(share);
        Insert(share);
    }

    /// <summary>Nothing of the share waits any more.</summary>
    internal void Rest(Share share)
    {
        if (!share.Waits)
            return;
        Remove(share);
        if (share.Running == 0)
            EndBusy(share);
    }

    /// <summary>The share whose turn it is, or null if nothing waits. It counts as running until <see cref="Charge"/>.</summary>
    internal Share? Pick()
    {
        while (_pending.Count > 0 && _pending.First is var next && next.EligibleAt <= Now)
        {
            _pending.Remove(next);
            _eligible.Add(next);
        }

        if (!HasWaiting)
            return null;
        var picked = _eligible.Count > 0 ? _eligible.First : _pending.First;
        Start(picked);
        return picked;
    }

    /// <summary>A thread runs something of the share without a pick: it has stolen it.</summary>
    internal void Start(Share share)
    {
        if (!share.Competes)
        {
            share.Competes = true;
            share.Received = Now;
            _weights += share.Weight;
        }
        else if (share.State == ShareState.Owing)
        {
            _owing.Remove(share);
        }

        if (share.Running++ == 0 && !share.Waits)
            _busy++;
        Renew(share);
    }

    /// <summary>What was picked has ended.</summary>
    /// <param name="share">The share.</param>
    /// <param name="used">The time that it has used, whole: turns are not interrupted.</param>
    internal void Charge(Share share, double used)
    {
        Invariant.Holds(share.Running > 0 && share.Competes);
        share.Running--;
        share.Received += used / share.Weight;
        Now += used / _weights;
        _longest = Math.Max(used, _longest * Forgetting);
        Limit(share);
        Renew(share);
        if (share.Running == 0 && !share.Waits)
            EndBusy(share);
        DropSettled();
    }

    /// <summary>Gives a share another weight. What it is owed, or owes, stays the same.</summary>
    internal void SetWeight(Share share, double weight)
    {
        var lag = LagOf(share);
        if (share.Competes)
        {
            _weights += weight - share.Weight;
            share.Received = Now - (lag / weight);
        }

        share.Weight = weight;
        Renew(share);
        if (share.State != ShareState.Owing)
            return;
        _owing.Remove(share);
        share.EligibleAt = share.Received;
        _owing.Add(share);
    }

    private void Insert(Share share)
    {
        share.EligibleAt = share.Received + (share.Running * quantum / share.Weight);
        share.Deadline = share.EligibleAt + (quantum / share.Weight);
        (share.EligibleAt <= Now ? _eligible : _pending).Add(share);
    }

    private void Remove(Share share) => (share.State == ShareState.Eligible ? _eligible : _pending).Remove(share);

    private void Renew(Share share)
    {
        if (!share.Waits)
            return;
        Remove(share);
        Insert(share);
    }

    /// <summary>Credit that the share could not use goes to the others.</summary>
    private void Limit(Share share)
    {
        var excess = LagOf(share) - MostLag;
        var others = _weights - share.Weight;
        if (excess <= 0 || others <= 0)
            return;
        // Virtual time moves on, too, so that the lags still add up to zero.
        var moved = excess * _weights / others;
        share.Received += moved / share.Weight;
        Now += moved / _weights;
    }

    private void EndBusy(Share share)
    {
        _busy--;
        if (share.Received > Now && _busy > 0)
        {
            share.EligibleAt = share.Received;
            _owing.Add(share);
            return;
        }

        Leave(share);
        // Nobody is owed what the others owe.
        while (_busy == 0 && _owing.Count > 0)
            LeaveOwing();
    }

    private void DropSettled()
    {
        while (_owing.Count > 0 && _owing.First.Received <= Now)
            LeaveOwing();
    }

    private void LeaveOwing()
    {
        var share = _owing.First;
        _owing.Remove(share);
        Leave(share);
    }

    /// <summary>The share competes no more. What it was owed is lost, so that the lags of the others still add up to zero.</summary>
    private void Leave(Share share)
    {
        var lag = Math.Max(0, LagOf(share));
        share.Competes = false;
        _weights -= share.Weight;
        if (_busy > 0 || _owing.Count > 0)
            Now += lag / _weights;
        else
            _weights = 0;
    }
}

/// <summary>One competitor of a <see cref="ShareLevel"/>. Changed only by its level.</summary>
/// <param name="weight">Above 0; the time that it gets is in proportion to it.</param>
/// <param name="owner">What it is the share of.</param>
internal sealed class Share(double weight, object owner)
{
    internal double Weight { get; set; } = weight;

    internal object Owner { get; } = owner;

    /// <summary>In which heap it is.</summary>
    internal ShareState State { get; set; }

    /// <summary>Where in the heap.</summary>
    internal int Index { get; set; }

    /// <summary>Its weight counts.</summary>
    internal bool Competes { get; set; }

    /// <summary>Virtual time that it has received: what it has used, divided by its weight, from the time when it came.</summary>
    internal double Received { get; set; }

    internal double EligibleAt { get; set; }

    internal double Deadline { get; set; }

    /// <summary>Threads that run it.</summary>
    internal int Running { get; set; }

    /// <summary>Something of it waits.</summary>
    internal bool Waits => State is ShareState.Eligible or ShareState.Pending;
}

/// <summary>In which heap of its level a share is.</summary>
internal enum ShareState
{
    /// <summary>In none: nothing of it waits, and it owes nothing or runs.</summary>
    None,

    /// <summary>It waits and has credit.</summary>
    Eligible,

    /// <summary>It waits, and others come first until virtual time has reached it.</summary>
    Pending,

    /// <summary>Nothing of it waits or runs, and it owes time.</summary>
    Owing,
}
