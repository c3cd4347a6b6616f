using System.Collections.Concurrent;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

public class FilterTests(FilterTests.Filtered cluster) : IClassFixture<FilterTests.Filtered>
{
    private static readonly ConcurrentDictionary<string, ConcurrentQueue<string>> Traces = new();

    [Fact]
    public async Task Filters_run_in_order_around_the_method()
    {
        Assert.Equal("echo", await Get("order").Echo("echo"));
        Assert.Equal(["out1", "out2", "in1", "in2", "own", "method", "/own", "/in2", "/in1", "/out2", "/out1"], Traces["order"]);
    }

    [Fact]
    public async Task An_incoming_filter_may_invoke_again()
    {
        Assert.Equal("third time", await Get("again").FailTwice());
        Assert.Equal(3, Traces["again"].Count(step => step == "method"));
    }

    [Fact]
    public async Task An_outgoing_filter_may_invoke_again() => Assert.Equal("third time", await Get("out-again").FailTwice());

    [Fact]
    public async Task A_filter_may_set_the_result_instead_of_the_method()
    {
        Assert.Equal("from filter", await Get("short").Echo("x"));
        Assert.DoesNotContain("method", Traces["short"]);
    }

    [Fact]
    public async Task A_filter_may_change_result_and_arguments() => Assert.Equal("<changed>", await Get("change").Echo("x"));

    [Fact]
    public async Task A_filter_that_neither_invokes_nor_answers_is_broken() =>
        await Assert.ThrowsAsync<InvalidOperationException>(() => Get("broken").Echo("x"));

    [Fact]
    public async Task An_outgoing_filter_that_neither_invokes_nor_answers_is_broken() =>
        await Assert.ThrowsAsync<InvalidOperationException>(() => Get("out-broken").Echo("x"));

    [Fact]
    public async Task An_exception_of_a_filter_reaches_the_caller() =>
        await Assert.ThrowsAsync<UnauthorizedAccessException>(() => Get("blocked").Echo("x"));

    [Fact]
    public async Task A_filter_may_replace_the_exception_of_the_method()
    {
        var exception = await Assert.ThrowsAsync<FormatException>(() => Get("translate").FailTwice());
        Assert.Equal("translated", exception.Message);
    }

    [Fact]
    public async Task A_result_of_the_wrong_type_is_an_invalid_cast() =>
        await Assert.ThrowsAsync<InvalidCastException>(() => Get("wrong").Echo("x"));

