using FsCheck;
using FsCheck.Fluent;
using Orleans.Runtime;

namespace ActOp.Abstractions.Tests;

public class GrainKeyTests
{
    [Fact]
    public void A_number_reads_back_from_its_key() =>
        Prop.ForAll(ArbMap.Default.ArbFor<long>(), ArbMap.Default.ArbFor<NonEmptyString>(), (key, extension) =>
        {
            var text = "x" + new string([.. extension.Get.Where(c => !char.IsSurrogate(c))]);
            Assert.Equal(key, Id(GrainIdKeyExtensions.CreateIntegerKey(key)).GetIntegerKey(out var none));
            Assert.Null(none);
            Assert.Equal(key, Id(GrainIdKeyExtensions.CreateIntegerKey(key, text)).GetIntegerKey(out var read));
            Assert.Equal(text, read);
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_guid_reads_back_from_its_key() =>
        Prop.ForAll(ArbMap.Default.ArbFor<Guid>(), ArbMap.Default.ArbFor<NonEmptyString>(), (key, extension) =>
        {
            var text = "x" + new string([.. extension.Get.Where(c => !char.IsSurrogate(c))]);
            Assert.Equal(key, Id(GrainIdKeyExtensions.CreateGuidKey(key)).GetGuidKey(out var none));
            Assert.Null(none);
            Assert.Equal(key, Id(GrainIdKeyExtensions.CreateGuidKey(key, text)).GetGuidKey(out var read));
            Assert.Equal(text, read);
            Assert.False(Id(GrainIdKeyExtensions.CreateGuidKey(key)).TryGetIntegerKey(out _, out _));
        }).QuickCheckThrowOnFailure();

    [Theory]
    [InlineData(0, "0")]
    [InlineData(255, "FF")]
    [InlineData(-1, "FFFFFFFFFFFFFFFF")]
    [InlineData(long.MinValue, "8000000000000000")]
    public void Numbers_are_upper_case_hex(long key, string text) =>
        Assert.Equal(text, GrainIdKeyExtensions.CreateIntegerKey(key).ToString());

    [Fact]
    public void Guids_are_32_lower_case_digits_and_extensions_follow_a_plus()
    {
        var key = new Guid("0A1B2C3D-0001-0002-0003-000000000004");
        Assert.Equal("0a1b2c3d000100020003000000000004", GrainIdKeyExtensions.CreateGuidKey(key).ToString());
        Assert.Equal("0a1b2c3d000100020003000000000004+ext", GrainIdKeyExtensions.CreateGuidKey(key, "ext").ToString());
        Assert.Equal("2A+a+b", GrainIdKeyExtensions.CreateIntegerKey(42, "a+b").ToString());
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData(" ")]
    public void A_blank_extension_is_no_extension(string? extension)
    {
        Assert.Equal("2A", GrainIdKeyExtensions.CreateIntegerKey(42, extension).ToString());
        Assert.Equal(GrainIdKeyExtensions.CreateGuidKey(Guid.Empty), GrainIdKeyExtensions.CreateGuidKey(Guid.Empty, extension));
    }

    [Theory]
    [InlineData("hello")]
    [InlineData("12345678901234567")]
    [InlineData("+ext")]
    [InlineData("1 ")]
    public void The_wrong_kind_of_key_is_refused(string key)
    {
        var id = GrainId.Create("a", key);
        Assert.Throws<ArgumentException>(() => id.GetIntegerKey());
        Assert.Throws<ArgumentException>(() => id.GetGuidKey());
        Assert.False(id.TryGetGuidKey(out _, out var extension));
        Assert.Null(extension);
    }

    private static GrainId Id(IdSpan key) => new(GrainType.Create("a"), key);
}
