using Orleans;
using Orleans.Concurrency;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Abstractions.Tests;

public class GrainTests
{
    [Fact]
    public void Members_of_a_grain_that_the_runtime_did_not_make_throw()
    {
        var grain = new Lonely();
        Assert.Throws<InvalidOperationException>(() => grain.GrainContext);
        Assert.Throws<InvalidOperationException>(() => grain.IdentityString);
        Assert.Throws<InvalidOperationException>(() => grain.RuntimeIdentity);
        Assert.Throws<InvalidOperationException>(() => grain.GetPrimaryKey());
        Assert.Throws<InvalidOperationException>(() => grain.GetGrainId());
        Assert.Throws<InvalidOperationException>(grain.Stop);
        Assert.Throws<InvalidOperationException>(() => grain.RegisterGrainTimer(() => Task.CompletedTask, TimeSpan.Zero, TimeSpan.Zero));
    }

    [Fact]
    public void A_grain_joins_the_activation_in_whose_scope_it_is_made()
    {
        var activation = System.Reflection.DispatchProxy.Create<IGrainContext, Silent>();
        Lonely grain;
        using (GrainContextScope.Enter(activation))
            grain = new Lonely();
        Assert.Same(activation, grain.GrainContext);
        Assert.Null(GrainContextScope.Current);
    }

    [Fact]
    public void An_observers_own_object_cannot_be_passed_on()
    {
        Assert.Throws<NotSupportedException>(() => new Watcher().AsReference<IGrainObserver>());
        Assert.Throws<ArgumentException>(() => new Watcher().GetGrainId());
    }

    [Fact]
    public void Attributes_become_properties_of_the_grain_type()
    {
        var properties = new Dictionary<string, string>();
        foreach (var attribute in typeof(Lonely).GetCustomAttributes(true).OfType<IGrainPropertiesProviderAttribute>())
            attribute.Populate(null!, typeof(Lonely), GrainType.Create("lonely"), properties);
        Assert.Equal("StatelessWorkerPlacement", properties["placement-strategy"]);
        Assert.Equal("true", properties["reentrant"]);
        Assert.Equal("00:01:00", properties["idle-duration"]);
        Assert.Equal("3", properties["immovable"]);
        var placement = new StatelessWorkerPlacement();
        placement.Initialize(new GrainProperties(System.Collections.Immutable.ImmutableDictionary.CreateRange(properties)));
        Assert.Equal(5, placement.MaxLocal);
        Assert.False(placement.RemoveIdleWorkers);
        Assert.False(placement.IsUsingGrainDirectory);
    }

    [Fact]
    public void A_placement_hint_counts_only_when_the_silo_can_run_the_grain()
    {
        var silo = SiloAddress.New(System.Net.IPAddress.Loopback, 1, 1);
        var context = new Dictionary<string, object> { [IPlacementDirector.PlacementHintKey] = SiloAddress.Parse(silo.ToParsableString()) };
        Assert.Equal(silo, IPlacementDirector.GetPlacementHint(context, [SiloAddress.Zero, silo]));
        Assert.Null(IPlacementDirector.GetPlacementHint(context, [SiloAddress.Zero]));
        Assert.Null(IPlacementDirector.GetPlacementHint(null, [silo]));
    }

    [Fact]
    public void Timers_refuse_times_that_no_timer_can_take()
    {
        GrainTimerCreationOptions.CheckTimes(Timeout.InfiniteTimeSpan, TimeSpan.Zero);
        Assert.Throws<ArgumentOutOfRangeException>(
            () => GrainTimerCreationOptions.CheckTimes(TimeSpan.FromMilliseconds(-2), TimeSpan.Zero));
        Assert.Throws<ArgumentOutOfRangeException>(
            () => GrainTimerCreationOptions.CheckTimes(TimeSpan.Zero, TimeSpan.FromMilliseconds(4294967295.0)));
    }

    [StatelessWorker(5, false)]
    [Reentrant]
    [CollectionAgeLimit("00:00:10")]
    [Immovable]
    private sealed class Lonely : Grain
    {
        internal void Stop() => DeactivateOnIdle();
    }

    public class Silent : System.Reflection.DispatchProxy
    {
        protected override object? Invoke(System.Reflection.MethodInfo? targetMethod, object?[]? args) => null;
    }

    private sealed class Watcher : IGrainObserver;
}
