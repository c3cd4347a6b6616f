namespace ActOp.Staging.Groups;

/// <summary>
/// A binary heap of shares. Each share knows its place, so that any of them can be removed or moved in O(log n). Not thread-safe.
/// </summary>
/// <param name="kind">Which of the three heaps of a level it is; a share is in one of them at most.</param>
internal sealed class ShareHeap(ShareState kind)
{
    private Share[] _shares = new Share[8];

    internal int Count { get; private set; }

    /// <summary>Comparisons so far: the cost of the heap, for tests.</summary>
    internal long Steps { get; private set; }

    internal Share First => _shares[0];

    internal void Add(Share share)
    {
        Invariant.Holds(share.State == ShareState.None);
        if (Count == _shares.Length)
            Array.Resize(ref _shares, 2 * Count);
        share.State = kind;
        share.Index = Count;
        _shares[Count++] = share;
        Rise(share);
    }

    internal void Remove(Share share)
    {
        Invariant.Holds(share.State == kind && ReferenceEquals(_shares[share.Index], share));
        share.State = ShareState.None;
        var last = _shares[--Count];
        _shares[Count] = null!;
        if (ReferenceEquals(last, share))
            return;
        last.Index = share.Index;
        _shares[last.Index] = last;
        Rise(last);
        Sink(last);
    }

    private bool IsBefore(Share one, Share other)
    {
        Steps++;
        return kind == ShareState.Eligible ? one.Deadline < other.Deadline : one.EligibleAt < other.EligibleAt;
    }

    private void Rise(Share share)
    {
        while (share.Index > 0 && _shares[(share.Index - 1) / 2] is var parent && IsBefore(share, parent))
            Swap(share, parent);
    }

    private void Sink(Share share)
    {
        while ((2 * share.Index) + 1 is var left && left < Count)
        {
            var child = _shares[left];
            if (left + 1 < Count && IsBefore(_shares[left + 1], child))
                child = _shares[left + 1];
            if (!IsBefore(child, share))
                return;
            Swap(child, share);
        }
    }

    private void Swap(Share one, Share other)
    {
        (one.Index, other.Index) = (other.Index, one.Index);
        _shares[one.Index] = one;
        _shares[other.Index] = other;
    }
}
