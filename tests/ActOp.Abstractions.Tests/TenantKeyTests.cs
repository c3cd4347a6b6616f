using ActOp.Tenants;
using Orleans.Runtime;

namespace ActOp.Abstractions.Tests;

/// <summary>The tenant in keys of grains and streams.</summary>
public class TenantKeyTests
{
    [Theory]
    [InlineData("acme|cart", "acme")]
    [InlineData("acme|a|b", "acme")]
    [InlineData("acme|1+x", "acme")]
    [InlineData("1F+acme|", "acme")]
    [InlineData("1F+acme|ext", "acme")]
    [InlineData("0123456789abcdef0123456789abcdef+a b.c|x", "a b.c")]
    [InlineData("cart", null)]
    [InlineData("1F+ext", null)]
    [InlineData("|cart", null)]
    [InlineData("1F+|cart", null)]
    public void The_tenant_of_a_grain_stands_before_the_first_bar(string key, string? tenant)
    {
        Assert.Equal(tenant, GrainId.Create("cart", key).GetTenant());
        Assert.Equal(tenant, StreamId.Create("ns", key).GetTenant());
    }

    [Fact]
    public void A_stream_has_its_namespace_and_key_in_a_tenant()
    {
        var stream = StreamId.Create("chat", "room/1").ForTenant("acme");
        Assert.Equal("chat", stream.GetNamespace());
        Assert.Equal("acme|room/1", stream.GetKeyAsString());
        Assert.Equal(("acme", "room/1"), (stream.GetTenant(), stream.GetKeyWithinTenant()));
        Assert.Throws<ArgumentException>(() => stream.ForTenant("globex"));
    }

    [Theory]
    [InlineData("")]
    [InlineData(" ")]
    [InlineData("a|b")]
    [InlineData("a+b")]
    [InlineData("a\nb")]
    public void A_wrong_name_is_refused(string name) => Assert.Throws<ArgumentException>(() => StreamId.Create("ns", "key").ForTenant(name));

    [Fact]
    public void A_name_has_at_most_200_characters()
    {
        StreamId.Create("ns", "key").ForTenant(new string('a', 200));
        Assert.Throws<ArgumentException>(() => StreamId.Create("ns", "key").ForTenant(new string('a', 201)));
    }

    /// <summary>No key of one tenant is a key of another one, whatever the names and keys.</summary>
    [Fact]
    public void Keys_of_different_tenants_differ()
    {
        string[] parts = ["a", "a ", "b", "ab", "a.b", "1", "1F", "é"];
        string[] keys = ["a", "b|a", "a+b", "a+b|c", "|", "+", "1F+a|"];
        foreach (var (tenant, key) in parts.SelectMany(tenant => keys.Select(key => (tenant, key))))
        {
            // A key that has a tenant already cannot be put into another one.
            var plain = StreamId.Create("ns", key);
            if (plain.GetTenant() is not null)
            {
                Assert.Throws<ArgumentException>(() => plain.ForTenant(tenant));
                continue;
            }

            var made = plain.ForTenant(tenant);
            Assert.Equal((tenant, key), (made.GetTenant(), made.GetKeyWithinTenant()));
        }
    }
}
