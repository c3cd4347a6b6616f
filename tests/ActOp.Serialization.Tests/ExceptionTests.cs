using System.Reflection;
using System.Reflection.Emit;
using ActOp.Serialization.Codecs;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

public class ExceptionTests
{
    private static readonly Serializer Serializer = new();

    [Fact]
    public void Options_that_an_application_has_set_decide_which_types_without_generated_code_are_read()
    {
        var bytes = Serializer.SerializeToArray<Exception>(new InvalidOperationException("outer", new PlainException("x")));
        Exception Read(Action<ExceptionSerializationOptions> configure)
        {
            using var services = new ServiceCollection().AddSerializer().Configure(configure).BuildServiceProvider();
            return services.GetRequiredService<Serializer>().Deserialize<Exception>(bytes);
        }

        Assert.IsType<PlainException>(Read(static _ => { }).InnerException);
        Assert.IsType<PlainException>(Read(static options => options.SupportedNamespacePrefixes.Add("ActOp")).InnerException);
        Assert.IsType<PlainException>(
            Read(static options => options.SupportedExceptionTypeFilter = static type => type == typeof(PlainException)).InnerException);
        var fallback = Assert.IsType<UnavailableExceptionFallbackException>(
            Read(static options => options.SupportedNamespacePrefixes.Add("Shop")).InnerException);
        Assert.Contains(nameof(PlainException), fallback.ExceptionType, StringComparison.Ordinal);
        Assert.Equal("outer", Assert.IsType<UnavailableExceptionFallbackException>(
            Read(static options => options.SupportedNamespacePrefixes.Clear())).Message);
    }

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
    public void Exceptions_in_the_data_travel_as_exceptions_each_once()
    {
        // As a text, each level would contain the one below twice.
        Exception shared = new PlainException("x");
        for (var level = 0; level < 18; level++)
            shared = new AggregateException("a", shared, new InvalidOperationException("i", shared));
        var read = Trip(new TimeoutException("t") { Data = { ["cause"] = new InvalidOperationException("i"), ["other"] = 1 } });
        Assert.Equal("i", Assert.IsType<InvalidOperationException>(read.Data["cause"]).Message);
        var outer = new TimeoutException("t") { Data = { ["cause"] = shared } };
        Assert.InRange(Serializer.SerializeToArray<Exception>(outer).Length, 1, 100_000);
    }

    [Fact]
    public void An_exception_whose_data_has_itself_is_read()
    {
        var thrown = new InvalidOperationException("m");
        thrown.Data["self"] = thrown;
        Assert.Equal("m", Trip(thrown).Message);
    }

    [Fact]
    public void The_text_of_an_object_in_the_data_is_truncated()
    {
        var read = Trip(new InvalidOperationException("m") { Data = { ["k"] = new Endless() } });
        Assert.Equal(new string('e', 32 * 1024), read.Data["k"]);
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
        var module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Elsewhere"), AssemblyBuilderAccess.Run)
            .DefineDynamicModule("m");
        var type = module.DefineType("Elsewhere.UnknownException", TypeAttributes.Public, typeof(Exception)).CreateType();
        var read = Assert.IsType<UnavailableExceptionFallbackException>(Trip((Exception)Activator.CreateInstance(type)!));
        Assert.Equal("Elsewhere.UnknownException", read.ExceptionType);
    }

    [Fact]
    public void An_exception_of_a_loaded_library_comes_back_as_itself()
    {
        var read = Assert.IsType<HiddenException>(Trip(new HiddenException()));
        Assert.Equal("hidden", read.Message);
        Assert.IsType<Xunit.Sdk.XunitException>(Trip(new Xunit.Sdk.XunitException("of a library")));
    }

    [Fact]
    public void An_unknown_generic_exception_becomes_the_fallback() =>
        Assert.IsType<UnavailableExceptionFallbackException>(Trip(new GenericException<HiddenException>()));

    [Theory]
    [InlineData("System.Collections.Generic.List`1[[System.Exception]]")]
    [InlineData("Evil.Exception, Evil")]
    [InlineData("System.String")]
    [InlineData("")]
    public void A_name_that_is_no_exception_is_not_looked_for(string name) => Assert.Null(ExceptionTypes.FindType(name));

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

    private sealed class GenericException<T>() : Exception(typeof(T).Name);

    private sealed class HiddenException() : Exception("hidden");

    private sealed class Endless
    {
        public override string ToString() => new('e', 1 << 20);
    }
}
