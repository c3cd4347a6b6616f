using System.Reflection;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>Extensions of grains in clusters with filters of calls.</summary>
public class FilteredExtensionTests(FilteredExtensionTests.Filtered cluster) : IClassFixture<FilteredExtensionTests.Filtered>
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Calls_through_extensions_pass_the_filters(bool fromClient)
    {
        var factory = fromClient ? cluster.Client : cluster.ClientOf(0);
        for (var key = 0; key < 4; key++)
        {
            var grain = factory.GetGrain<IExtendedGrain>(key);
            Assert.Equal("grain", await grain.Own());
            Assert.Equal("extension", await grain.AsReference<ISimpleExtension>().Text());
            Assert.Equal("12", await grain.AsReference<ISimpleExtension>().Generic(12));
            var parts = grain.AsReference<IPartsExtension>();
            await parts.SetShared(5);
            Assert.Equal(-5, await ((IFirstPart)parts).Get());
            Assert.Equal(95, await ((ISecondPart)parts).Get());
            Assert.Equal("Int32 String", await grain.AsReference<IGenericParts<int>>().Name("a"));
            Assert.Equal("Int32", await grain.AsReference<IGenericExtension<int>>().Argument());
            Assert.Equal("of the grain", await grain.AsReference<IOwnSimpleExtension>().OfGrain());
            Assert.Equal("extension", await grain.AskExtension(factory.GetGrain<IExtendedGrain>(key + 10)));
        }
    }

    [Fact]
    public async Task A_filter_sees_the_method_of_the_extension()
    {
        await cluster.Client.GetGrain<IExtendedGrain>(100).AsReference<ISimpleExtension>().Text();
        Assert.Contains(cluster.Implementations, static one => one.DeclaringType == typeof(SimpleExtension) && one.Name == "Text");
    }

    public interface IExtendedGrain : IGrainWithIntegerKey
    {
        Task<string> Own();

        Task<string> AskExtension(IExtendedGrain other);
    }

    public interface ISimpleExtension : IGrainExtension
    {
        Task<string> Text();

        Task<string> Generic<T>(T value);
    }

    internal interface IFirstPart
    {
        [Alias("Get")]
        ValueTask<int> Get();

        ValueTask SetShared(int value);
    }

    internal interface ISecondPart
    {
        [Alias("Get")]
        ValueTask<int> Get();
    }

    internal interface IPartsExtension : IGrainExtension, IFirstPart, ISecondPart;

    public interface IGenericPart<TPart>
    {
        Task<string> Name<TValue>(TValue value, TPart? part = default);
    }

    public interface IGenericParts<T> : IGrainExtension, IGenericPart<T>;

    internal sealed class PartsExtension : IPartsExtension
    {
        private int _value;

        public ValueTask SetShared(int value)
        {
            _value = value;
            return default;
        }

        ValueTask<int> IFirstPart.Get() => new(_value);

        ValueTask<int> ISecondPart.Get() => new(100 + _value);
    }

    public sealed class GenericParts : IGenericParts<int>
    {
        public Task<string> Name<TValue>(TValue value, int part = default) =>
            Task.FromResult(part.GetType().Name + " " + value!.GetType().Name);
    }

    public interface IGenericExtension<T> : IGrainExtension
    {
        Task<string> Argument();
    }

    public interface IOwnSimpleExtension : IGrainExtension
    {
        Task<string> OfGrain();
    }

    public sealed class SimpleExtension : ISimpleExtension
    {
        public Task<string> Text() => Task.FromResult("extension");

        public Task<string> Generic<T>(T value) => Task.FromResult(value!.ToString()!);
    }

    public sealed class GenericExtension<T> : IGenericExtension<T>
    {
        public Task<string> Argument() => Task.FromResult(typeof(T).Name);
    }

    public sealed class ExtendedGrain : Grain, IExtendedGrain, IOwnSimpleExtension, IIncomingGrainCallFilter
    {
        public Task Invoke(IIncomingGrainCallContext context) => context.Invoke();

        public Task<string> Own() => Task.FromResult("grain");

        public Task<string> OfGrain() => Task.FromResult("of the grain");

        public Task<string> AskExtension(IExtendedGrain other) => other.AsReference<ISimpleExtension>().Text();
    }

    public sealed class Filtered() : ClusterFixture(2)
    {
        public System.Collections.Concurrent.ConcurrentQueue<MethodInfo> Implementations { get; } = new();

        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.AddGrainExtension<ISimpleExtension, SimpleExtension>();
            silo.AddGrainExtension<IPartsExtension, PartsExtension>();
            silo.AddGrainExtension<IGenericParts<int>, GenericParts>();
            silo.Services.AddTransient<IGenericExtension<int>, GenericExtension<int>>();
            silo.AddIncomingGrainCallFilter(context =>
            {
                Implementations.Enqueue(context.ImplementationMethod);
                if (context.MethodName == nameof(IFirstPart.SetShared))
                    context.Request.SetArgument(0, -(int)context.Request.GetArgument(0)!);
                return context.Invoke();
            });
            silo.AddOutgoingGrainCallFilter(Pass);
        }

        protected override void ConfigureClient(IClientBuilder client) => client.AddOutgoingGrainCallFilter(Pass);

        private static Task Pass(IOutgoingGrainCallContext context) => context.Invoke();
    }
}
