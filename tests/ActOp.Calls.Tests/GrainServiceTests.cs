using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Runtime.Services;
using Orleans.Services;

namespace ActOp.Calls.Tests;

public class GrainServiceTests(GrainServiceTests.Served cluster) : IClassFixture<GrainServiceTests.Served>
{
    [Fact]
    public async Task A_grain_calls_the_service_of_any_silo()
    {
        var grain = cluster.Client.GetGrain<IServed>(1);
        foreach (var silo in cluster.Cluster.Silos)
            Assert.Equal("started on " + silo.SiloAddress, await grain.Ask(silo.SiloAddress));
    }

    [Fact]
    public async Task The_service_that_is_responsible_for_a_grain_has_its_hash_in_its_range()
    {
        for (var key = 0; key < 20; key++)
            Assert.True(await cluster.Client.GetGrain<IServed>(key).IsServedByOwner());
    }

    public interface IServed : IGrainWithIntegerKey
    {
        Task<string> Ask(SiloAddress silo);

        Task<bool> IsServedByOwner();
    }

    public interface IDesk : IGrainService
    {
        Task<string> State();

        Task<bool> Owns(GrainId grain);
    }

    public sealed class Desk(GrainId id, Silo silo, ILoggerFactory loggers, IGrainFactory grains) : GrainService(id, silo, loggers), IDesk
    {
        private bool _hasInit;

        public override Task Init(IServiceProvider serviceProvider)
        {
            _hasInit = grains is not null;
            return base.Init(serviceProvider);
        }

        public Task<string> State() =>
            Task.FromResult((_hasInit && Status == GrainServiceStatus.Started ? "started on " : "not started on ") + Silo);

        public Task<bool> Owns(GrainId grain) => Task.FromResult(((IRingRange)RingRange).InRange(grain));
    }

    public sealed class DeskClient(IServiceProvider services) : GrainServiceClient<IDesk>(services)
    {
        public Task<string> State(SiloAddress silo) => GetGrainService(silo).State();

        public Task<bool> IsServedByOwner() => GetGrainService(CurrentGrainReference.GrainId).Owns(CurrentGrainReference.GrainId);
    }

    public sealed class ServedGrain(DeskClient client) : Grain, IServed
    {
        public Task<string> Ask(SiloAddress silo) => client.State(silo);

        public Task<bool> IsServedByOwner() => client.IsServedByOwner();
    }

    public sealed class Served() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.AddGrainService<Desk>();
            silo.Services.AddSingleton<DeskClient>();
        }
    }
}
