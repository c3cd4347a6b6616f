using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization.Configuration;
using Xunit;

namespace Orleans.Serialization.TestKit;

/// <summary>What tests of codecs and of copiers share: the services, the values, and how two values are compared.</summary>
/// <typeparam name="TValue">What the codec writes or the copier copies.</typeparam>
/// <remarks>xunit makes an object for each test: services and random numbers are of one test.</remarks>
public abstract class SerializationTester<TValue> : IDisposable
{
    private readonly ServiceProvider _services;

    private protected SerializationTester(ITestOutputHelper output, Type tested, Action<TypeManifestOptions> register)
    {
        var seed = Guid.NewGuid().GetHashCode();
        output.WriteLine($"Random seed: {seed}");
        Random = new Random(seed);
        var services = new ServiceCollection();
        services.AddSerializer(builder => builder.Configure(register));
        if (!tested.IsAbstract)
            services.AddSingleton(tested);
        services.AddSerializer(Configure);
        _services = services.BuildServiceProvider();
    }

    /// <summary>Random numbers; their seed is in the output of the test.</summary>
    protected Random Random { get; }

    /// <summary>The services of the test.</summary>
    protected IServiceProvider ServiceProvider => _services;

    /// <summary>The values of the tests, beside one from <see cref="CreateValue"/>.</summary>
    protected abstract TValue[] TestValues { get; }

    /// <summary>Gives further values to a test.</summary>
    protected virtual Action<Action<TValue>>? ValueProvider => null;

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Adds to the configuration of the services.</summary>
    protected virtual void Configure(ISerializerBuilder builder)
    {
    }

    /// <summary>A value, from <see cref="Random"/>.</summary>
    protected abstract TValue CreateValue();

    /// <summary>Whether what was copied or read is like the original.</summary>
    protected virtual bool Equals(TValue left, TValue right) => EqualityComparer<TValue>.Default.Equals(left, right);

    /// <summary>Gives back what the test holds.</summary>
    protected virtual void Dispose(bool disposing)
    {
        if (disposing)
            _services.Dispose();
    }

    private protected TValue[] Values()
    {
        List<TValue> values = [.. TestValues, CreateValue()];
        ValueProvider?.Invoke(values.Add);
        return [.. values];
    }

    private protected void Same(TValue expected, TValue actual) =>
        Assert.True(Equals(expected, actual), $"The original was {expected}, the other is {actual}.");
}
