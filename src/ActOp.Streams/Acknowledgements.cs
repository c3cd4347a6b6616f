using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// What a cache has given up because all have got it, until the receiver of its queue has acknowledged it. One that was refused, or whose
/// answer was lost, is told again with the next ones: a queue that is full gets no new message that would bring another acknowledgement.
/// </summary>
/// <remarks>
/// On the turns of the agent; at most one is under way. After <see cref="MostRefusals"/> refusals in a row the batches are given up, so
/// that a receiver which refuses one for ever does not hold the others: the queue delivers them again.
/// </remarks>
/// <param name="purge">What the cache gives up now; null or empty for nothing.</param>
/// <param name="tell">Tells the receiver.</param>
internal sealed class Acknowledgements(Func<IList<IBatchContainer>?> purge, Func<IList<IBatchContainer>, Task> tell)
{
    internal const int MostRefusals = 10;

    private IList<IBatchContainer>? _left;
    private int _refusals;
    private bool _isUnderWay;

    /// <summary>Tells all that is left. What is given up while one is under way is told after it.</summary>
    internal async ValueTask TellAsync()
    {
        if (_isUnderWay)
            return;
        _isUnderWay = true;
        try
        {
            Invariant.Holds(_refusals < MostRefusals);
            while (Left() is { } batches)
            {
                await tell(batches);
                (_left, _refusals) = (null, 0);
            }
        }
        catch (Exception) when (++_refusals == MostRefusals)
        {
            (_left, _refusals) = (null, 0);
            throw;
        }
        finally
        {
            _isUnderWay = false;
        }
    }

    /// <summary>All that is not acknowledged, oldest first; null for nothing.</summary>
    internal IList<IBatchContainer>? Left()
    {
        if (purge() is { Count: > 0 } purged)
            _left = _left is null ? purged : [.. _left, .. purged];
        return _left;
    }
}
