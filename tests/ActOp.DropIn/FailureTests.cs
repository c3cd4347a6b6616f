using Orleans.Serialization;

namespace DropIn;

[GenerateSerializer]
public sealed class OrderException : Exception
{
    public OrderException(string message, int order)
        : base(message) => Order = order;

    [Id(0)]
    public int Order { get; }
}

/// <summary>No code is generated for it.</summary>
public sealed class PlainException(string message) : Exception(message);

public sealed class Unsendable
{
    public int Value { get; set; }
}

public interface IFailing : IGrainWithStringKey
{
    Task Fail(string how);

    [ResponseTimeout("00:00:00.300")]
    Task Hang(string gate);

    Task<string> Catch(IFailing other, string how);

    Task<object> Return(string how);

    Task Send(object value);
}

public sealed class FailingGrain : Grain, IFailing
{
    public async Task Fail(string how)
    {
        await Task.Yield();
        throw Of(how);
    }

    public Task Hang(string gate) => Gate.PassAsync(gate);

    public async Task<string> Catch(IFailing other, string how)
    {
        try
        {
            await other.Fail(how);
            return "nothing";
        }
        catch (Exception exception)
        {
            return exception.GetType().Name + ": " + exception.Message;
        }
    }

    public Task<object> Return(string how) => Task.FromResult<object>(how == "unsendable" ? new Unsendable() : Of(how));

    public Task Send(object value) => Task.CompletedTask;

    private static Exception Of(string how) => how switch
    {
        "invalid" => new InvalidOperationException("It cannot be done."),
        "argument" => new ArgumentOutOfRangeException(nameof(how), how, "It is out of range."),
        "inner" => new InvalidOperationException("outside", new ArgumentException("inside", nameof(how))),
        "aggregate" => new AggregateException("several", new InvalidOperationException("first"), new ArgumentException("second")),
        "data" => new InvalidOperationException("with data") { Data = { ["key"] = "value" } },
        "own" => new OrderException("Order 7 is wrong.", 7),
        "plain" => new PlainException("It is plain."),
        "cancelled" => new OperationCanceledException("It was cancelled."),
        "timeout" => new TimeoutException("It took too long."),
        "key" => new KeyNotFoundException("There is no such key."),
        "hresult" => new InvalidOperationException("with a number") { HResult = 17 },
        _ => new NotSupportedException(how),
    };
}

public interface IBornDead : IGrainWithStringKey
{
    Task Call();
}

/// <summary>A grain whose start fails, in a way that its key says.</summary>
public sealed class BornDeadGrain : Grain, IBornDead
{
    public BornDeadGrain(IGrainContext context)
    {
        if (context.GrainId.Key.ToString()!.StartsWith("constructor", StringComparison.Ordinal))
            throw new OrderException("The constructor fails.", 1);
    }

    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        await Task.Yield();
        throw new OrderException("The activation fails.", 2);
    }

    public Task Call() => Task.CompletedTask;
}

/// <summary>No class implements it.</summary>
public interface INowhere : IGrainWithStringKey
{
    Task Call();
}

/// <summary>Exceptions as their callers see them: types, messages, contents.</summary>
public class FailureTests(CommonCluster cluster)
{
    private IFailing Grain([System.Runtime.CompilerServices.CallerMemberName] string key = "") => cluster.Client.GetGrain<IFailing>(key);

    [Theory]
    [InlineData("invalid", typeof(InvalidOperationException), "It cannot be done.")]
    [InlineData("argument", typeof(ArgumentOutOfRangeException), "It is out of range. (Parameter 'how')\nActual value was argument.")]
    [InlineData("aggregate", typeof(AggregateException), "several (first) (second)")]
    [InlineData("own", typeof(OrderException), "Order 7 is wrong.")]
    [InlineData("timeout", typeof(TimeoutException), "It took too long.")]
    [InlineData("key", typeof(KeyNotFoundException), "There is no such key.")]
    public async Task An_exception_arrives_with_its_type_and_message(string how, Type type, string message)
    {
        var exception = await Assert.ThrowsAsync(type, () => Grain(how).Fail(how));
        Assert.Equal(message, exception.Message.ReplaceLineEndings("\n"));
        Assert.Equal($"{type.Name}: {message}", (await Grain().Catch(Grain(how), how)).ReplaceLineEndings("\n"));
    }

