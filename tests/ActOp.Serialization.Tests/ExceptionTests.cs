using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

public class ExceptionTests
{
    private static readonly Serializer Serializer = new();

    [Fact]
    public void An_exception_keeps_type_message_inner_data_and_remote_stack()
    {
        var thrown = Thrown(new InvalidOperationException("outer", new PlainException("x")) { Data = { ["k"] = 5 } });
        var read = Trip(thrown);
        Assert.IsType<InvalidOperationException>(read);
        Assert.Equal("outer", read.Message);
        Assert.Equal("plain: x", Assert.IsType<PlainException>(read.InnerException).Message);
        Assert.Equal(5, read.Data["k"]);
        var again = Thrown(read);
        Assert.Equal(2, again.StackTrace!.Split(nameof(Thrown)).Length - 1);
    }

    [Fact]
    public void Own_members_travel_with_GenerateSerializer()
    {
        var read = Assert.IsType<BadException>(Trip(new BadException("m", new TimeoutException("t"), 42)));
        Assert.Equal((42, "m", "t"), (read.Code, read.Message, read.InnerException!.Message));
    }

    [Fact]
    public void All_exceptions_of_an_aggregate_travel()
    {
        var read = Assert.IsType<AggregateException>(Trip(new AggregateException("a", new TimeoutException("1"), new PlainException("2"))));
        Assert.Equal(["1", "plain: 2"], read.InnerExceptions.Select(e => e.Message));
    }

    [Fact]
    public void An_unknown_exception_becomes_the_fallback_with_its_type()
    {
        var read = Assert.IsType<UnavailableExceptionFallbackException>(Trip(new HiddenException()));
        Assert.Contains(nameof(HiddenException), read.ExceptionType);
        Assert.Equal("hidden", read.Message);
    }

    [Fact]
    public void An_exception_as_an_object_keeps_its_type() =>
        Assert.IsType<TaskCanceledException>(
            Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(new TaskCanceledException("c"))));

    private static Exception Thrown(Exception exception)
    {
        try
        {
            throw exception;
        }
        catch (Exception caught)
        {
            return caught;
        }
    }

    private static Exception Trip(Exception exception) => Serializer.Deserialize<Exception>(Serializer.SerializeToArray(exception));

    private sealed class HiddenException() : Exception("hidden");
}
