using System.Net;
using ActOp.Runtime.Placement;

namespace ActOp.Placement.Tests;

/// <summary>The silo that the hash of a grain names.</summary>
public class HashPlacementTests
{
    [Fact]
    public async Task The_hash_of_a_grain_names_the_same_silo_in_whatever_order_the_silos_come()
    {
        SiloAddress[] silos = [.. from port in Enumerable.Range(1, 5) from generation in new[] { 9, 3 }
            select SiloAddress.New(new IPEndPoint(IPAddress.Loopback, port), generation + port)];
        var sorted = silos.Order().ToArray();
        for (var key = 0; key < 50; key++)
        {
            var grain = GrainId.Create("any", key.ToString());
            var expected = sorted[(int)(grain.GetUniformHashCode() & 0x7fffffff) % sorted.Length];
            Assert.Equal(expected, await Choose(grain, silos));
            Assert.Equal(expected, await Choose(grain, [.. silos.Reverse()]));
        }
    }

    private static Task<SiloAddress> Choose(GrainId grain, SiloAddress[] silos)
    {
        var before = silos.ToArray();
        var chosen = new HashBasedDirector().Choose(grain, silos, silos[0]);
        Assert.Equal(before, silos);
        return Task.FromResult(chosen);
    }
}
