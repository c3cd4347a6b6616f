using ActOp.Configuration;
using ActOp.Partitioning;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>Rounds, and the migrations that follow a plan.</summary>
internal sealed partial class LocalityService
{
    /// <summary>
    /// How long a grain of a plan may take to come to rest; then it is skipped. Far above a request's usual time, far below a round.
    /// </summary>
    private static readonly TimeSpan RestTime = TimeSpan.FromMilliseconds(300);

    private int _movesOfRound;

    /// <summary>One round: it waits for nobody, whatever the other silos do.</summary>
    private void PlayRound()
    {
        try
        {
            Rounds++;
            var load = OwnLoad();
            var empty = _loads.EmptiestBelow(load, _cluster.Active);
            if (_partitioning.Algorithm == SelectionAlgorithm.OneSided)
                MoveOneSided();
            else
                Handle(empty is null || _silos.NumberOf(empty) is not (> 0 and var number) ? _protocol.BeginRound(Now, load) : _protocol.BeginRound(Now, load, number));
        }
        finally
        {
            var wait = _period.Next(_movesOfRound, _local.Random.Next(1000) / 1000.0);
            _movesOfRound = 0;
            if (_runs)
                _roundTimer!.Change(wait, Timeout.InfiniteTimeSpan);
        }
    }

    private void Handle(ExchangeStep<GrainId> step, SiloAddress? partner = null)
    {
        if (step.Offer is { } offer)
            Send(offer);
        if (step.Reply is { } reply)
        {
            Expect(reply.Plan?.Accepted);
            Send(reply, partner!);
        }

        if (step.Moves is { } moves)
        {
            _metrics.Exchanged();
            _movesOfRound += moves.Count;
            if (moves.Count > 0)
                _work.Follow(MoveAsync(moves, _silos.SiloOf(step.Target)));
        }
    }

    private void Send(ExchangeOffer<GrainId> offer)
    {
        _metrics.Offered();
        _work.Follow(At(_silos.SiloOf(offer.To)).Offer(new OfferMessage
        {
            From = _local.Address,
            Id = ExchangeName.Of(offer.Id),
            Load = offer.Load.Current,
            Lower = offer.Load.Lower,
            Upper = offer.Load.Upper,
            Candidates = _silos.ToMessage(offer.Candidates),
            Answered = ExchangeName.Of(offer.Answered),
        }));
    }

    private void Send(ExchangeReply<GrainId> reply, SiloAddress to)
    {
        _work.Follow(At(to).Reply(new ReplyMessage
        {
            From = _local.Address,
            Id = ExchangeName.Of(reply.Id),
            Refusal = (int)reply.Refusal,
            Accepted = reply.Plan?.Accepted,
            Given = reply.Plan is { } plan ? _silos.ToMessage(plan.Given) : null,
            Gain = reply.Plan?.Gain ?? 0,
            LoadChange = reply.Plan?.LoadChange ?? 0,
            Withdrawn = ExchangeName.Of(reply.Withdrawn),
        }));
    }

    /// <summary>
    /// Moves the grains side by side, each as soon as it is at rest; those that are not within <see cref="RestTime"/> are skipped.
    /// </summary>
    private async Task MoveAsync(IReadOnlyList<GrainId> grains, SiloAddress target)
    {
        _table.TotalWeight(out var before);
        var requests = new List<(GrainId Grain, MigrationRequest Request)>(grains.Count);
        foreach (var grain in grains)
        {
            var request = new MigrationRequest(target, _options.Migration == MigrationMode.Live);
            requests.Add((grain, request));
            if (_activations.TryGet(grain, out var activation))
                activation.TryMigrate(request);
            else
                request.Report(MigrationOutcome.Busy);
        }

        var moved = requests.ConvertAll(pair => Confirm(pair.Grain, pair.Request, target));
        var all = Task.WhenAll(moved);
        try
        {
            await all.WaitAsync(RestTime, _local.TaskTime);
        }
        catch (TimeoutException)
        {
            foreach (var (grain, request) in requests)
            {
                if (!request.Outcome.IsCompleted && _activations.TryGet(grain, out var activation))
                    activation.GiveUpMigration(request);
            }
        }

        var count = (await all).Count(done => done);
        _table.TotalWeight(out var after);
        _local.Log.Exchanged(target, count, grains.Count - count, before, after);
    }

    private async Task<bool> Confirm(GrainId grain, MigrationRequest request, SiloAddress target)
    {
        var outcome = await request.Outcome;
        var left = outcome == MigrationOutcome.Moved;
        var known = left ? _protocol.Departed(grain, out var report, out _) : _protocol.Skipped(grain, out report, out _);
        if (left)
            _metrics.Moved();
        else
            _metrics.Skipped();
        if (known && _cluster.IsUsable(target))
            _work.Follow(At(target).Report(new ReportMessage(ExchangeName.Of(report.Id), grain, left)));
        return left;
    }

    /// <summary>The paper's uncoordinated baseline (section 4.2, Discussion): the best candidates go to the best silo, unasked.</summary>
    private void MoveOneSided()
    {
        foreach (var partner in _protocol.Selection.RankPartners())
        {
            var candidates = _protocol.Selection.Select(partner.Silo);
            _movesOfRound += candidates.Count;
            _work.Follow(MoveAsync(candidates.Vertices, _silos.SiloOf(partner.Silo)));
            return;
        }
    }

    /// <summary>Remembers where the grains that come to this silo belong, in case their next call is made here.</summary>
    private void Expect(IReadOnlyList<GrainId>? coming)
    {
        if (_options.Migration != MigrationMode.Opportunistic || coming is null)
            return;
        foreach (var grain in coming)
            _hints.Put(grain, _local.Address);
    }

    /// <summary>A grain began its life here; in opportunistic mode it may be one that moved.</summary>
    internal void Began(GrainId grain)
    {
        if (_runs && _options.Migration == MigrationMode.Opportunistic)
            Arrived(grain);
    }

    /// <summary>A grain has arrived from another silo.</summary>
    internal void Arrived(GrainId grain) => Post(() =>
    {
        _protocol.Arrived(grain);
        _movesOfRound++;
    });
}
