using System.ComponentModel;
using ActOp.TestClusters;

namespace ActOp.Surface.Tests;

/// <summary>Grain interfaces of shapes that are rare and allowed, within a silo (0), to another silo (1) and from a client (2).</summary>
public class InterfaceShapeTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    public static TheoryData<int> Ways => [0, 1, 2];

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_type_parameter_of_a_method_may_hide_the_one_of_its_interface(int way)
    {
        var grain = await Get<IHiding<int>>(way);
        Assert.Equal("seven", await grain.Same("seven"));
        Assert.Equal(8, await grain.Same(8));
        var derived = await Get<IHidingBelow<int>>(way);
        Assert.Equal("7 seven", await derived.Both(7, "seven"));
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task An_interface_may_have_internal_methods(int way) =>
        Assert.Equal(5, (await (await Get<IWithInternal>(way)).Inner(new Inner(4))).Value);

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_method_that_is_obsolete_as_an_error_does_not_break_the_generated_code(int way) =>
        Assert.Equal("new", await (await Get<IWithObsolete>(way)).Fresh(new Aged { Value = 3 }));

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task IGrain_may_be_the_argument_of_a_generic_method(int way)
    {
        var grain = await Get<IWithGrains>(way);
        Assert.Equal("IGrain " + grain.GetGrainId(), await grain.Describe<IGrain>(grain));
        Assert.Equal("IAddressable " + grain.GetGrainId(), await grain.Describe<IAddressable>(grain));
        Assert.Equal(grain, await grain.Itself<IGrain>());
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_cast_to_an_interface_that_the_class_has_not_is_an_invalid_cast_at_the_call(int way)
    {
        var grain = await Get<IWithGrains>(way);
        var wrong = grain.AsReference<IWithObsolete>();
        await Assert.ThrowsAsync<InvalidCastException>(() => wrong.Fresh(new Aged()));
        Assert.Equal(grain, await grain.Itself<IGrain>());
    }

    [Fact]
    public async Task A_class_name_prefix_chooses_among_the_classes_that_fit_the_type_arguments()
    {
        var client = cluster.Client;
        Assert.Equal("open", await client.GetGrain<IFitting<int>>("a", typeof(OpenFittingGrain<>).FullName).Name());
        Assert.Equal("open", await client.GetGrain<IFitting<int>>("a", "ActOp.Surface.Tests.InterfaceShapeTests+OpenFit").Name());
        Assert.Equal("closed", await client.GetGrain<IFitting<int>>("a", typeof(ClosedFittingGrain).FullName).Name());
        Assert.Equal("closed", await client.GetGrain<IFitting<int>>("a").Name());
        Assert.Throws<ArgumentException>(() => client.GetGrain<IFitting<string>>("a", typeof(ClosedFittingGrain).FullName));
        Assert.Throws<ArgumentException>(() => client.GetGrain<IFitting<int>>("a", typeof(WithObsoleteGrain).FullName));
    }

    private async Task<T> Get<T>(int way)
        where T : ISeat
    {
        var client = way == 2 ? cluster.Client : cluster.ClientOf(0);
        var grain = client.GetGrain<T>(typeof(T).Name + way);
        var seat = cluster.AddressOf(way == 1 ? 1 : 0);
        Assert.Equal(seat, await Place.On(seat, grain.Seat));
        return grain;
    }

    public interface ISeat : IGrainWithStringKey
    {
        Task<SiloAddress> Seat();
    }

#pragma warning disable CS0693 // The tests are about names that hide others.
    public interface IHiding<T> : ISeat
    {
        Task<T> Same<T>(T value);
    }

    public interface IHidingAbove<TOther> : ISeat
    {
        Task<string> Both<T>(TOther other, T value);
    }
#pragma warning restore CS0693

    public interface IHidingBelow<T> : IHidingAbove<T>;

    public interface IWithInternal : ISeat
    {
        internal Task<Inner> Inner(Inner value);
    }

    public interface IWithObsolete : ISeat
    {
        [Obsolete("Use Fresh.", error: true)]
        Task<string> Stale();

        Task<string> Fresh(Aged value);
    }

    public interface IWithGrains : ISeat
    {
        Task<string> Describe<T>(T grain)
            where T : IAddressable;

        Task<T> Itself<T>()
            where T : IAddressable;
    }

    public interface IFitting<T> : IGrainWithStringKey
    {
        Task<string> Name();
    }

    [GenerateSerializer]
    internal sealed record Inner([property: Id(0)] int Value);

    [GenerateSerializer]
    public sealed class Aged
    {
        [Id(0)]
        public int Value { get; set; }

        [Id(1)]
        [Obsolete("Use Value.", error: true)]
        [EditorBrowsable(EditorBrowsableState.Never)]
        public int Former { get; set; }
    }

    public class SeatGrain : Grain, ISeat
    {
        public Task<SiloAddress> Seat() => Task.FromResult(ServiceProvider.GetRequiredService<ILocalSiloDetails>().SiloAddress);
    }

    public sealed class HidingGrain<TShelf> : SeatGrain, IHiding<TShelf>
    {
        public Task<T> Same<T>(T value) => Task.FromResult(value);
    }

    public sealed class HidingBelowGrain<TShelf> : SeatGrain, IHidingBelow<TShelf>
    {
        public Task<string> Both<T>(TShelf other, T value) => Task.FromResult(other + " " + value);
    }

    public sealed class WithInternalGrain : SeatGrain, IWithInternal
    {
        Task<Inner> IWithInternal.Inner(Inner value) => Task.FromResult(new Inner(value.Value + 1));
    }

    public sealed class WithObsoleteGrain : SeatGrain, IWithObsolete
    {
        [Obsolete("Use Fresh.", error: true)]
        public Task<string> Stale() => Task.FromResult("old");

        public Task<string> Fresh(Aged value) => Task.FromResult("new");
    }

    public sealed class WithGrainsGrain : SeatGrain, IWithGrains
    {
        public Task<string> Describe<T>(T grain)
            where T : IAddressable => Task.FromResult(typeof(T).Name + " " + grain.GetGrainId());

        public Task<T> Itself<T>()
            where T : IAddressable => Task.FromResult((T)(object)this.AsReference<IWithGrains>());
    }

    public sealed class OpenFittingGrain<T> : Grain, IFitting<T>
    {
        public Task<string> Name() => Task.FromResult("open");
    }

    public sealed class ClosedFittingGrain : Grain, IFitting<int>
    {
        public Task<string> Name() => Task.FromResult("closed");
    }
}
