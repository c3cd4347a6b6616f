using System.Collections.Concurrent;
using ActOp.TestClusters;
using Microsoft.Extensions.Options;
using Orleans.CodeGeneration;
using Orleans.Serialization;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Invocation;

namespace ActOp.Calls.Tests.Requests;

/// <summary>
/// Hard-to-match behaviour 1: return types and request classes of the application. Calls come from a client, and from grains of the same
/// and of another silo.
/// </summary>
public sealed class Behaviour1CustomRequestTests(Behaviour1CustomRequestTests.Filtered cluster) : IClassFixture<Behaviour1CustomRequestTests.Filtered>
{
    private static readonly ConcurrentDictionary<Guid, ConcurrentQueue<string>> Seen = new();

    public static TheoryData<int> Callers { get; } = [-1, 0, 1];

    [Theory]
    [MemberData(nameof(Callers))]
    public async Task A_result_comes_through_an_awaitable_of_the_application(int caller)
    {
        var grain = await NewGrain(caller);
        Assert.Equal(42, await grain.Add(20, 22));
        var parcel = await grain.Pack([1, 2, 3]);
        Assert.Equal("packed", parcel!.Text);
        Assert.Equal([1, 2, 3], parcel.Numbers);
        Assert.Null(await grain.Nothing());
    }

