using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Cluster.Tests;

public sealed class ServiceLifetimesTests
{
    private readonly ServiceCollection _services = [];

    [Fact]
    public void The_last_registration_of_a_service_counts()
    {
        _services.AddScoped<Part>().AddSingleton<Part>();
        Assert.True(IsSingleton<Part>());
        _services.AddScoped<Part>();
        Assert.False(IsSingleton<Part>());
    }

    [Fact]
    public void What_is_made_anew_is_no_singleton_and_neither_is_what_nobody_registered()
    {
        _services.AddTransient<Part>();
        Assert.False(IsSingleton<Part>());
        Assert.False(IsSingleton<string>());
        Assert.False(IsSingleton<IServiceProvider>());
        Assert.False(IsSingleton<IEnumerable<Part>>());
    }

    [Fact]
    public void A_service_that_has_a_key_says_nothing_of_the_one_without()
    {
        _services.AddKeyedSingleton<Part>("key");
        Assert.False(IsSingleton<Part>());
    }

    [Fact]
    public void An_open_generic_registration_counts_where_there_is_none_for_the_type()
    {
        _services.AddSingleton(typeof(Of<>));
        Assert.True(IsSingleton<Of<int>>());
        _services.AddScoped<Of<int>>();
        Assert.False(IsSingleton<Of<int>>());
        Assert.True(IsSingleton<Of<string>>());
    }

    private bool IsSingleton<T>() => new ServiceLifetimes(_services).IsSingleton(typeof(T));

    private sealed class Part;

    private sealed class Of<T>
    {
        public T? Value { get; set; }
    }
}
