namespace ActOp.Partitioning.Tests;

public class ExchangeProtocolTests
{
    private static readonly SiloLoad Load = new(10, 0, 20);
    private readonly HeavyEdgeTable<int> _tableP = new(100, 0);
    private readonly HeavyEdgeTable<int> _tableQ = new(100, 1);
    private readonly ExchangeProtocol<int> _p;
    private readonly ExchangeProtocol<int> _q;

    public ExchangeProtocolTests()
    {
        PartitioningOptions options = new() { RejectionWindow = TimeSpan.FromSeconds(5) };
        _p = new(_tableP, UniformTraits<int>.Instance, options, 0, 1);
        _q = new(_tableQ, UniformTraits<int>.Instance, options, 1, 1);
        _tableP.Add(1, 0, 101, 1, 0, 5);
        _tableQ.Add(101, 0, 1, 0, 0, 5);
    }

    [Fact]
    public void A_repeated_offer_gets_the_same_reply_and_starts_nothing()
    {
        var offer = _p.BeginRound(At(0), Load).Offer!;
        var first = _q.Receive(offer, At(0), Load);
        var second = _q.Receive(offer, At(1), Load);
        Assert.NotNull(first.Reply!.Plan);
        Assert.Same(first.Reply, second.Reply);
        Assert.Null(second.Moves);
    }

    [Fact]
    public void An_offer_without_reply_is_repeated_and_then_given_up_and_its_late_reply_is_ignored()
    {
        var offer = _p.BeginRound(At(0), Load).Offer!;
        Assert.Null(_p.Tick(At(0.5), Load).Offer);
        Assert.Same(offer, _p.Tick(At(1), Load).Offer);
        Assert.Null(_p.Tick(At(2), Load).Offer);
        Assert.Equal(ExchangeState.Idle, _p.State);
        var late = _q.Receive(offer, At(2), Load).Reply!;
        Assert.Equal(default, _p.Receive(late, At(3), Load));
    }

    [Fact]
    public void Of_crossing_offers_exactly_one_goes_on()
    {
        var fromP = _p.BeginRound(At(0), Load).Offer!;
        var fromQ = _q.BeginRound(At(0), Load).Offer!;
        var toQ = _p.Receive(fromQ, At(0), Load).Reply!;
        var toP = _q.Receive(fromP, At(0), Load).Reply!;
        Assert.Equal(ExchangeRefusal.Crossing, toQ.Refusal);
        Assert.NotNull(toP.Plan);
        Assert.Equal(default, _q.Receive(toQ, At(0), Load));
        _p.Receive(toP, At(0), Load);
        Assert.Equal((ExchangeState.Migrating, ExchangeState.Migrating), (_p.State, _q.State));
    }

    [Fact]
    public void A_silo_refuses_within_the_rejection_window()
    {
        _q.Receive(_p.BeginRound(At(0), Load).Offer!, At(0), Load);
        ExchangeOffer<int> other = new(new(7, 1, 1), 2, 1, Load, CandidateSet<int>.Empty);
        Assert.Equal(ExchangeRefusal.Recent, _q.Receive(other, At(4.9), Load).Reply!.Refusal);
        Assert.Equal(ExchangeRefusal.NoGain, _q.Receive(other with { Id = new(7, 1, 2) }, At(5), Load).Reply!.Refusal);
        Assert.Equal(ExchangeRefusal.Stale, _q.Receive(other, At(6), Load).Reply!.Refusal);
    }

    [Fact]
    public void A_busy_vertex_is_reported_and_no_longer_awaited()
    {
        var offer = _p.BeginRound(At(0), Load).Offer!;
        var answer = _q.Receive(offer, At(0), Load);
        var step = _p.Receive(answer.Reply!, At(0), Load);
        var moving = step.Moves!.Concat(answer.Moves!).Single();
        (var from, var to) = step.Moves!.Count == 1 ? (_p, _q) : (_q, _p);
        Assert.True(from.Skipped(moving, out var report, out _));
        Assert.False(report.Moved);
        to.Receive(report);
        Assert.Equal((ExchangeState.Idle, ExchangeState.Idle), (_p.State, _q.State));
        Assert.False(from.Departed(moving, out _, out _));
    }

    [Fact]
    public void A_vertex_that_arrives_brings_its_edges()
    {
        _tableP.Add(1, 0, 55, 3, 4, 2);
        var answer = _q.Receive(_p.BeginRound(At(0), Load).Offer!, At(0), Load);
        var step = _p.Receive(answer.Reply!, At(0), Load);
        Assert.Equal([1], step.Moves!);
        Assert.True(_p.Departed(1, out _, out _));
        Assert.True(_q.Arrived(1));
        Assert.True(_tableQ.TryGetEdge(1, 55, out var edge));
        Assert.Equal((3, 4L, 2.0), (edge.Silo, edge.Epoch, edge.Weight));
        Assert.False(_tableP.TryLocate(1, out _, out _));
    }

