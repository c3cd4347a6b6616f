namespace ActOp.Partitioning.Tests;

public class OptionsTests
{
    public static TheoryData<string, PartitioningOptions> Wrong => new()
    {
        { "CandidateCount", new() { CandidateCount = 0 } },
        { "CandidateGrowth", new() { CandidateGrowth = 0 } },
        { "ClusterCycles", new() { ClusterCycles = -1 } },
        { "Tolerance", new() { Tolerance = 1.5 } },
        { "EdgeCapacity", new() { EdgeCapacity = 0 } },
        { "MigrationCost", new() { MigrationCost = double.NaN } },
        { "DecayHalfLife", new() { DecayHalfLife = TimeSpan.Zero } },
        { "MaxRoundPeriod", new() { MinRoundPeriod = TimeSpan.FromSeconds(5), MaxRoundPeriod = TimeSpan.FromSeconds(4) } },
    };

    [Theory]
    [MemberData(nameof(Wrong))]
    public void A_wrong_option_is_named(string name, PartitioningOptions options)
    {
        var error = Assert.Throws<ArgumentException>(() => options.Validate());
        Assert.Contains($"PartitioningOptions.{name} is", error.Message);
    }

    [Fact]
    public void The_defaults_are_valid() => Assert.NotNull(new PartitioningOptions().Validate());

    [Fact]
    public void Rounds_back_off_while_nothing_moves_and_come_quickly_after_a_change()
    {
        RoundPeriod period = new(new() { MinRoundPeriod = TimeSpan.FromSeconds(1), MaxRoundPeriod = TimeSpan.FromSeconds(6) });
        Assert.Equal([1, 2, 4, 6, 6, 1], new[] { 5, 0, 0, 0, 0, 3 }.Select(m => period.Next(m, 0.5).TotalSeconds));
        period.Next(0, 0.5);
        period.Disturb();
        Assert.Equal(TimeSpan.FromSeconds(1), period.Current);
        Assert.InRange(period.Next(1, 0.99).TotalSeconds, 1, 1.25);
    }
}