    [Fact]
    public async Task A_cancelled_call_is_an_OperationCanceledException()
    {
        var exception = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Grain().Fail("cancelled"));
        Assert.Equal("It was cancelled.", exception.Message);
    }

    [Fact]
    public async Task An_exception_keeps_what_it_contains()
    {
        var outside = await Assert.ThrowsAsync<InvalidOperationException>(() => Grain().Fail("inner"));
        var inside = Assert.IsType<ArgumentException>(outside.InnerException);
        Assert.Equal("inside (Parameter 'how')", inside.Message);
        var several = await Assert.ThrowsAsync<AggregateException>(() => Grain().Fail("aggregate"));
        Assert.Equal([typeof(InvalidOperationException), typeof(ArgumentException)],
            several.InnerExceptions.Select(static one => one.GetType()));
        Assert.Equal("value", (await Assert.ThrowsAsync<InvalidOperationException>(() => Grain().Fail("data"))).Data["key"]);
        Assert.Equal(7, (await Assert.ThrowsAsync<OrderException>(() => Grain().Fail("own"))).Order);
        Assert.Equal(17, (await Assert.ThrowsAsync<InvalidOperationException>(() => Grain().Fail("hresult"))).HResult);
    }

    [Fact]
    public async Task The_stack_names_the_method_of_the_grain_and_the_caller()
    {
        var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => Grain().Fail("invalid"));
        Assert.Contains("DropIn.FailingGrain.Fail(", exception.StackTrace, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_exception_may_be_a_result()
    {
        var result = Assert.IsType<OrderException>(await Grain().Return("own"));
        Assert.Equal((7, "Order 7 is wrong."), (result.Order, result.Message));
    }

    [Fact]
    public async Task A_value_without_generated_code_cannot_be_sent()
    {
        var sent = await Assert.ThrowsAsync<CodecNotFoundException>(() => Grain().Send(new Unsendable()));
        Assert.Contains("DropIn.Unsendable", sent.Message, StringComparison.Ordinal);
        var returned = await Assert.ThrowsAsync<CodecNotFoundException>(() => Grain().Return("unsendable"));
        Assert.Contains("DropIn.Unsendable", returned.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_call_that_is_not_answered_in_the_time_of_its_method_fails()
    {
        using var gate = new Gate();
        var exception = await Assert.ThrowsAsync<TimeoutException>(() => Grain().Hang(gate.Name));
        Assert.Contains(Stated.TimeoutText(TimeSpan.FromMilliseconds(300)), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_exception_without_generated_code_arrives_as_the_runtime_states()
    {
        var exception = await Assert.ThrowsAsync(Stated.ExceptionWithoutCode, () => Grain().Fail("plain"));
        Assert.Equal(Stated.MessageWithoutCode("It is plain.", "DropIn.PlainException"), exception.Message);
    }

    [Fact]
    public async Task An_activation_that_fails_gives_its_exception_to_the_callers()
    {
        var exception = await Assert.ThrowsAsync<OrderException>(() => cluster.Client.GetGrain<IBornDead>("activation").Call());
        Assert.Equal((2, "The activation fails."), (exception.Order, exception.Message));
    }

    [Fact]
    public async Task A_constructor_that_fails_gives_its_exception_to_the_callers_inside_another_one()
    {
        var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.GetGrain<IBornDead>("constructor").Call());
        Assert.Equal("Failed to create an instance of grain type 'DropIn.BornDeadGrain'. See InnerException for details.",
            exception.Message);
        Assert.Equal(1, Assert.IsType<OrderException>(exception.InnerException).Order);
    }

    [Fact]
    public void An_interface_that_no_class_implements_has_no_grains()
    {
        var exception = Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<INowhere>("x"));
        Assert.StartsWith("Could not find an implementation for interface DropIn.INowhere", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Null_and_empty_keys_are_refused()
    {
        Assert.Throws<ArgumentNullException>(() => cluster.Client.GetGrain<IFailing>((string)null!));
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IFailing>(" "));
    }
}
