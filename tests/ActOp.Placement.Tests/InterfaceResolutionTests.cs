using ActOp.TestClusters;
using Orleans.Metadata;

namespace ActOp.Placement.Tests;

/// <summary>Which class a call through an interface means that several classes implement.</summary>
public class InterfaceResolutionTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Fact]
    public async Task The_class_with_the_name_of_the_interface_is_meant_by_a_base_interface()
    {
        Assert.Equal("Shape", await cluster.Client.GetGrain<IShape>(1).Name());
        Assert.Equal("Square", await cluster.Client.GetGrain<ISquare>(1).Name());
        Assert.Equal("Square", await cluster.Client.GetGrain<ISquare>(1).Side());
        Assert.Equal("Square", await cluster.Client.GetGrain<IShape>(1, typeof(Square).FullName).Name());
        Assert.Equal("ShapeOf`1", await cluster.Client.GetGrain<IShapeOf<int>>(1).Name());
        Assert.Equal("SquareOf`1", await cluster.Client.GetGrain<ISquareOf<int>>(1).Name());
    }

    [Fact]
    public async Task An_empty_prefix_is_none()
    {
        Assert.Equal("Shape", await cluster.Client.GetGrain<IShape>(2, "").Name());
        Assert.Equal("Shape", await cluster.Client.GetGrain<IShape>(2, " ").Name());
        var byType = cluster.Client.GetGrain(typeof(IShape), GrainIdKeyExtensions.CreateIntegerKey(2), "");
        Assert.Equal("Shape", await byType.AsReference<IShape>().Name());
    }

    [Fact]
    public async Task A_prefix_names_one_of_several_classes()
    {
        var space = typeof(RoundTable).Namespace + ".";
        Assert.Equal("RoundTable", await cluster.Client.GetGrain<IFurniture>(1, space + "Round").Name());
        Assert.Equal("RoundTable", await cluster.Client.GetGrain<IFurniture>(1, space + "RoundTable").Name());
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IFurniture>(1));
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IFurniture>(1, space));
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IFurniture>(1, "Nothing"));
    }

    [Fact]
    public async Task The_default_grain_type_of_an_interface_comes_first() =>
        Assert.Equal("Preferred", await cluster.Client.GetGrain<INamed>(1).Name());

    [Fact]
    public async Task Classes_of_the_same_name_in_several_namespaces_are_told_apart_by_that_of_the_interface() =>
        Assert.Equal("ActOp.Placement.Tests.Twin", await cluster.Client.GetGrain<ITwin>(1).Name());
}

public interface IShape : IGrainWithIntegerKey
{
    Task<string> Name();
}

public interface ISquare : IShape
{
    Task<string> Side();
}

public class Shape : Grain, IShape
{
    public Task<string> Name() => Task.FromResult(GetType().Name);
}

public sealed class Square : Shape, ISquare
{
    public Task<string> Side() => Name();
}

public interface IShapeOf<T> : IGrainWithIntegerKey
{
    Task<string> Name();
}

public interface ISquareOf<T> : IShapeOf<T>;

public class ShapeOf<T> : Grain, IShapeOf<T>
{
    public Task<string> Name() => Task.FromResult(GetType().Name);
}

public sealed class SquareOf<T> : ShapeOf<T>, ISquareOf<T>;

public interface IFurniture : IGrainWithIntegerKey
{
    Task<string> Name();
}

public sealed class RoundTable : Grain, IFurniture
{
    public Task<string> Name() => Task.FromResult(GetType().Name);
}

public sealed class SquareTable : Grain, IFurniture
{
    public Task<string> Name() => Task.FromResult(GetType().Name);
}

[DefaultGrainType("preferred")]
public interface INamed : IGrainWithIntegerKey
{
    Task<string> Name();
}

public sealed class Named : Grain, INamed
{
    public Task<string> Name() => Task.FromResult(GetType().Name);
}

[GrainType("preferred")]
public sealed class Preferred : Grain, INamed
{
    public Task<string> Name() => Task.FromResult(GetType().Name);
}

public interface ITwin : IGrainWithIntegerKey
{
    Task<string> Name();
}

public sealed class Twin : Grain, ITwin
{
    public Task<string> Name() => Task.FromResult(GetType().FullName!);
}

public static class Elsewhere
{
    [GrainType("other-twin")]
    public sealed class Twin : Grain, ITwin
    {
        public Task<string> Name() => Task.FromResult(GetType().FullName!);
    }
}
