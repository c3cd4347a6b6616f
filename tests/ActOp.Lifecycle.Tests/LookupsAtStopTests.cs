using System.Globalization;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

/// <summary>A silo that stops while the directory does not answer leaves no lookup behind.</summary>
public sealed class LookupsAtStopTests
{
    [Fact]
    public async Task A_lookup_that_waits_for_the_owner_of_a_slot_ends_with_its_silo()
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        var (asking, owner) = (silos.NodeOf(0), silos.NodeOf(1));
        var grain = Enumerable.Range(0, int.MaxValue).Select(static key => GrainId.Create("any", key.ToString(CultureInfo.InvariantCulture)))
            .First(grain => owner.Address.Equals(asking.DirectoryService.Map.OwnerOf(grain)));
        owner.Kill();
        var lookup = asking.Directory.LookupAsync(grain);
        // It repeats the request until its timeout, and no time passes here.
        asking.Kill();
        await Assert.ThrowsAsync<SiloUnavailableException>(() => lookup.WaitAsync(Gate.Patience));
    }
}