    [Fact]
    public async Task Filters_see_methods_and_ids()
    {
        await Get("see").Echo("x");
        Assert.Contains("see Echo FilteredGrain.Echo x", Traces["see"]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_filter_that_cannot_be_made_fails_the_start_and_says_why(bool ofSilo)
    {
        var builder = new InProcessTestClusterBuilder(1);
        if (ofSilo)
            builder.ConfigureSilo((_, silo) => silo.AddIncomingGrainCallFilter<FailingFilter>());
        else
            builder.ConfigureClient(client => client.AddOutgoingGrainCallFilter<FailingFilter>());
        await using var cluster = builder.Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(cluster.DeployAsync);
        Assert.Contains("no licence", exception.Message, StringComparison.Ordinal);
        Assert.Contains(ofSilo ? "incoming" : "outgoing", exception.Message, StringComparison.Ordinal);
    }

    /// <summary>The application allows its own calls only. Membership, directory and clients go on.</summary>
    [Fact]
    public async Task A_filter_that_denies_what_it_does_not_know_does_not_touch_the_calls_of_the_runtime()
    {
        var denied = new ConcurrentQueue<string>();
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((_, silo) => silo.AddIncomingGrainCallFilter(context => AllowOwn(context, denied))
            .AddOutgoingGrainCallFilter(context => AllowOwn(context, denied)));
        builder.ConfigureClient(client => client.AddOutgoingGrainCallFilter(context => AllowOwn(context, denied)));
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        for (var key = 0; key < 20; key++)
            Assert.Equal("x", await cluster.Client.GetGrain<IFiltered>("own" + key).Echo("x"));
        Assert.Empty(denied);
    }

    [Fact]
    public async Task Filters_of_a_silo_see_the_calls_to_its_observers()
    {
        var seen = new ConcurrentQueue<object>();
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => silo.AddIncomingGrainCallFilter(async context =>
        {
            if (context.InterfaceMethod.DeclaringType == typeof(IEar))
                seen.Enqueue(context.Grain);
            if (context.InterfaceMethod.DeclaringType == typeof(IEar))
                Assert.Equal(nameof(Ear), context.ImplementationMethod.DeclaringType!.Name);
            await context.Invoke();
        }));
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var ear = new Ear();
        var factory = cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>();
        Assert.Equal(3, await factory.CreateObjectReference<IEar>(ear).Length("abc"));
        Assert.Same(ear, Assert.Single(seen));
    }

    private static Task AllowOwn(IGrainCallContext context, ConcurrentQueue<string> denied)
    {
        if (context.InterfaceMethod.DeclaringType == typeof(IFiltered))
            return context.Invoke();
        denied.Enqueue(context.InterfaceName + "." + context.MethodName);
        throw new UnauthorizedAccessException(context.InterfaceName);
    }

    private IFiltered Get(string key)
    {
        Traces[key] = new ConcurrentQueue<string>();
        return cluster.Client.GetGrain<IFiltered>(key);
    }

    private static void Note(string key, string step) => Traces.GetOrAdd(key, _ => new ConcurrentQueue<string>()).Enqueue(step);

    private static async Task In1(IIncomingGrainCallContext context)
    {
        if (!IsOurs(context, out var key))
        {
            await context.Invoke();
            return;
        }

        Note(key, "in1");
        switch (key)
        {
            case "see":
                Note(
                    key, key + " " + context.MethodName + " " + context.ImplementationMethod.DeclaringType!.Name + "." +
                        context.ImplementationMethod.Name + " " + context.Request.GetArgument(0));
                await context.Invoke();
                break;
            case "blocked":
                throw new UnauthorizedAccessException("no");
            case "translate":
                await Translate(context);
                break;
            default:
                await context.Invoke();
                break;
        }

        Note(key, "/in1");
    }

    private static async Task Translate(IIncomingGrainCallContext context)
    {
        try
        {
            await context.Invoke();
        }
        catch (IOException exception)
        {
            throw new FormatException("translated", exception);
        }
    }

    private static async Task In2(IIncomingGrainCallContext context)
    {
        if (!IsOurs(context, out var key))
        {
            await context.Invoke();
            return;
        }

        Note(key, "in2");
        switch (key)
        {
            case "again":
                await Again(context);
                break;
            case "short":
                context.Result = "from filter";
                break;
            case "wrong":
                context.Result = 17;
                break;
            case "broken":
                break;
            case "change":
                context.Request.SetArgument(0, "changed");
                await context.Invoke();
                context.Result = "<" + context.Result + ">";
                break;
            default:
                await context.Invoke();
                break;
        }

        Note(key, "/in2");
    }

    private static async Task Again(IGrainCallContext context)
    {
        while (true)
        {
            try
            {
                await context.Invoke();
                return;
            }
            catch (IOException)
            {
                // Again.
            }
        }
    }

    private static async Task Out(IOutgoingGrainCallContext context, string name)
    {
        if (!IsOurs(context, out var key))
        {
            await context.Invoke();
            return;
        }

        Note(key, name);
        if (key == "out-again" && name == "out2")
            await Again(context);
        else if (key != "out-broken" || name != "out2")
            await context.Invoke();
        Note(key, "/" + name);
    }

    private static bool IsOurs(IGrainCallContext context, out string key)
    {
        var ours = context.InterfaceMethod.DeclaringType == typeof(IFiltered);
        key = ours ? context.TargetId.Key.ToString()! : "";
        return ours;
    }

    public sealed class Filtered() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.AddIncomingGrainCallFilter(In1);
            silo.AddIncomingGrainCallFilter(In2);
        }

        protected override void ConfigureClient(IClientBuilder client)
        {
            client.AddOutgoingGrainCallFilter(context => Out(context, "out1"));
            client.AddOutgoingGrainCallFilter(context => Out(context, "out2"));
        }
    }

    private sealed class FailingFilter : IIncomingGrainCallFilter, IOutgoingGrainCallFilter
    {
        public FailingFilter() => throw new NotSupportedException("no licence");

        public Task Invoke(IIncomingGrainCallContext context) => context.Invoke();

        public Task Invoke(IOutgoingGrainCallContext context) => context.Invoke();
    }

    public interface IEar : IGrainObserver
    {
        Task<int> Length(string text);
    }

    public sealed class Ear : IEar
    {
        public Task<int> Length(string text) => Task.FromResult(text.Length);
    }

    public interface IFiltered : IGrainWithStringKey
    {
        Task<string> Echo(string text);

        ValueTask<string> FailTwiceValue();

        Task<string> FailTwice();
    }

    public sealed class FilteredGrain : Grain, IFiltered, IIncomingGrainCallFilter
    {
        private int _calls;

        public async Task Invoke(IIncomingGrainCallContext context)
        {
            Note(this.GetPrimaryKeyString(), "own");
            await context.Invoke();
            Note(this.GetPrimaryKeyString(), "/own");
        }

        public Task<string> Echo(string text)
        {
            Note(this.GetPrimaryKeyString(), "method");
            return Task.FromResult(text);
        }

        public ValueTask<string> FailTwiceValue() => new(FailTwice());

        public async Task<string> FailTwice()
        {
            Note(this.GetPrimaryKeyString(), "method");
            await Task.Yield();
            return ++_calls < 3 ? throw new IOException("not yet") : "third time";
        }
    }
}
