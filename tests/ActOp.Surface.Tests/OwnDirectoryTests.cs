using ActOp.TestClusters;
using Orleans.GrainDirectory;
using Orleans.Runtime.Hosting;
using Orleans.Runtime.Placement;

namespace ActOp.Surface.Tests;

/// <summary>A grain directory of the application that answers later, as one in a database does.</summary>
public class OwnDirectoryTests
{
    [Theory]
    [InlineData("own", true)]
    [InlineData("own", false)]
    [InlineData(GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY, false)]
    public async Task Grains_of_a_directory_that_answers_later_are_found_from_everywhere(string name, bool isHinted)
    {
        var directory = new LateDirectory();
        var builder = new TestClusterBuilder(2);
        using var given = new Given(directory, name);
        builder.Properties[Given.Key] = given.Id;
        builder.AddSiloBuilderConfigurator<Given>();
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var (first, second) = (await OnSilo(cluster, 0, isHinted), await OnSilo(cluster, 1, isHinted));
        var (ofFirst, ofSecond) = (await first.Ping(), await second.Ping());
        Assert.Equal(++ofFirst, await second.ProxyPing(first));
        Assert.Equal(++ofSecond, await first.ProxyPing(second));
        await Task.WhenAll(Enumerable.Range(0, 100).Select(_ => cluster.GrainFactory.GetGrain<IPinged>(Guid.NewGuid()).Ping()))
            .WaitAsync(Gate.Patience);
        Assert.True(directory.Registrations > 0 && directory.Lookups > 0);
        await cluster.StopSecondarySilosAsync();
        Assert.Equal(++ofFirst, await first.Ping().WaitAsync(Gate.Patience));
        Assert.Equal(1, await second.Ping().WaitAsync(Gate.Patience));
    }

    private static async Task<IPinged> OnSilo(TestCluster cluster, int silo, bool isHinted)
    {
        var address = cluster.Silos[silo].SiloAddress.Endpoint.ToString();
        for (var tries = 0; tries < 200; tries++)
        {
            if (isHinted)
                RequestContext.Set(IPlacementDirector.PlacementHintKey, cluster.Silos[silo].SiloAddress);
            var grain = cluster.GrainFactory.GetGrain<IPinged>(Guid.NewGuid());
            if ((await grain.Identity().WaitAsync(Gate.Patience)).Contains(address, StringComparison.Ordinal))
                return grain;
        }

        throw new InvalidOperationException("No grain is on " + address + ".");
    }

    public interface IPinged : IGrainWithGuidKey
    {
        Task<int> Ping();

        Task<int> ProxyPing(IPinged other);

        Task<string> Identity();
    }

    [GrainDirectory(GrainDirectoryName = "own")]
    public sealed class PingedGrain : Grain, IPinged
    {
        private int _count;

        public Task<int> Ping() => Task.FromResult(++_count);

        public Task<int> ProxyPing(IPinged other) => other.Ping();

        public Task<string> Identity() => Task.FromResult(RuntimeIdentity);
    }

    /// <summary>Gives the silos of a cluster the directory of its test.</summary>
    public sealed class Given : ISiloConfigurator, IDisposable
    {
        internal const string Key = "OwnDirectory";

        private static readonly System.Collections.Concurrent.ConcurrentDictionary<string, (LateDirectory, string)> All = new();

        public Given()
        {
        }

        internal Given(LateDirectory directory, string name) => All[Id] = (directory, name);

        internal string Id { get; } = Guid.NewGuid().ToString("N");

        public void Configure(ISiloBuilder siloBuilder)
        {
            var (directory, name) = All[siloBuilder.Configuration[Key]!];
            siloBuilder.AddGrainDirectory("own", (_, _) => directory);
            if (name != "own")
                siloBuilder.AddGrainDirectory(name, (_, _) => directory);
        }

        public void Dispose() => All.TryRemove(Id, out _);
    }

    internal sealed class LateDirectory : IGrainDirectory
    {
        private readonly Dictionary<GrainId, GrainAddress> _entries = [];
        private readonly SemaphoreSlim _gate = new(1);

        public int Registrations { get; private set; }

        public int Lookups { get; private set; }

        public Task<GrainAddress?> Lookup(GrainId grainId) => Guarded(() =>
        {
            Lookups++;
            return _entries.GetValueOrDefault(grainId);
        });

        public Task<GrainAddress?> Register(GrainAddress address) => Guarded(() =>
        {
            Registrations++;
            if (_entries.TryGetValue(address.GrainId, out var existing))
                return existing;
            _entries.Add(address.GrainId, address);
            return address;
        });

        public Task Unregister(GrainAddress address) => Guarded(() =>
        {
            if (_entries.TryGetValue(address.GrainId, out var existing) && existing.Equals(address))
                _entries.Remove(address.GrainId);
            return null;
        });

        public Task UnregisterSilos(List<SiloAddress> siloAddresses) => Task.CompletedTask;

        private async Task<GrainAddress?> Guarded(Func<GrainAddress?> step)
        {
            await _gate.WaitAsync();
            try
            {
                await Task.Yield();
                return step();
            }
            finally
            {
                _gate.Release();
            }
        }
    }
}
