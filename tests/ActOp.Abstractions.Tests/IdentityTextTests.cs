using System.Net;
using FsCheck;
using FsCheck.Fluent;
using Orleans.Runtime;

namespace ActOp.Abstractions.Tests;

public class IdentityTextTests
{
    private static readonly Arbitrary<string> Text = ArbMap.Default.ArbFor<NonWhiteSpaceString>()
        .Convert(
            text => new string([.. text.Get.Where(c => !char.IsSurrogate(c))]), text => NonWhiteSpaceString.NewNonWhiteSpaceString(text))
        .Filter(text => !string.IsNullOrWhiteSpace(text));

    [Fact]
    public void A_grain_id_reads_back_from_its_text() =>
        Prop.ForAll(Text.Filter(type => !type.Contains('/')), Text, (type, key) =>
        {
            var id = GrainId.Create(type, key);
            Assert.Equal(type + "/" + key, id.ToString());
            var read = GrainId.Parse(id.ToString());
            Assert.Equal(id, read);
            Assert.Equal(id.GetHashCode(), read.GetHashCode());
            Assert.Equal(id.ToString(), $"{read}");
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_silo_address_reads_back_from_its_text() =>
        Prop.ForAll(ArbMap.Default.ArbFor<uint>(), ArbMap.Default.ArbFor<ushort>(), ArbMap.Default.ArbFor<int>(), (ip, port, generation) =>
        {
            var v4 = SiloAddress.New(new IPAddress(ip), port, generation);
            var v6 = SiloAddress.New(v4.Endpoint.Address.MapToIPv6(), port, generation);
            Assert.Equal(v4, SiloAddress.FromParsableString(v4.ToParsableString()));
            Assert.Equal(v6, SiloAddress.FromUtf8String(System.Text.Encoding.UTF8.GetBytes(v6.ToParsableString())));
            Assert.Equal(generation < 0, v4.IsClient);
            Assert.Equal(v4.ToString(), $"{v4}");
            Assert.NotEqual(v4, v6);
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void An_activation_id_reads_back_from_its_text() =>
        Prop.ForAll(ArbMap.Default.ArbFor<Guid>(), key =>
        {
            var id = new ActivationId(key);
            Assert.Equal(id, ActivationId.FromParsableString(id.ToParsableString()));
            Assert.Equal(id.ToString(), $"{id}");
        }).QuickCheckThrowOnFailure();

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("type")]
    [InlineData("type/")]
    [InlineData("/key")]
    public void What_is_no_grain_id_is_refused(string? text)
    {
        Assert.False(GrainId.TryParse(text, out _));
        Assert.Throws<ArgumentException>(() => GrainId.Parse(text!));
    }

    [Theory]
    [InlineData("")]
    [InlineData("127.0.0.1:11111")]
    [InlineData("127.0.0.1@5")]
    [InlineData("127.0.0.1:70000@5")]
    [InlineData("host:11111@5")]
    [InlineData("127.0.0.1:11111@x")]
    public void What_is_no_silo_address_is_refused(string text)
    {
        Assert.False(SiloAddress.TryParse(text, out _));
        Assert.Throws<FormatException>(() => SiloAddress.Parse(text));
    }

    [Fact]
    public void What_is_no_activation_id_is_refused() => Assert.Throws<FormatException>(() => ActivationId.FromParsableString("@12"));

    [Fact]
    public void Equal_silo_addresses_are_one_object()
    {
        var address = SiloAddress.New(IPAddress.Loopback, 11111, 77);
        Assert.Same(address, SiloAddress.New(new IPEndPoint(IPAddress.Loopback, 11111), 77));
        Assert.Same(address, SiloAddress.Parse(address.ToParsableString()));
        Assert.NotSame(address, SiloAddress.New(IPAddress.Loopback, 11111, 78));
    }

    [Fact]
    public void Uniform_hashes_are_the_same_for_equal_values_and_independent_of_each_other()
    {
        var address = SiloAddress.New(IPAddress.Loopback, 11111, 77);
        var hashes = address.GetUniformHashCodes(8);
        Assert.Equal(8, hashes.Distinct().Count());
        Assert.Equal(hashes, SiloAddress.Parse(address.ToParsableString()).GetUniformHashCodes(8));
        Assert.Equal(hashes.Take(3), address.GetUniformHashCodes(3));
        Assert.Equal(GrainId.Parse("a/b").GetUniformHashCode(), GrainId.Create("a", "b").GetUniformHashCode());
        Assert.NotEqual(GrainId.Create("a", "b").GetUniformHashCode(), GrainId.Create("b", "a").GetUniformHashCode());
    }

    [Fact]
    public void Ids_are_ordered_by_their_bytes_and_types_before_keys()
    {
        string[] ordered = ["", "a", "aa", "b", "\u00e9", "\U0001F600"];
        Assert.Equal(ordered, ordered.Reverse().Select(IdSpan.Create).Order().Select(static id => id.ToString()));
        Assert.Equal(0, IdSpan.Create("a").CompareTo(IdSpan.Create("a")));
        Assert.True(GrainId.Create("a", "z").CompareTo(GrainId.Create("b", "a")) < 0);
        Assert.True(default(IdSpan).CompareTo(IdSpan.Create("a")) < 0);
    }

    [Fact]
    public void Silo_addresses_show_clients_and_silos_apart()
    {
        Assert.Equal("S127.0.0.1:11111:268435456", SiloAddress.New(IPAddress.Loopback, 11111, 268435456).ToString());
        Assert.Equal("C127.0.0.1:0:-3", SiloAddress.New(IPAddress.Loopback, 0, -3).ToString());
        Assert.Equal("127.0.0.1:11111@268435456", SiloAddress.New(IPAddress.Loopback, 11111, 268435456).ToParsableString());
    }

    [Fact]
    public void A_later_start_at_the_same_place_succeeds_the_earlier_one()
    {
        var first = SiloAddress.New(IPAddress.Loopback, 1, 10);
        var second = SiloAddress.New(IPAddress.Loopback, 1, 11);
        Assert.True(first.IsPredecessorOf(second));
        Assert.True(second.IsSuccessorOf(first));
        Assert.False(first.IsPredecessorOf(SiloAddress.New(IPAddress.Loopback, 2, 11)));
        Assert.True(first.CompareTo(second) < 0);
    }

    [Fact]
    public void An_address_matches_the_same_activation_whatever_the_view()
    {
        var address =
            new GrainAddress
            {
                GrainId = GrainId.Create("a", "1"),
                ActivationId = ActivationId.NewId(),
                SiloAddress = SiloAddress.Zero,
                MembershipVersion = new MembershipVersion(3)
            };
        var later = new GrainAddress
        {
            GrainId = address.GrainId,
            ActivationId = address.ActivationId,
            SiloAddress = address.SiloAddress,
            MembershipVersion = new MembershipVersion(4)
        };
        Assert.True(address.IsComplete);
        Assert.True(address.Matches(later));
        Assert.NotEqual(address, later);
        Assert.False(address.Matches(
            new GrainAddress { GrainId = address.GrainId, ActivationId = ActivationId.NewId(), SiloAddress = address.SiloAddress }));
        Assert.Equal(address.ToString(), $"{address}");
    }

    [Fact]
    public void A_buffer_that_is_too_short_is_refused()
    {
        Span<char> buffer = stackalloc char[5];
        Assert.False(((ISpanFormattable)GrainId.Create("user", "1")).TryFormat(buffer, out _, default, null));
        Assert.True(((ISpanFormattable)GrainId.Create("usr", "1")).TryFormat(buffer, out var written, default, null));
        Assert.Equal("usr/1", buffer[..written].ToString());
    }
}
