using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>Every shape of grain and method, called within a silo (0), to another silo (1) and from a client (2).</summary>
public class SignatureTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    public static TheoryData<int> Ways => [0, 1, 2];

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task All_return_types_bring_their_results(int way)
    {
        var grain = await Get<IShapes>(way);
        await grain.PlainTask();
        Assert.Equal(3, await grain.TaskOf(1, 2));
        await grain.PlainValueTask();
        Assert.Equal("ab", await grain.ValueTaskOf("a", "b"));
        Assert.Equal(5, await grain.ValueTaskLater(5));
        Assert.Equal(6, await grain.TaskLater(6));
        using var gate = new Gate();
        grain.Void(gate.Name);
        await gate.ArrivedAsync();
        Assert.Equal(2, await grain.Calls());
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_grain_without_the_base_class_gets_its_context_by_injection(int way)
    {
        var grain = await Get<IPoco>(way);
        Assert.Equal(grain.GetGrainId().ToString() + " activated", await grain.Describe());
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task Inherited_interfaces_reach_the_same_grain(int way)
    {
        var grain = await Get<IDerived>(way);
        Assert.Equal("base", await grain.Base());
        Assert.Equal("derived", await grain.Derived());
        Assert.Equal("base", await ((IBaseShape)grain).Base());
        Assert.Equal("derived", await grain.AsReference<IBaseShape>().AsReference<IDerived>().Derived());
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task Generic_grains_keep_their_types_apart(int way)
    {
        var client = way == 2 ? cluster.Client : cluster.ClientOf(0);
        var numbers = client.GetGrain<IBox<int>>("box" + way);
        var texts = client.GetGrain<IBox<string>>("box" + way);
        await numbers.Put(7);
        await texts.Put("seven");
        Assert.Equal(7, await numbers.Take());
        Assert.Equal("seven", await texts.Take());
        Assert.Equal("Int32 String seven", await numbers.Pair("seven"));
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task Generic_methods_carry_their_type_arguments(int way)
    {
        var grain = await Get<IShapes>(way);
        Assert.Equal("Int32:4", await grain.Generic(4));
        Assert.Equal("String:four", await grain.Generic("four"));
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_grain_reference_travels_and_works_where_it_arrives(int way)
    {
        var grain = await Get<IShapes>(way);
        var other = cluster.Client.GetGrain<IShapes>("other" + way);
        Assert.Equal(11, await grain.Forward(other, 5, 6));
        Assert.Equal(grain, await grain.Self());
    }

    [Fact]
    public void An_interface_that_nobody_implements_is_an_argument_exception() =>
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IOrphan>("a"));

    [Fact]
    public void An_interface_that_several_classes_implement_is_ambiguous()
    {
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<ITwice>("a"));
        Assert.NotNull(cluster.Client.GetGrain<ITwice>("a", typeof(TwiceOne).FullName));
    }

    [Fact]
    public async Task A_call_through_an_interface_that_the_grain_has_not_got_fails()
    {
        var wrong = cluster.Client.GetGrain<IShapes>("wrong").AsReference<IPoco>();
        await Assert.ThrowsAnyAsync<Exception>(() => wrong.Describe());
    }

    private async Task<T> Get<T>(int way)
        where T : IGrainWithStringKey, ISeated
    {
        var client = way == 2 ? cluster.Client : cluster.ClientOf(0);
        var grain = client.GetGrain<T>(typeof(T).Name + way);
        var seat = cluster.AddressOf(way == 1 ? 1 : 0);
        Assert.Equal(seat, await Place.On(seat, grain.Seat));
        return grain;
    }

    public interface ISeated : IGrainWithStringKey
    {
        Task<SiloAddress> Seat();
    }

    public interface IShapes : ISeated
    {
        Task PlainTask();

        Task<int> TaskOf(int one, int two);

        ValueTask PlainValueTask();

        ValueTask<string> ValueTaskOf(string one, string two);

        ValueTask<int> ValueTaskLater(int value);

        Task<int> TaskLater(int value);

        void Void(string gate);

        Task<int> Calls();

        Task<string> Generic<T>(T value);

        Task<int> Forward(IShapes other, int one, int two);

        Task<IShapes> Self();
    }

    public interface IPoco : ISeated
    {
        Task<string> Describe();
    }

    public interface IBaseShape : ISeated
    {
        Task<string> Base();
    }

    public interface IDerived : IBaseShape
    {
        Task<string> Derived();
    }

    public interface IBox<T> : IGrainWithStringKey
    {
        Task Put(T value);

        Task<T> Take();

        Task<string> Pair<TOther>(TOther other);
    }

    public interface IOrphan : IGrainWithStringKey
    {
        Task Nothing();
    }

    public interface ITwice : IGrainWithStringKey
    {
        Task Nothing();
    }

    public sealed class ShapesGrain(ILocalSiloDetails silo) : Grain, IShapes
    {
        private int _calls;

        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task PlainTask()
        {
            _calls++;
            return Task.CompletedTask;
        }

        public Task<int> TaskOf(int one, int two) => Task.FromResult(one + two);

        public ValueTask PlainValueTask() => default;

        public ValueTask<string> ValueTaskOf(string one, string two) => new(one + two);

        public async ValueTask<int> ValueTaskLater(int value)
        {
            await Task.Yield();
            return value;
        }

        public async Task<int> TaskLater(int value)
        {
            await Task.Yield();
            return value;
        }

        public void Void(string gate)
        {
            _calls++;
            Gate.Touch(gate);
        }

        public Task<int> Calls() => Task.FromResult(_calls);

        public Task<string> Generic<T>(T value) => Task.FromResult(typeof(T).Name + ":" + value);

        public Task<int> Forward(IShapes other, int one, int two) => other.TaskOf(one, two);

        public Task<IShapes> Self() => Task.FromResult(this.AsReference<IShapes>());
    }

    public sealed class PocoGrain(IGrainContext context, ILocalSiloDetails silo) : IGrainBase, IPoco
    {
        private bool _activated;

        public IGrainContext GrainContext => context;

        public Task OnActivateAsync(CancellationToken token)
        {
            _activated = true;
            return Task.CompletedTask;
        }

        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task<string> Describe() => Task.FromResult(GrainContext.GrainId + (_activated ? " activated" : ""));
    }

    public sealed class DerivedGrain(ILocalSiloDetails silo) : Grain, IDerived
    {
        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task<string> Base() => Task.FromResult("base");

        public Task<string> Derived() => Task.FromResult("derived");
    }

    public sealed class BoxGrain<T> : Grain, IBox<T>
    {
        private T _value = default!;

        public Task Put(T value)
        {
            _value = value;
            return Task.CompletedTask;
        }

        public Task<T> Take() => Task.FromResult(_value);

        public Task<string> Pair<TOther>(TOther other) => Task.FromResult(typeof(T).Name + " " + typeof(TOther).Name + " " + other);
    }

    public sealed class TwiceOne : Grain, ITwice
    {
        public Task Nothing() => Task.CompletedTask;
    }

    public sealed class TwiceTwo : Grain, ITwice
    {
        public Task Nothing() => Task.CompletedTask;
    }
}
