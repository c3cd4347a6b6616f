using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

public class GrainExtensionTests(GrainExtensionTests.Extended cluster) : IClassFixture<GrainExtensionTests.Extended>
{
    [Fact]
    public async Task A_registered_extension_is_made_for_each_activation_that_is_called_through_it()
    {
        var (one, other) = (cluster.Client.GetGrain<IExtendable>(1), cluster.Client.GetGrain<IExtendable>(2));
        Assert.Equal(1, await one.AsReference<ICountExtension>().Count());
        Assert.Equal(2, await one.AsReference<ICountExtension>().Count());
        Assert.Equal(1, await other.AsReference<ICountExtension>().Count());
        Assert.Equal(one.GetGrainId(), await one.AsReference<ICountExtension>().Owner());
    }

    [Fact]
    public async Task A_grain_that_implements_an_extension_is_called_itself() =>
        Assert.Equal("grain", await cluster.Client.GetGrain<IExtendable>(3).AsReference<IOwnExtension>().Name());

    [Fact]
    public async Task A_call_through_an_extension_that_is_not_installed_says_so()
    {
        var exception = await Assert.ThrowsAsync<GrainExtensionNotInstalledException>(
            () => cluster.Client.GetGrain<IExtendable>(4).AsReference<IMissingExtension>().Call());
        Assert.Contains(nameof(IMissingExtension), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_grain_sets_its_own_extension()
    {
        var grain = cluster.Client.GetGrain<IExtendable>(5);
        await Assert.ThrowsAsync<GrainExtensionNotInstalledException>(() => grain.AsReference<IMissingExtension>().Call());
        Assert.True(await grain.Install());
        Assert.Equal("installed", await grain.AsReference<IMissingExtension>().Call());
    }

    [Fact]
    public async Task Components_of_a_context_are_found_by_their_type() =>
        Assert.True(await cluster.Client.GetGrain<IExtendable>(6).HasComponents());

    public interface IExtendable : IGrainWithIntegerKey
    {
        Task<bool> Install();

        Task<bool> HasComponents();
    }

    public interface ICountExtension : IGrainExtension
    {
        Task<int> Count();

        Task<GrainId> Owner();
    }

    public interface IOwnExtension : IGrainExtension
    {
        Task<string> Name();
    }

    public interface IMissingExtension : IGrainExtension
    {
        Task<string> Call();
    }

    public sealed class CountExtension(IGrainContextAccessor accessor) : ICountExtension
    {
        private readonly GrainId _owner = accessor.GrainContext.GrainId;
        private int _count;

        public Task<int> Count() => Task.FromResult(++_count);

        public Task<GrainId> Owner() => Task.FromResult(_owner);
    }

    public sealed class LateExtension : IMissingExtension
    {
        public Task<string> Call() => Task.FromResult("installed");
    }

    public sealed class ExtendableGrain(IGrainContext context) : IGrainBase, IExtendable, IOwnExtension
    {
        public IGrainContext GrainContext => context;

        public Task<string> Name() => Task.FromResult("grain");

        public Task<bool> Install()
        {
            var binder = context.GetComponent<IGrainExtensionBinder>()!;
            var (made, _) = binder.GetOrSetExtension<LateExtension, IMissingExtension>(static () => new LateExtension());
            var (again, reference) = binder.GetOrSetExtension<LateExtension, IMissingExtension>(static () => new LateExtension());
            return Task.FromResult(
                ReferenceEquals(made, again) && reference is GrainReference
                    && ReferenceEquals(context.GetGrainExtension<IMissingExtension>(), made));
        }

        public Task<bool> HasComponents()
        {
            context.SetComponent(new LateExtension());
            var found = context.GetComponent<LateExtension>() is not null;
            context.SetComponent<LateExtension>(null);
            return Task.FromResult(found && context.GetComponent<LateExtension>() is null
                && context.GetComponent<IGrainContext>() == context);
        }
    }

    public sealed class Extended() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) => silo.AddGrainExtension<ICountExtension, CountExtension>();
    }
}
