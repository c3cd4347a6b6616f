using Microsoft.Extensions.DependencyInjection;
using Orleans.CodeGeneration;

namespace DropIn;

public interface INotes : IGrainExtension
{
    Task<string> Note(string text);
}

/// <summary>Added to all grains of the silos.</summary>
public sealed class NotesExtension(IGrainContext context) : INotes
{
    private readonly List<string> _notes = [];

    public Task<string> Note(string text)
    {
        _notes.Add(text);
        return Task.FromResult($"{context.GrainId}: {string.Join(',', _notes)}");
    }
}

public interface IOwnNotes : IGrainExtension
{
    Task<int> Count();
}

public sealed class OwnNotesExtension(Func<int> count) : IOwnNotes
{
    public Task<int> Count() => Task.FromResult(count());
}

public interface IMissingNotes : IGrainExtension
{
    Task Call();
}

public interface IExtended : IGrainWithStringKey
{
    Task Extend();

    Task<int> CountLocally();
}

/// <summary>Adds an extension itself, when it is told to.</summary>
public sealed class ExtendedGrain : Grain, IExtended
{
    private int _count;

    public Task Extend()
    {
        var (extension, reference) = GrainContext.GetComponent<IGrainExtensionBinder>()!
            .GetOrSetExtension<OwnNotesExtension, IOwnNotes>(() => new OwnNotesExtension(() => ++_count));
        return extension is not null && reference.GetGrainId() == this.GetGrainId() ? Task.CompletedTask
            : throw new InvalidOperationException("The extension is not there.");
    }

    public Task<int> CountLocally() => GrainContext.GetGrainExtension<IOwnNotes>().Count();
}

[Version(2)]
public interface IVersioned : IGrainWithStringKey
{
    Task<int> Version();
}

public sealed class VersionedGrain : Grain, IVersioned
{
    public Task<int> Version() => Task.FromResult((int)((GrainReference)(object)this.AsReference<IVersioned>()).InterfaceVersion);
}

public interface IBird : IGrainWithStringKey
{
    Task<string> Sound();
}

public sealed class Bird : Grain, IBird
{
    public Task<string> Sound() => Task.FromResult("tweet");
}

public sealed class ParrotGrain : Grain, IBird
{
    public Task<string> Sound() => Task.FromResult("hello");
}

public interface IFish : IGrainWithStringKey;

public sealed class FishGrain : Grain, IFish;

public sealed class SharkGrain : Grain, IFish;

/// <summary>Extensions of grains, versions of interfaces, and what a silo knows of itself and the others.</summary>
public class ExtensionTests(CommonCluster cluster)
{
    private IExtended Grain([System.Runtime.CompilerServices.CallerMemberName] string key = "") => cluster.Client.GetGrain<IExtended>(key);

    [Fact]
    public async Task An_extension_that_the_silo_adds_has_an_object_for_each_grain()
    {
        var notes = Grain("a").AsReference<INotes>();
        Assert.Equal("extended/a: x", await notes.Note("x"));
        Assert.Equal("extended/a: x,y", await notes.Note("y"));
        Assert.Equal("extended/b: z", await Grain("b").AsReference<INotes>().Note("z"));
        Assert.Equal("calls/c: z", await cluster.Client.GetGrain<ICalls>("c").AsReference<INotes>().Note("z"));
    }

    [Fact]
    public async Task A_grain_adds_an_extension_itself()
    {
        var notes = Grain().AsReference<IOwnNotes>();
        var exception = await Assert.ThrowsAsync<GrainExtensionNotInstalledException>(() => notes.Count());
        Assert.Contains("IOwnNotes", exception.Message, StringComparison.Ordinal);
        await Grain().Extend();
        await Grain().Extend();
        Assert.Equal(1, await notes.Count());
        Assert.Equal(2, await Grain().CountLocally());
    }

    [Fact]
    public async Task An_extension_that_nobody_adds_is_missing() =>
        await Assert.ThrowsAsync<GrainExtensionNotInstalledException>(() => Grain().AsReference<IMissingNotes>().Call());

    [Fact]
    public async Task A_reference_has_the_version_of_its_interface()
    {
        Assert.Equal(2, await cluster.Client.GetGrain<IVersioned>("x").Version());
        Assert.Equal(2, ((GrainReference)(object)cluster.Client.GetGrain<IVersioned>("x")).InterfaceVersion);
        Assert.Equal(0, ((GrainReference)(object)cluster.Client.GetGrain<ICalls>("x")).InterfaceVersion);
    }

    [Fact]
    public async Task A_class_with_the_name_of_the_interface_goes_before_others()
    {
        Assert.Equal("tweet", await cluster.Client.GetGrain<IBird>("x").Sound());
        Assert.Equal("hello", await cluster.Client.GetGrain<IBird>("x", "DropIn.Parrot").Sound());
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IFish>("x"));
    }

    [Fact]
    public void A_silo_knows_itself_and_the_others()
    {
        var details = cluster.ServicesOf(1).GetRequiredService<ILocalSiloDetails>();
        Assert.Equal(("Silo_1", cluster.AddressOf(1)), (details.Name, details.SiloAddress));
        var oracle = cluster.ServicesOf(0).GetRequiredService<ISiloStatusOracle>();
        Assert.Equal((cluster.AddressOf(0), SiloStatus.Active), (oracle.SiloAddress, oracle.CurrentStatus));
        Assert.Equal(SiloStatus.Active, oracle.GetApproximateSiloStatus(cluster.AddressOf(1)));
        Assert.False(oracle.IsDeadSilo(cluster.AddressOf(1)));
        Assert.Equal(new[] { cluster.AddressOf(0), cluster.AddressOf(1) }.Order(), oracle.GetActiveSilos().Order());
        Assert.True(oracle.TryGetSiloName(cluster.AddressOf(1), out var name));
        Assert.Equal("Silo_1", name);
        var members = cluster.ServicesOf(0).GetRequiredService<IClusterMembershipService>().CurrentSnapshot;
        Assert.Equal(SiloStatus.Active, members.GetSiloStatus(cluster.AddressOf(1)));
        Assert.Equal(2, members.Members.Count);
    }
}
