using System.Net;
using System.Text.Json;
using Orleans.Runtime;

namespace ActOp.Abstractions.Tests;

public class IdentityJsonTests
{
    private static readonly GrainId Grain = GrainId.Create("room", "a/b");
    private static readonly SiloAddress Silo = SiloAddress.New(IPAddress.Parse("10.0.0.1"), 11111, 7);
    private static readonly ActivationId Activation = new(new Guid("00112233445566778899aabbccddeeff"));

    public static IEnumerable<TheoryDataRow<object, string>> Values =>
    [
        new(Grain, "\"room/a/b\""),
        new(GrainId.Create(GrainType.Create("room"), default(IdSpan)), "\"room/\""),
        new(GrainType.Create("room"), "\"room\""),
        new(IdSpan.Create("key \"é\""), "\"key \\u0022\\u00E9\\u0022\""),
        new(GrainInterfaceType.Create("IRoom"), "\"IRoom\""),
        new(Silo, "\"10.0.0.1:11111@7\""),
        new(SiloAddress.New(IPAddress.IPv6Loopback, 1, -2), "\"[::1]:1@-2\""),
        new(Activation, "\"@00112233445566778899aabbccddeeff\""),
        new(new MembershipVersion(12), "12"),
        new(default(GrainId), "\"\""),
        new(default(GrainType), "\"\""),
        new(default(IdSpan), "\"\""),
        new(default(GrainInterfaceType), "\"\""),
        new(default(ActivationId), "\"@00000000000000000000000000000000\""),
        new(
            new GrainAddress { GrainId = Grain, SiloAddress = Silo, ActivationId = Activation, MembershipVersion =
                new MembershipVersion(3) },
            "{\"ActivationId\":\"@00112233445566778899aabbccddeeff\",\"GrainId\":\"room/a/b\",\"MembershipVersion\":3,\"SiloAddress\":\"10.0.0.1:11111@7\"}"),
        new(new GrainAddress { GrainId = Grain },
            "{\"ActivationId\":\"@00000000000000000000000000000000\",\"GrainId\":\"room/a/b\",\"MembershipVersion\":-9223372036854775808,\"SiloAddress\":null}"),
    ];

    [Theory]
    [MemberData(nameof(Values), DisableDiscoveryEnumeration = true)]
    public void An_identity_comes_back_from_json(object value, string json)
    {
        Assert.Equal(json, JsonSerializer.Serialize(value, value.GetType()));
        Assert.Equal(value, JsonSerializer.Deserialize(json, value.GetType()));
    }

    [Fact]
    public void An_identity_is_a_key_of_a_dictionary()
    {
        Key(Grain);
        Key(GrainType.Create("room"));
        Key(IdSpan.Create("k"));
        Key(GrainInterfaceType.Create("IRoom"));
        Key(Silo);
        Key(Activation);
        Key(new MembershipVersion(-4));
    }

    [Fact]
    public void Members_that_hold_identities_come_back()
    {
        var holder = new Holder(Grain, null, Silo);
        Assert.Equal(holder, JsonSerializer.Deserialize<Holder>(JsonSerializer.Serialize(holder)));
    }

    [Theory]
    [InlineData(typeof(GrainId), "\"noslash\"")]
    [InlineData(typeof(GrainId), "{}")]
    [InlineData(typeof(GrainId), "null")]
    [InlineData(typeof(SiloAddress), "\"nowhere\"")]
    [InlineData(typeof(ActivationId), "\"@12\"")]
    [InlineData(typeof(MembershipVersion), "\"x\"")]
    public void Json_that_is_no_identity_is_refused(Type type, string json) =>
        Assert.Throws<JsonException>(() => JsonSerializer.Deserialize(json, type));

    [Fact]
    public void A_grain_id_that_would_be_read_as_another_one_is_refused() =>
        Assert.Throws<JsonException>(() => JsonSerializer.Serialize(GrainId.Create("a/b", "c")));

    private static void Key<T>(T key)
        where T : notnull
    {
        var map = new Dictionary<T, int> { [key] = 5 };
        Assert.Equal(map, JsonSerializer.Deserialize<Dictionary<T, int>>(JsonSerializer.Serialize(map)));
    }

    private sealed record Holder(GrainId Grain, GrainId? Other, SiloAddress Silo);
}
