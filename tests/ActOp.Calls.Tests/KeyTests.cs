using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

public class KeyTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Fact]
    public async Task A_grain_knows_its_guid_key()
    {
        var key = Guid.NewGuid();
        Assert.Equal(key.ToString(), await cluster.Client.GetGrain<IGuidGrain>(key).Key());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(long.MaxValue)]
    [InlineData(long.MinValue)]
    public async Task A_grain_knows_its_integer_key(long key) =>
        Assert.Equal(key.ToString(), await cluster.Client.GetGrain<IIntegerGrain>(key).Key());

    [Theory]
    [InlineData("plain")]
    [InlineData("with spaces / and + signs")]
    [InlineData("žluťoučký 🐎")]
    public async Task A_grain_knows_its_string_key(string key) =>
        Assert.Equal(key, await cluster.Client.GetGrain<IStringGrain>(key).Key());

    [Fact]
    public async Task A_grain_knows_both_parts_of_a_guid_compound_key()
    {
        var key = Guid.NewGuid();
        Assert.Equal(key + "|ext+more", await cluster.Client.GetGrain<IGuidCompoundGrain>(key, "ext+more").Key());
    }

    [Fact]
    public async Task A_grain_knows_both_parts_of_an_integer_compound_key() =>
        Assert.Equal("-7|ext", await cluster.Client.GetGrain<IIntegerCompoundGrain>(-7, "ext").Key());

    [Fact]
    public void A_compound_key_needs_its_extension()
    {
        Assert.ThrowsAny<ArgumentException>(() => cluster.Client.GetGrain<IIntegerCompoundGrain>(1, " "));
        Assert.ThrowsAny<ArgumentException>(() => cluster.Client.GetGrain<IGuidCompoundGrain>(Guid.Empty, null!));
    }

    [Fact]
    public async Task One_key_is_one_grain_and_another_key_another()
    {
        Assert.Equal(1, await cluster.Client.GetGrain<IIntegerGrain>(100).Count());
        Assert.Equal(2, await cluster.ClientOf(0).GetGrain<IIntegerGrain>(100).Count());
        Assert.Equal(3, await cluster.ClientOf(1).GetGrain<IIntegerGrain>(100).Count());
        Assert.Equal(1, await cluster.Client.GetGrain<IIntegerGrain>(101).Count());
    }

    public interface IGuidGrain : IGrainWithGuidKey
    {
        Task<string> Key();
    }

    public interface IIntegerGrain : IGrainWithIntegerKey
    {
        Task<string> Key();

        Task<int> Count();
    }

    public interface IStringGrain : IGrainWithStringKey
    {
        Task<string> Key();
    }

    public interface IGuidCompoundGrain : IGrainWithGuidCompoundKey
    {
        Task<string> Key();
    }

    public interface IIntegerCompoundGrain : IGrainWithIntegerCompoundKey
    {
        Task<string> Key();
    }

    public sealed class GuidGrain : Grain, IGuidGrain
    {
        public Task<string> Key() => Task.FromResult(this.GetPrimaryKey().ToString());
    }

    public sealed class IntegerGrain : Grain, IIntegerGrain
    {
        private int _count;

        public Task<string> Key() => Task.FromResult(this.GetPrimaryKeyLong().ToString());

        public Task<int> Count() => Task.FromResult(++_count);
    }

    public sealed class StringGrain : Grain, IStringGrain
    {
        public Task<string> Key() => Task.FromResult(this.GetPrimaryKeyString());
    }

    public sealed class GuidCompoundGrain : Grain, IGuidCompoundGrain
    {
        public Task<string> Key() => Task.FromResult(this.GetPrimaryKey(out var extension) + "|" + extension);
    }

    public sealed class IntegerCompoundGrain : Grain, IIntegerCompoundGrain
    {
        public Task<string> Key() => Task.FromResult(this.GetPrimaryKeyLong(out var extension) + "|" + extension);
    }
}