    [Fact]
    public void Nothing_refers_to_a_silo_that_is_gone_so_that_its_number_may_name_another_one()
    {
        const int Gone = 3;
        _tableP.Add(1, 0, 55, Gone, 4, 2);
        _tableP.Add(2, 0, 55, Gone, 4, 2);
        var offer = _p.BeginRound(At(0), Load, 1).Offer!;
        var answer = _q.Receive(offer, At(0), Load);
        _p.Gone(Gone, At(0), Load);
        Assert.True(_tableP.TryLocate(55, out var silo, out var epoch));
        Assert.Equal((SiloNumber.Unknown, 4L), (silo, epoch));
        Assert.DoesNotContain(offer.Candidates.Edges, edge => edge.Silo == Gone);
        Assert.DoesNotContain(_p.Selection.RankPartners(), partner => partner.Silo == Gone);
        // Another silo by that number: the vertex that arrives does not bring the old one back.
        _q.Gone(Gone, At(0), Load);
        _p.Receive(answer.Reply!, At(0), Load);
        Assert.True(_p.Departed(1, out _, out _));
        Assert.True(_q.Arrived(1));
        Assert.True(_tableQ.TryGetEdge(1, 55, out var edge));
        Assert.Equal(SiloNumber.Unknown, edge.Silo);
    }

    [Fact]
    public void What_was_promised_to_a_silo_that_is_gone_may_be_promised_again()
    {
        var answer = _q.Receive(_p.BeginRound(At(0), Load).Offer!, At(0), Load);
        Assert.Equal([1], _p.Receive(answer.Reply!, At(0), Load).Moves!);
        Assert.Equal((1, 1), (_p.Outstanding, _q.Outstanding));
        _p.Gone(1, At(0), Load);
        _q.Gone(0, At(0), Load);
        Assert.Equal((ExchangeState.Idle, ExchangeState.Idle), (_p.State, _q.State));
        Assert.False(_p.Departed(1, out _, out _));
        Assert.Null(_p.BeginRound(At(1), Load).Offer);
        _tableP.Add(1, 0, 102, 2, 0, 5);
        Assert.Equal(2, _p.BeginRound(At(1), Load).Offer!.To);
    }

    [Fact]
    public void Offers_grow_while_rounds_gain_nothing_shrink_after_an_exchange_and_begin_again_after_the_largest_one()
    {
        HeavyEdgeTable<int> table = new(1_000, 0);
        ExchangeProtocol<int> silo = new(
            table, UniformTraits<int>.Instance, new() { CandidateCount = 2, CandidateGrowth = 4, RejectionWindow = TimeSpan.Zero }, 0, 1);
        // One vertex has an edge to the other silo; the others are tied to it in a chain.
        table.Add(1, 0, 101, 1, 0, 5);
        for (var vertex = 1; vertex < 30; vertex++)
            table.Add(vertex, 0, vertex + 1, 0, 0, 9);

        Assert.Equal([2, 4, 8, 2], Enumerable.Range(0, 4).Select(_ => Round(ExchangeRefusal.NoGain)));
        // A silo that was busy has not said that there is nothing to gain.
        Assert.Equal([4, 4], new[] { Round(ExchangeRefusal.Busy), Round(ExchangeRefusal.NoGain) });
        Assert.Equal(8, Round(ExchangeRefusal.None));
        Assert.Equal(4, Round(ExchangeRefusal.None));
        Assert.Equal(2, Round(ExchangeRefusal.None));

        int Round(ExchangeRefusal refusal)
        {
            var offer = silo.BeginRound(At(1), Load).Offer!;
            var plan = refusal == ExchangeRefusal.None ? new ExchangePlan<int>([], CandidateSet<int>.Empty, 1, 0) : null;
            Assert.Null(silo.Receive(new ExchangeReply<int>(offer.Id, refusal, plan, default), At(1), Load).Offer);
            return offer.Candidates.Count;
        }
    }

    [Fact]
    public void The_paper_s_algorithm_keeps_its_number_of_candidates()
    {
        PartitioningOptions options = new() { Algorithm = SelectionAlgorithm.Plain, CandidateCount = 2, CandidateGrowth = 4 };
        HeavyEdgeTable<int> table = new(1_000, 0);
        ExchangeProtocol<int> silo = new(table, UniformTraits<int>.Instance, options, 0, 1);
        for (var vertex = 1; vertex < 30; vertex++)
            table.Add(vertex, 0, 101, 1, 0, 5);
        for (var round = 0; round < 4; round++)
        {
            var offer = silo.BeginRound(At(round), Load).Offer!;
            Assert.Equal(2, offer.Candidates.Count);
            silo.Receive(new ExchangeReply<int>(offer.Id, ExchangeRefusal.NoGain, null, default), At(round), Load);
        }
    }

    private static TimeSpan At(double seconds) => TimeSpan.FromSeconds(seconds);
}
