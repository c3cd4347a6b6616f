using System.Net;
using System.Text;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Abstractions.Tests;

/// <summary>The numbers are part of the wire and of where grains are placed: they never change.</summary>
public class StableHashTests
{
    [Theory]
    [InlineData("", 0u, 0x02CC5D05u)]
    [InlineData("a", 0u, 0x550D7456u)]
    [InlineData("abc", 0u, 0x32D153FFu)]
    [InlineData("Nobody inspects the spammish repetition", 0u, 0xE2293B2Fu)]
    public void The_hash_is_xxh32(string text, uint seed, uint hash) =>
        Assert.Equal(hash, StableHash.HashOf(Encoding.UTF8.GetBytes(text), seed));

    [Fact]
    public void Hashes_of_ids_never_change()
    {
        Assert.Equal(0x32D153FFu, IdSpan.Create("abc").GetUniformHashCode());
        Assert.Equal(0x32D153FF, GrainType.Create("abc").GetHashCode());
        Assert.Equal(0xEFAD7EB1u, GrainId.Create("user", "42").GetUniformHashCode());
        Assert.Equal(unchecked((int)0x8C335232), SiloAddress.New(IPAddress.Loopback, 11111, 5).GetConsistentHashCode());
        Assert.Equal("@efad7eb1ac8475fda2bbe4b1734085f2", ActivationId.GetDeterministic(GrainId.Create("user", "42")).ToString());
    }

    [Fact]
    public void Type_and_key_count_apart() =>
        Assert.NotEqual(GrainId.Create("a", "b").GetUniformHashCode(), GrainId.Create("b", "a").GetUniformHashCode());

    [Fact]
    public void A_span_with_the_same_bytes_is_equal_and_the_hash_is_not_computed_again()
    {
        var first = IdSpan.Create("key");
        var second = IdSpan.UnsafeCreate([.. first.AsSpan()], first.GetHashCode());
        Assert.Equal(first, second);
        Assert.NotEqual(first, IdSpan.Create("kez"));
        Assert.True(default(IdSpan).IsDefault);
        Assert.Equal("", default(IdSpan).ToString());
    }

    [Fact]
    public void Silo_hashes_are_independent_of_each_other() =>
        Assert.Equal(30, SiloAddress.New(IPAddress.Loopback, 1, 1).GetUniformHashCodes(30).Distinct().Count());
}