    [Theory]
    [MemberData(nameof(Callers))]
    public async Task An_exception_comes_through_an_awaitable_of_the_application(int caller)
    {
        var grain = await NewGrain(caller);
        var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => grain.Fail("sorry").Task);
        Assert.Equal("sorry", exception.Message);
    }

    [Theory]
    [MemberData(nameof(Callers))]
    public async Task A_request_that_is_a_filter_is_called_as_such_after_the_filters_of_the_caller(int caller)
    {
        var grain = await NewGrain(caller);
        Assert.Equal("signed Signed: text!", await grain.Signed("text"));
        Assert.Equal("text", await grain.Guarded("text"));
        Assert.Equal("guarded: no text", await grain.Guarded(null));
    }

    [Theory]
    [MemberData(nameof(Callers))]
    public async Task Arguments_and_results_are_isolated(int caller)
    {
        var grain = await NewGrain(caller);
        var numbers = new List<int> { 1 };
        var changed = await grain.Change(numbers);
        Assert.Equal([1], numbers);
        Assert.Equal([1, 99], changed!);
    }

    [Fact]
    public async Task Grains_call_each_other()
    {
        var here = await NewGrain(-1, 0);
        var there = await NewGrain(-1, 1);
        Assert.Equal(7, await here.AddThere(there, 3, 4));
        Assert.Equal(9, await there.AddThere(here, 4, 5));
        Assert.Equal(11, await here.AddThere(await NewGrain(-1, 0), 5, 6));
    }

    [Fact]
    public async Task A_mapping_of_the_exact_type_goes_before_one_of_the_open_type() =>
        Assert.Equal(10, await (await NewGrain(-1)).Half(10));

    [Fact]
    public async Task Methods_and_interfaces_may_be_generic()
    {
        var grain = await NewGrain(-1);
        Assert.Equal("text", await grain.Same("text"));
        Assert.Equal(5, await grain.Same(5));
        Assert.Equal([1, 2], (await cluster.Client.GetGrain<IPromisingOf<List<int>>>("list").Keep([1, 2]))!);
        Assert.Equal("kept", await cluster.Client.GetGrain<IPromisingOf<string>>("text").Keep("kept"));
    }

    [Theory]
    [MemberData(nameof(Callers))]
    public async Task An_attribute_of_the_application_gives_methods_its_request_class_and_its_settings(int caller)
    {
        var grain = await NewGrain(caller);
        RequestContext.Set("stamp", "blue");
        var first = await grain.Stamped("text");
        var second = await grain.Stamped("text");
        Assert.StartsWith("fragile:blue:text:", first, StringComparison.Ordinal);
        Assert.NotEqual(first, second);
        await Assert.ThrowsAsync<FormatException>(grain.FailStamped);
    }

    /// <summary>The number is a protected member with an id; the callee makes its own, which the caller's replaces.</summary>
    [Fact]
    public async Task Members_with_ids_of_a_request_class_travel_with_the_call()
    {
        var grain = await NewGrain(-1, 1);
        var before = cluster.Stamps.Count;
        var text = await grain.Stamped("seen");
        var stamp = Assert.Single(cluster.Stamps.Skip(before), one => one.Side == "out");
        Assert.Equal(stamp.Number, Assert.Single(cluster.Stamps.Skip(before), one => one.Side == "in").Number);
        Assert.EndsWith("seen:" + stamp.Number, text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(-1, 0)]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    public async Task A_cancelled_token_reaches_the_method(int caller, int callee)
    {
        using var started = new Gate();
        using var cancelled = new Gate();
        using var source = new CancellationTokenSource();
        var grain = await NewGrain(caller, callee);
        var call = grain.Wait(started.Name, cancelled.Name, source.Token).Task;
        await started.ArrivedAsync();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        await cancelled.ArrivedAsync();
    }

    [Fact]
    public async Task A_one_way_method_is_not_waited_for()
    {
        using var gate = new Gate();
        Assert.Null(await (await NewGrain(-1, 1)).Touch(gate.Name));
        await gate.ArrivedAsync();
    }

    [Fact]
    public async Task Filters_see_the_request_of_the_application_and_may_send_and_invoke_it_again()
    {
        var grain = await NewGrain(-1, 1);
        var seen = Seen[grain.GetPrimaryKey()] = new();
        Assert.Equal(3, await grain.Add(1, 2));
        Assert.Equal(
            ["out PromiseRequest`1 Add(1, 2)", .. Enumerable.Repeat("in PromiseRequest`1 Add(1, 2)", 4)],
            seen);
    }

    [Fact]
    public async Task A_request_class_says_how_long_callers_wait()
    {
        using var gate = new Gate();
        var grain = await NewGrain(-1, 1);
        // Less than the response timeout that calls have otherwise.
        var limit = TimeSpan.FromSeconds(25);
        var exception = await Assert.ThrowsAsync<TimeoutException>(() => grain.Hurry(gate.Name).AsTask().WaitAsync(limit));
        Assert.Contains(nameof(IPromising.Hurry), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task References_may_have_a_base_class_of_the_application()
    {
        var grain = cluster.Client.GetGrain<ISentCounter>(1);
        Assert.Equal(1, await grain.Next());
        Assert.Equal(2, await grain.Next());
        await grain.Reset();
        await grain.Forward();
        Assert.Equal(11, await grain.Next());
        Assert.Equal(113, Assert.IsAssignableFrom<CountingReference>(grain).Sent);
    }

    [Fact]
    public async Task The_application_may_send_a_request_by_the_runtime()
    {
        var runtime = cluster.Client.ServiceProvider.GetRequiredService<IGrainReferenceRuntime>();
        var grain = await NewGrain(-1);
        var same = Assert.IsAssignableFrom<IPromising>(runtime.Cast(grain, typeof(IPromising)));
        Assert.Same(grain, same);
        await Assert.ThrowsAsync<ArgumentException>(() =>
            runtime.InvokeMethodAsync((GrainReference)grain, new Foreign(), InvokeMethodOptions.None).AsTask());
    }

    [Fact]
    public async Task Interfaces_of_the_application_get_proxies_that_it_makes_and_sends_itself()
    {
        using var services = new ServiceCollection().AddSerializer().BuildServiceProvider();
        var proxies = services.GetRequiredService<IOptions<TypeManifestOptions>>().Value.InterfaceProxies;
        var type = Assert.Single(proxies, static proxy => typeof(ILocalAdder).IsAssignableFrom(proxy));
        var proxy = (LocalProxy)Activator.CreateInstance(type, new LocalAdder())!;
        var adder = (ILocalAdder)proxy;
        var heard = new List<string>();
        Assert.Equal(5, await adder.Add(2, 3));
        Assert.Equal("same", await adder.Same("same"));
        adder.Tell(heard);
        Assert.Equal(["told"], heard);
        Assert.Equal(
            [typeof(ILocalAdder).FullName + ".Add/2", typeof(ILocalAdder).FullName + ".Same/1", typeof(ILocalAdder).FullName + ".Tell/1"],
            proxy.Sent);
    }

    private async Task<IPromising> NewGrain(int caller, int callee = 0)
    {
        var grain = (caller < 0 ? cluster.Client : cluster.ClientOf(caller)).GetGrain<IPromising>(Guid.NewGuid());
        Assert.Equal(cluster.AddressOf(callee).ToString(), await Place.On(cluster.AddressOf(callee), grain.Seat));
        return grain;
    }

    public sealed class Filtered() : ClusterFixture(2)
    {
        public ConcurrentQueue<(string Side, Guid Number)> Stamps { get; } = new();

        protected override void ConfigureSilo(ISiloBuilder silo) =>
            silo.AddIncomingGrainCallFilter(context => Twice(context, "in"));

        protected override void ConfigureClient(IClientBuilder client) =>
            client.AddOutgoingGrainCallFilter(context => Twice(context, "out"));

        private async Task Twice(IGrainCallContext context, string side)
        {
            if (context.Request is StampedRequest<string> stamped)
                Stamps.Enqueue((side, stamped.Shown));
            if (context.TargetId.Type != GrainType.Create("promising") || context.MethodName != nameof(IPromising.Add)
                || !Seen.TryGetValue(context.TargetId.GetGuidKey(), out var seen))
            {
                await context.Invoke();
                return;
            }

            var text = IRequest.ToMethodCallString((IRequest)context.Request);
            var name = side + " " + context.Request.GetType().BaseType!.Name + " " + text[(text.LastIndexOf('.') + 1)..];
            if (side == "out")
                seen.Enqueue(name);
            for (var time = 0; time < 2; time++)
            {
                if (side == "in")
                    seen.Enqueue(name);
                await context.Invoke();
            }
        }
    }

    private sealed class Foreign : LocalRequest
    {
        public override string GetActivityName() => "foreign";

        public override string GetInterfaceName() => "foreign";

        public override Type GetInterfaceType() => typeof(ILocalAdder);

        public override System.Reflection.MethodInfo GetMethod() => typeof(ILocalAdder).GetMethod("Add")!;

        public override string GetMethodName() => "Add";

        public override object? GetTarget() => null;

        public override void SetTarget(ITargetHolder holder)
        {
        }

        public override ValueTask<Response> Invoke() => new(Response.Completed);

        public override void Dispose()
        {
        }
    }
}
