namespace ActOp.Partitioning;

/// <content>The migrations that follow a plan, vertex by vertex.</content>
public sealed partial class ExchangeProtocol<TVertex>
{
    /// <summary>A vertex of this silo has left. The table now looks for it on the partner's silo.</summary>
    /// <param name="vertex">The vertex.</param>
    /// <param name="report">What to tell the partner.</param>
    /// <param name="partner">The partner.</param>
    /// <returns>False if no plan moves that vertex: there is nobody to tell.</returns>
    public bool Departed(TVertex vertex, out MoveReport<TVertex> report, out int partner)
    {
        if (!TryResolve(vertex, moved: true, out report, out partner, out var promise))
            return false;
        long epoch = promise.Source.Epochs[promise.Index] + 1;
        promise.Departed[vertex] = (partner, epoch);
        _table.Locate(vertex, partner, epoch);
        return true;
    }

    /// <summary>A vertex of this silo stays after all: it was busy, pinned meanwhile, or is gone.</summary>
    /// <inheritdoc cref="Departed"/>
    /// <param name="vertex">The vertex.</param>
    /// <param name="report">What to tell the partner.</param>
    /// <param name="partner">The partner.</param>
    public bool Skipped(TVertex vertex, out MoveReport<TVertex> report, out int partner) =>
        TryResolve(vertex, moved: false, out report, out partner, out _);

    /// <summary>A vertex has arrived on this silo. If a plan announced it, the table learns its edges at once.</summary>
    /// <param name="vertex">The vertex.</param>
    /// <returns>Whether a plan announced it.</returns>
    public bool Arrived(TVertex vertex)
    {
        if (!_promises.TakeComing(vertex, out var promise))
        {
            // It may have overtaken the reply that announces it.
            if (_pending is not null)
                _early.Add(vertex);
            return false;
        }

        promise.Source.Adopt(promise.Index, _table, promise.Departed);
        return true;
    }

    /// <summary>
    /// The partner tells how a migration ended. A vertex that moved is awaited on until it arrives; one that stays is not.
    /// </summary>
    /// <param name="report">The report; ignored if it is not about a vertex that is awaited from that exchange.</param>
    public void Receive(MoveReport<TVertex> report)
    {
        if (!report.Moved && _promises.IsComing(report.Vertex, report.Id))
            _promises.TakeComing(report.Vertex, out _);
    }

    private bool TryResolve(TVertex vertex, bool moved, out MoveReport<TVertex> report, out int partner, out Promises<TVertex>.Promise promise)
    {
        bool known = _promises.TakeGoing(vertex, out promise);
        report = known ? new(promise.Exchange, vertex, moved) : default;
        partner = known ? promise.Partner : Silo.Unknown;
        return known;
    }

    private void Promise(
        ExchangeId exchange, int partner, TVertex[] going, CandidateSet<TVertex> goingSource, TVertex[] coming, CandidateSet<TVertex> comingSource, TimeSpan now)
    {
        Dictionary<TVertex, (int, long)> departed = [];
        TimeSpan deadline = now + _options.MigrationTimeout;
        Dictionary<TVertex, int> index = IndexOf(goingSource);
        foreach (TVertex vertex in going)
        {
            int at = index[vertex];
            _promises.Going(vertex, new(exchange, partner, LoadOf(goingSource.Sizes[at]), deadline, goingSource, at, departed));
        }

        index = IndexOf(comingSource);
        foreach (TVertex vertex in coming)
        {
            int at = index[vertex];
            if (_early.Contains(vertex))
                comingSource.Adopt(at, _table, departed);
            else
                _promises.Coming(vertex, new(exchange, partner, LoadOf(comingSource.Sizes[at]), deadline, comingSource, at, departed));
        }

        _early.Clear();
    }

    private double LoadOf(double size) => _options.Balance == BalanceMeasure.Count ? 1 : size;

    private static Dictionary<TVertex, int> IndexOf(CandidateSet<TVertex> set)
    {
        Dictionary<TVertex, int> index = new(set.Count);
        for (int i = 0; i < set.Count; i++)
            index[set.Vertices[i]] = i;
        return index;
    }
}
