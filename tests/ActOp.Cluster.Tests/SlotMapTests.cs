using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

public sealed class SlotMapTests
{
    [Fact]
    public void A_silo_that_joins_takes_slots_only_for_itself()
    {
        var before = new SlotMap(Views.Of(1, 1, 2, 3, 4));
        var after = before.For(Views.Of(2, 1, 2, 3, 4, 5));
        var joined = Views.Silo(5);

        var moved = 0;
        for (var slot = 0; slot < SlotMap.SlotCount; slot++)
        {
            if (!Equals(before.OwnerOf(slot), after.OwnerOf(slot)))
            {
                moved++;
                Assert.Equal(joined, after.OwnerOf(slot));
            }
        }

        Assert.InRange(moved, SlotMap.SlotCount / 5 * 0.8, SlotMap.SlotCount / 5 * 1.2);
    }

    [Fact]
    public void A_silo_that_leaves_gives_up_only_its_own_slots()
    {
        var before = new SlotMap(Views.Of(1, 1, 2, 3, 4, 5));
        var after = before.For(Views.Of(2, 1, 2, 4, 5));

        for (var slot = 0; slot < SlotMap.SlotCount; slot++)
        {
            if (!Equals(before.OwnerOf(slot), Views.Silo(3)))
            {
                Assert.Equal(before.OwnerOf(slot), after.OwnerOf(slot));
            }
        }
    }

    [Fact]
    public void A_silo_that_restarts_comes_back_to_its_old_slots()
    {
        var before = new SlotMap(Views.Of(1, 1, 2, 3));
        var reborn = Views.Silo(2, generation: 2);
        var after = new SlotMap(
            new View(2, [Views.Active(1), new Member(reborn, "2", SiloStatus.Active, null, DeathCause.None), Views.Active(3)]));

        for (var slot = 0; slot < SlotMap.SlotCount; slot++)
        {
            Assert.Equal(before.OwnerOf(slot)!.Endpoint, after.OwnerOf(slot)!.Endpoint);
        }
    }

    [Fact]
    public void Slots_are_shared_evenly()
    {
        var map = new SlotMap(Views.Of(1, [.. Enumerable.Range(1, 16)]));

        var shares = Enumerable.Range(0, SlotMap.SlotCount).GroupBy(slot => map.OwnerOf(slot)!).Select(slots => slots.Count()).ToArray();

        Assert.Equal(16, shares.Length);
        Assert.All(shares, share => Assert.InRange(share, 180, 340));
    }

    [Fact]
    public void Grains_are_spread_evenly_over_slots()
    {
        var counts = new int[SlotMap.SlotCount];
        for (var i = 0; i < 40 * SlotMap.SlotCount; i++)
        {
            counts[SlotMap.SlotOf(GrainId.Create("user", i.ToString()))]++;
        }

        Assert.All(counts, count => Assert.InRange(count, 8, 90));
    }

    [Fact]
    public void Without_active_silos_nobody_owns_anything() => Assert.Null(new SlotMap(View.Empty).OwnerOf(0));

    [Fact]
    public void A_view_without_new_active_silos_keeps_every_owner()
    {
        var before = new SlotMap(Views.Of(1, 1, 2));
        var after = before.For(
            new View(2, [Views.Active(1), Views.Active(2), new Member(Views.Silo(3), "3", SiloStatus.Joining, null, DeathCause.None)]));

        Assert.Equal(2, after.View.Number);
        Assert.All(Enumerable.Range(0, SlotMap.SlotCount), slot => Assert.Equal(before.OwnerOf(slot), after.OwnerOf(slot)));
    }

    /// <summary>Also with several processes at one address and port, of which the hash is the same.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void What_is_computed_from_the_map_before_is_what_the_view_alone_gives(int seed)
    {
        var random = new Random(seed);
        HashSet<(int Number, int Generation)> active = [];
        var map = new SlotMap(View.Empty);
        for (var number = 1; number <= 60; number++)
        {
            for (var change = random.Next(1, 4); change > 0; change--)
            {
                var silo = (random.Next(12), random.Next(1, 4));
                if (!active.Remove(silo))
                    active.Add(silo);
            }

            var members = active.Select(static silo => Views.Silo(silo.Number, silo.Generation))
                .Select(static silo => new Member(silo, "silo", SiloStatus.Active, null, DeathCause.None));
            map = map.For(new View(number, [.. members]));
            var alone = new SlotMap(map.View);
            Assert.All(Enumerable.Range(0, SlotMap.SlotCount), slot => Assert.Equal(alone.OwnerOf(slot), map.OwnerOf(slot)));
        }
    }

    [Fact]
    public void A_slot_set_enumerates_what_was_added()
    {
        var set = new SlotSet();
        int[] slots = [0, 1, 63, 64, 127, 1000, 4095];
        foreach (var slot in slots)
        {
            set.Add(slot);
        }

        set.Remove(64);
        var seen = new List<int>();
        for (var slot = set.Next(-1); slot >= 0; slot = set.Next(slot))
        {
            seen.Add(slot);
        }

        Assert.Equal(slots.Where(slot => slot != 64), seen);
        Assert.Equal(seen.Count, set.Count);
        Assert.Equal(set, SlotSet.FromWords(set.Words));
    }
}
