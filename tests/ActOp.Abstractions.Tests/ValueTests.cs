using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Concurrency;
using Orleans.Configuration.Internal;
using Orleans.Hosting;
using Orleans.Runtime;
using Orleans.Runtime.Configuration;
using Orleans.Statistics;

namespace ActOp.Abstractions.Tests;

/// <summary>Values that applications compare, and small helpers that they call.</summary>
public class ValueTests
{
    [Fact]
    public void Reasons_are_equal_by_their_members_and_exceptions_by_identity()
    {
        var exception = new InvalidOperationException("no");
        var reason = new DeactivationReason(DeactivationReasonCode.ApplicationError, exception, "text");
        Assert.True(reason == new DeactivationReason(DeactivationReasonCode.ApplicationError, exception, "text"));
        Assert.True(reason != new DeactivationReason(DeactivationReasonCode.ApplicationError, new InvalidOperationException("no"), "text"));
        Assert.True(reason != new DeactivationReason(DeactivationReasonCode.ApplicationError, exception, "other"));
        Assert.Equal(default, default(DeactivationReason));
    }

    [Fact]
    public void Immutable_values_are_equal_if_what_they_hold_is()
    {
        int[] items = [1];
        Assert.True(new Immutable<int[]>(items) == items.AsImmutable());
        Assert.True(new Immutable<int[]>(items) != new Immutable<int[]>([1]));
        Assert.Contains(new Immutable<int>(1), new HashSet<Immutable<int>> { new(1) });
    }

    [Fact]
    public void Options_of_timers_are_equal_by_their_members()
    {
        var options = new GrainTimerCreationOptions(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(2)) { KeepAlive = true };
        Assert.True(options == new GrainTimerCreationOptions(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(2)) { KeepAlive = true });
        Assert.True(options != options with { Interleave = true });
    }

    [Fact]
    public void Measurements_are_equal_by_their_members() => Assert.True(default(EnvironmentStatistics) == default);

    [Theory]
    [InlineData("A=https;AccountName=n;AccountKey=k==", "A=https;AccountName=n;AccountKey=<--SNIP-->")]
    [InlineData("AccountKey=k==;EndpointSuffix=x", "AccountKey=<--SNIP-->;EndpointSuffix=x")]
    [InlineData("Server=s;User Id=u;Password=p;w", "Server=s;User Id=u;Password=<--SNIP-->")]
    [InlineData("Host=h", "Host=h")]
    [InlineData(null, "")]
    public void Keys_and_passwords_of_connection_strings_are_removed(string? text, string expected) =>
        Assert.Equal(expected, ConfigUtilities.RedactConnectionStringInfo(text));

    [Fact]
    public void An_alias_of_a_service_without_types_is_refused_and_adds_nothing()
    {
        var services = new ServiceCollection();
        Assert.Equal(
            "implementation", Assert.Throws<ArgumentNullException>(() => services.AddFromExisting(typeof(string), null!)).ParamName);
        Assert.Equal("service", Assert.Throws<ArgumentNullException>(() => services.AddFromExisting(null!, typeof(string))).ParamName);
        Assert.Empty(services);
    }

    [Fact]
    public void A_part_of_a_provider_without_a_factory_is_refused_before_its_options_are_configured()
    {
        var configurator = new NamedServiceConfigurator("n", static _ => Assert.Fail("configured"));
        Assert.Throws<ArgumentNullException>(() => configurator.ConfigureComponent<object, object>(null!, static _ => { }));
    }
}
