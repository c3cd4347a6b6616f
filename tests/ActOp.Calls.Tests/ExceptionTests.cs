using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

public class ExceptionTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_exception_arrives_with_its_type_message_and_the_stack_of_the_grain(int silo)
    {
        var grain = await Get(silo);
        var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => grain.Throw("broken"));
        Assert.Equal("broken", exception.Message);
        Assert.Contains(nameof(ThrowingGrain), exception.ToString(), StringComparison.Ordinal);
        Assert.IsType<ArgumentException>(exception.InnerException);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_exception_after_an_await_arrives_too(int silo)
    {
        var grain = await Get(silo);
        var exception = await Assert.ThrowsAsync<TimeZoneNotFoundException>(() => grain.ThrowLater().AsTask());
        Assert.Contains(nameof(ThrowingGrain), exception.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_exception_class_of_the_application_keeps_its_fields(int silo)
    {
        var grain = await Get(silo);
        var exception = await Assert.ThrowsAsync<OwnException>(() => grain.ThrowOwn(42));
        Assert.Equal(42, exception.Number);
    }

    [Fact]
    public async Task A_client_reads_exceptions_of_calls_with_the_types_that_its_options_support()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureClient(static client => client.Services.Configure<Orleans.Serialization.ExceptionSerializationOptions>(
            static options => options.SupportedExceptionTypeFilter = static type => type == typeof(TimeZoneNotFoundException)));
        builder.ConfigureClient(static client => client.Services.Configure<Orleans.Serialization.ExceptionSerializationOptions>(
            static options => options.SupportedNamespacePrefixes.Clear()));
        await using var own = builder.Build();
        await own.DeployAsync();
        var grain = own.Client.GetGrain<IThrowing>(1);
        await Assert.ThrowsAsync<TimeZoneNotFoundException>(() => grain.ThrowLater().AsTask());
        await Assert.ThrowsAsync<OwnException>(() => grain.ThrowOwn(42));
        var fallback = await Assert.ThrowsAsync<Orleans.Serialization.UnavailableExceptionFallbackException>(() => grain.Throw("broken"));
        Assert.Equal(("broken", "System.InvalidOperationException"), (fallback.Message, fallback.ExceptionType));
    }

    [Fact]
    public async Task A_call_after_an_exception_works()
    {
        var grain = await Get(1);
        await Assert.ThrowsAsync<InvalidOperationException>(() => grain.Throw("x"));
        Assert.Equal(cluster.AddressOf(1), await grain.Seat());
    }

    private async Task<IThrowing> Get(int silo)
    {
        var grain = cluster.ClientOf(0).GetGrain<IThrowing>(silo);
        Assert.Equal(cluster.AddressOf(silo), await Place.On(cluster.AddressOf(silo), grain.Seat));
        return grain;
    }

    public interface IThrowing : IGrainWithIntegerKey
    {
        Task<SiloAddress> Seat();

        Task Throw(string message);

        ValueTask<int> ThrowLater();

        Task ThrowOwn(int number);
    }

    [GenerateSerializer]
    public sealed class OwnException : Exception
    {
        public OwnException()
        {
        }

        public OwnException(int number)
            : base("own")
        {
            Number = number;
        }

        [Id(0)]
        public int Number { get; set; }
    }

    public sealed class ThrowingGrain(ILocalSiloDetails silo) : Grain, IThrowing
    {
        public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);

        public Task Throw(string message) => throw new InvalidOperationException(message, new ArgumentException("inner"));

        public async ValueTask<int> ThrowLater()
        {
            await Task.Yield();
            throw new TimeZoneNotFoundException("late");
        }

        public Task ThrowOwn(int number) => throw new OwnException(number);
    }
}
