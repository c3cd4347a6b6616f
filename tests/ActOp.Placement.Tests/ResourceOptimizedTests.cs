using System.Net;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Locality;
using ActOp.Partitioning;
using ActOp.Runtime.Placement;
using ActOp.TestClusters;

namespace ActOp.Placement.Tests;

/// <summary>Placement by the use of resources.</summary>
public class ResourceOptimizedTests
{
    private const long Gigabyte = 1L << 30;

    private static readonly SiloAddress[] Silos =
        [.. Enumerable.Range(1, 4).Select(number => SiloAddress.New(IPAddress.Parse("10.0.0." + number), 1, 1))];

    private static readonly SiloAddress Elsewhere = SiloAddress.New(IPAddress.Parse("10.0.0.9"), 1, 1);

    [Theory]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.CpuUsageWeight))]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.MemoryUsageWeight))]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.AvailableMemoryWeight))]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.MaxAvailableMemoryWeight))]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.ActivationCountWeight))]
    public void Each_weight_counts_for_its_resource_only(string weight)
    {
        var options = new ResourceOptimizedPlacementOptions
        {
            CpuUsageWeight = 0,
            MemoryUsageWeight = 0,
            AvailableMemoryWeight = 0,
            MaxAvailableMemoryWeight = 0,
            ActivationCountWeight = 0,
        };
        typeof(ResourceOptimizedPlacementOptions).GetProperty(weight)!.SetValue(options, 100);
        var idle = new SiloUse(10, 10, Gigabyte, 7 * Gigabyte, 8 * Gigabyte);
        var busy = weight switch
        {
            nameof(options.CpuUsageWeight) => idle with { CpuPercent = 90 },
            nameof(options.MemoryUsageWeight) => idle with { UsedMemory = 6 * Gigabyte },
            nameof(options.AvailableMemoryWeight) => idle with { AvailableMemory = Gigabyte },
            nameof(options.MaxAvailableMemoryWeight) => idle with { MaxMemory = 4 * Gigabyte },
            _ => idle with { Activations = 100 },
        };
        Assert.Equal(Silos[1], Choose(Director(options, [busy, idle], null), Silos[..2]));
        Assert.Equal(Silos[0], Choose(Director(options, [idle, busy], null), Silos[..2]));
    }

    [Fact]
    public void The_requesting_silo_is_preferred_within_the_margin()
    {
        var options = new ResourceOptimizedPlacementOptions();
        // Processor use has 40 % of the weight: 10 points more are 4 % more, 15 points more are 6 %.
        Assert.Equal(Silos[0], Choose(Director(options, [new(0, 20, 0, 0, 0), new(0, 10, 0, 0, 0)], 0.03), Silos[..2], Silos[0]));
        Assert.Equal(Silos[1], Choose(Director(options, [new(0, 25, 0, 0, 0), new(0, 10, 0, 0, 0)], 0.03), Silos[..2], Silos[0]));
        options.LocalSiloPreferenceMargin = 0;
        Assert.Equal(Silos[1], Choose(Director(options, [new(0, 20, 0, 0, 0), new(0, 10, 0, 0, 0)], 0.03), Silos[..2], Silos[0]));
    }

    [Fact]
    public void A_burst_is_spread_before_the_next_report()
    {
        var director = Director(new(), new SiloUse[4], 0.03);
        var seats = Enumerable.Range(0, 1000).Select(_ => Choose(director, Silos, Silos[0])).CountBy(seat => seat).ToDictionary();
        Assert.All(Silos, silo => Assert.InRange(seats[silo], 240, 260));
    }

    [Theory]
    [InlineData(4, 0, 20)]
    [InlineData(4, 100, 20)]
    [InlineData(4, 400, 20)]
    [InlineData(2, 100, 60)]
    [InlineData(2, 900, 150)]
    [InlineData(1, 200, 60)]
    public void A_burst_with_reports_in_its_midst_is_spread(int requesters, int delay, int allowed)
    {
        const int burst = 4000;
        const int period = 1000;
        var counts = new int[4];
        var known = Enumerable.Repeat(SiloUses.None, 4).ToArray();
        var heard = Enumerable.Range(0, 4).Select(_ => new int[4]).ToArray();
        var sent = new Queue<(int At, int From, int Count)>();
        var directors = Enumerable.Range(0, 4).Select(silo => new ResourceOptimizedDirector(
            new SeededRandom(silo + 1), () => known[silo], new ResourceOptimizedPlacementOptions(), 0.03)).ToArray();
        for (var at = 0; at < burst; at++)
        {
            while (sent.TryPeek(out var report) && report.At + delay <= at)
            {
                sent.Dequeue();
                for (var silo = 0; silo < 4; silo++)
                    heard[silo][report.From] = report.Count;
            }

            // Each silo tells its count and looks at those that it has heard once in a period, none at the time of another.
            if (at % (period / 4) == 0)
            {
                var silo = at / (period / 4) % 4;
                sent.Enqueue((at, silo, counts[silo]));
                heard[silo][silo] = counts[silo];
                known[silo] = new SiloUses(
                    [.. heard[silo].Select((count, index) => KeyValuePair.Create(Silos[index], new SiloUse(count, 0, 0, 0, 0)))],
                    known[silo].Number + 1);
            }

            var requester = at % requesters;
            counts[Array.IndexOf(Silos, Choose(directors[requester], Silos, Silos[requester]))]++;
        }

        Assert.True(counts.All(count => Math.Abs(count - (burst / 4)) <= allowed), string.Join(", ", counts));
    }

    [Fact]
    public void Reports_since_the_last_choice_correct_one_that_was_late()
    {
        var known = Reports(0, 0, 1);
        var director = new ResourceOptimizedDirector(new SeededRandom(3), () => known, new ResourceOptimizedPlacementOptions(), 0.03);
        var counts = new int[2];
        Place(300);
        // Made while there were few, and heard after all were placed.
        known = Reports(150, 20, 2);
        Place(1);
        known = Reports(counts[0], counts[1], 10);
        counts.AsSpan().Clear();
        Place(100);
        Assert.All(counts, count => Assert.InRange(count, 45, 55));

        void Place(int burst)
        {
            for (var i = 0; i < burst; i++)
                counts[Array.IndexOf(Silos, Choose(director, Silos[..2]))]++;
        }

        static SiloUses Reports(int first, int second, long number) => new(
            [KeyValuePair.Create(Silos[0], new SiloUse(first, 0, 0, 0, 0)), KeyValuePair.Create(Silos[1], new SiloUse(second, 0, 0, 0, 0))],
            number);
    }

    [Fact]
    public void A_silo_above_the_band_of_the_partitioner_gets_nothing_while_others_are_below()
    {
        SiloUse full = new(200, 0, 0, 0, 0);
        SiloUse busy = new(100, 90, 0, 0, 0);
        Assert.Equal(Silos[1], Choose(Director(new(), [full, busy], 0.03), Silos[..2], Silos[0]));
        // Without the partitioner only the weights count.
        Assert.Equal(Silos[0], Choose(Director(new(), [full, busy], null), Silos[..2], Silos[0]));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(90)]
    public void A_silo_that_has_not_reported_yet_has_no_activations_and_uses_as_much_as_the_others(float cpu)
    {
        SiloUse use = new(10, cpu, 6 * Gigabyte, 2 * Gigabyte, 8 * Gigabyte);
        var director = Director(new(), [use, use], 0.03);
        var seats = Enumerable.Range(0, 30).Select(_ => Choose(director, Silos[..3])).ToArray();
        Assert.InRange(seats.Count(seat => seat.Equals(Silos[2])), 10, 20);
    }

    [Fact]
    public async Task What_placement_has_spread_the_partitioner_leaves_in_place()
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        var grains = Enumerable.Range(0, 600).Select(key => silos.Grains.GetGrain<IEchoGrain>("burst" + key)).ToArray();
        // Time stands still in a burst, however long it takes: no report of the loads comes in its midst.
        var seats = await Task.WhenAll(grains.Select(grain => grain.Where())).WaitAsync(Gate.Patience);
        var counts = new[] { silos.NodeOf(0).Activations.Count, silos.NodeOf(1).Activations.Count };
        Assert.All(counts, count => Assert.Equal(0, SiloLoad.Around(count, counts.Average(), 0.03).Violation(count)));

        // Rounds of the partitioner, with reports of the loads and further grains between them. A report that was made during the burst
        // and arrives after it would attract the next grains.
        await silos.PassAsync(TimeSpan.FromSeconds(5), 0, 1);
        await PassUntilReported(silos);
        await Task.WhenAll(Enumerable.Range(0, 200).Select(key => silos.Grains.GetGrain<IEchoGrain>("later" + key).Where()))
            .WaitAsync(Gate.Patience);
        await silos.PassAsync(TimeSpan.FromSeconds(5), 0, 1);

        Assert.True(((LocalityService)silos.NodeOf(0).Locality).Rounds > 0);
        Assert.Equal(seats, await silos.AskAll(grains.Select(grain => grain.Where())));
        counts = [silos.NodeOf(0).Activations.Count, silos.NodeOf(1).Activations.Count];
        Assert.All(counts, count => Assert.Equal(0, SiloLoad.Around(count, counts.Average(), 0.03).Violation(count)));
    }

    [Fact]
    public async Task The_silos_exchange_what_they_use()
    {
        await using var silos = await SilosInVirtualTime.Deploy(
            static silo => silo.Configure<LocalityOptions>(static options => options.Enabled = false));
        await silos.AskAll(Enumerable.Range(0, 100).Select(key => silos.Grains.GetGrain<IEchoGrain>("use" + key).Where()));
        await PassUntilReported(silos);
        for (var silo = 0; silo < 2; silo++)
        {
            for (var other = 0; other < 2; other++)
                Assert.True(silos.NodeOf(silo).Locality.Uses.UseOf(silos.AddressOf(other)).MaxMemory > 0);
        }
    }

    [Theory]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.CpuUsageWeight), -1)]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.ActivationCountWeight), 101)]
    [InlineData(nameof(ResourceOptimizedPlacementOptions.LocalSiloPreferenceMargin), 101)]
    public void A_weight_out_of_range_fails_the_start_with_the_name_of_the_option(string option, int value)
    {
        var options = new ResourceOptimizedPlacementOptions();
        typeof(ResourceOptimizedPlacementOptions).GetProperty(option)!.SetValue(options, value);
        var exception = Assert.Throws<OrleansConfigurationException>(() => ActOp.Runtime.Nodes.OptionRules.Check(options));
        Assert.Contains(option, exception.Message, StringComparison.Ordinal);
    }

    /// <summary>A report is sent about once a second, and arrives when the machine has time for it.</summary>
    private static async Task PassUntilReported(SilosInVirtualTime silos)
    {
        for (var seconds = 0; seconds < 60 && Differences() != (0, 0); seconds++)
            await silos.PassAsync(TimeSpan.FromSeconds(1), 0, 1);
        Assert.Equal((0, 0), Differences());

        (int, int) Differences() => (
            silos.NodeOf(0).Locality.Uses.UseOf(silos.AddressOf(1)).Activations - silos.NodeOf(1).Activations.Count,
            silos.NodeOf(1).Locality.Uses.UseOf(silos.AddressOf(0)).Activations - silos.NodeOf(0).Activations.Count);
    }

    private static ResourceOptimizedDirector Director(ResourceOptimizedPlacementOptions options, SiloUse[] uses, double? tolerance)
    {
        var known = new SiloUses([.. uses.Select((use, index) => KeyValuePair.Create(Silos[index], use))], 1);
        return new ResourceOptimizedDirector(new SeededRandom(7), () => known, options, tolerance);
    }

    private static SiloAddress Choose(ResourceOptimizedDirector director, SiloAddress[] silos, SiloAddress? requester = null) =>
        director.Choose(default, silos, requester ?? Elsewhere);
}
