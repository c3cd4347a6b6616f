namespace ActOp.Partitioning.Tests;

public class ExchangeTests
{
    [Theory]
    [InlineData(SelectionAlgorithm.Plain)]
    [InlineData(SelectionAlgorithm.LookAhead)]
    public void Every_plan_lowers_the_true_cut_by_its_gain_and_keeps_the_balance(SelectionAlgorithm algorithm) =>
        Seeds.ForEach(60, random =>
    {
        PartitioningOptions options = new() { Algorithm = algorithm, CandidateCount = random.Next(1, 30), Tolerance = 0.1 };
        Playground playground = new(random, options, random.Next(10, 60), random.Next(2, 5), 0.15);
        for (var i = 0; i < 30; i++)
        {
            var before = playground.Cut;
            var silo = random.Next(playground.Tables.Length);
            if (playground.Exchange(silo) is not { } plan)
                continue;
            Assert.True(plan.Gain > 0);
            Assert.Equal(before - plan.Gain, playground.Cut, 6);
            for (var s = 0; s < playground.Tables.Length; s++)
                Assert.Equal(0, playground.Load(s).Violation(playground.CountOf(s)), 9);
        }
    });

    [Theory]
    [InlineData(SelectionAlgorithm.Plain)]
    [InlineData(SelectionAlgorithm.LookAhead)]
    public void A_static_graph_reaches_a_local_optimum_in_finitely_many_rounds(SelectionAlgorithm algorithm) => Seeds.ForEach(40, random =>
    {
        PartitioningOptions options =
            new() { Algorithm = algorithm, CandidateCount = random.Next(3, 40), Tolerance = 0.1, PartnersPerRound = int.MaxValue };
        var silos = random.Next(2, 5);
        Playground playground = new(random, options, random.Next(10, 50), silos, 0.2);
        var quiet = 0;
        for (var round = 0; quiet < silos; round++)
        {
            Assert.True(round < 2000, "No end in sight.");
            quiet = playground.Exchange(round % silos) is null ? quiet + 1 : 0;
        }

        for (var vertex = 0; vertex < playground.Place.Length; vertex++)
        {
            var from = playground.Place[vertex];
            for (var to = 0; to < silos; to++)
            {
                var admitted = playground.Load(from).Violation(playground.CountOf(from) - 1) < 1e-9
                    && playground.Load(to).Violation(playground.CountOf(to) + 1) < 1e-9;
                Assert.True(
                    to == from || !admitted || playground.TrueScore(vertex, from, to) <= 0, "A vertex would gain by moving and may.");
            }
        }
    });

    [Fact]
    public void Candidates_are_the_best_positive_scores_and_partners_come_by_their_total() => Seeds.ForEach(100, random =>
    {
        var k = random.Next(1, 12);
        PartitioningOptions options = new() { Algorithm = SelectionAlgorithm.Plain, CandidateCount = k };
        Playground playground = new(random, options, 40, 4, 0.2);
        var selection = playground.Protocols[0].Selection;
        var partners = selection.RankPartners();
        var last = double.PositiveInfinity;
        foreach (var partner in partners)
        {
            double[] best = [.. Enumerable.Range(0, 40).Where(v => playground.Place[v] == 0)
                .Select(v => playground.TrueScore(v, 0, partner.Silo)).Where(static s => s > 0).OrderDescending().Take(k)];
            Assert.Equal(best.Sum(), partner.Total, 6);
            Assert.True(partner.Total <= last);
            last = partner.Total;
            double[] chosen = [.. selection.Select(partner.Silo).Vertices.Select(v => playground.TrueScore(v, 0, partner.Silo))];
            Assert.Equal(best, chosen);
        }
    });

    [Fact]
    public void A_draining_silo_gives_at_a_loss_and_an_empty_one_takes()
    {
        Playground playground = new(new Random(1), new() { Tolerance = 0.1 }, 40, 2, 0.3);
        var step = playground.Protocols[0].BeginRound(TimeSpan.Zero, SiloLoad.Draining(20), partner: 1);
        var answer = playground.Protocols[1].Receive(step.Offer!, TimeSpan.Zero, new SiloLoad(20, 0, 40));
        Assert.Equal(20, answer.Reply!.Plan!.Accepted.Length);
        Assert.Empty(answer.Moves!);

        playground = new(new Random(2), new() { Tolerance = 0.1 }, 40, 2, 0.3);
        step = playground.Protocols[0].BeginRound(TimeSpan.Zero, new SiloLoad(20, 9, 11), partner: 1);
        answer = playground.Protocols[1].Receive(step.Offer!, TimeSpan.Zero, new SiloLoad(0, 9, 11));
        Assert.InRange(answer.Reply!.Plan!.LoadChange, 9, 11);
    }

    [Fact]
    public void Candidates_stay_below_the_size_limit()
    {
        HeavyEdgeTable<int> table = new(100, 0);
        for (var i = 0; i < 10; i++)
            table.Add(i, 0, 100, 1, 0, i + 1);
        CandidateSelection<int> selection = new(table, new Sized(4), new() { CandidateSize = 10 });
        Assert.Equal([9, 8], selection.Select(1).Vertices);
    }

    [Fact]
    public void A_migration_cost_keeps_vertices_that_would_gain_less()
    {
        HeavyEdgeTable<int> table = new(100, 0);
        table.Add(1, 0, 100, 1, 0, 5);
        table.Add(2, 0, 100, 1, 0, 20);
        CandidateSelection<int> selection = new(table, new Sized(4), new() { MigrationCost = 2, Algorithm = SelectionAlgorithm.Plain });
        Assert.Equal([2], selection.Select(1).Vertices);
    }

    private sealed class Sized(double size) : IVertexTraits<int>
    {
        public bool CanMove(int vertex) => true;

        public double SizeOf(int vertex) => size;
    }
}
