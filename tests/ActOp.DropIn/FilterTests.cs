using Microsoft.Extensions.DependencyInjection;
using Orleans.TestingHost;

namespace DropIn;

public interface IFiltered : IGrainWithStringKey
{
    Task<string> Say(string text);

    Task<int> Number(int number);

    Task<T> Generic<T>(T value);

    Task<int> Ask(IFiltered other);

    Task Fail();

    IAsyncEnumerable<int> Items();
}

public sealed class FilteredGrain : Grain, IFiltered, IIncomingGrainCallFilter
{
    private int _fails;

    public Task<string> Say(string text) => Task.FromResult(text);

    public Task<int> Number(int number) => Task.FromResult(number);

    public Task<T> Generic<T>(T value) => Task.FromResult(value);

    public Task<int> Ask(IFiltered other) => other.Number(0);

    public Task Fail() => _fails++ == 0 ? throw new InvalidOperationException("It fails once.") : Task.CompletedTask;

    public async IAsyncEnumerable<int> Items()
    {
        await Task.CompletedTask;
        yield return 1;
    }

    public async Task Invoke(IIncomingGrainCallContext context)
    {
        Journal.Of(this.GetPrimaryKeyString()).Add($"grain {context.MethodName}");
        if (context is { MethodName: nameof(Say), Request: var request } && (string?)request.GetArgument(0) == "replace")
            request.SetArgument(0, "replaced");
        await context.Invoke();
    }
}

/// <summary>Notes what it sees of calls to grains of <see cref="IFiltered"/>, and does what their arguments ask for.</summary>
public sealed class NotingFilter : IIncomingGrainCallFilter
{
    public async Task Invoke(IIncomingGrainCallContext context)
    {
        if (context.Grain is not FilteredGrain || context.InterfaceMethod.DeclaringType != typeof(IFiltered))
        {
            await context.Invoke();
            return;
        }

        var journal = Journal.Of(context.TargetId.Key.ToString()!);
        var text = context.Request.GetArgumentCount() > 0 ? context.Request.GetArgument(0)?.ToString() : null;
        journal.Add($"silo {context.InterfaceMethod.Name} of {context.ImplementationMethod.DeclaringType!.Name}, "
            + $"{context.InterfaceMethod.IsGenericMethod}, {context.SourceId?.Type.ToString() ?? "nobody"}, "
            + $"{context.TargetContext.GrainId == context.TargetId}");
        switch (text)
        {
            case "short":
                context.Result = "short-circuited";
                return;
            case "refuse":
                throw new UnauthorizedAccessException("The filter refuses.");
            case "nothing":
                return;
            case "wrong":
                context.Result = 17;
                return;
            default:
                await RunAsync(context, journal);
                return;
        }
    }

    private static async Task RunAsync(IIncomingGrainCallContext context, Journal journal)
    {
        try
        {
            await context.Invoke();
        }
        catch (InvalidOperationException exception) when (exception.Message == "It fails once.")
        {
            journal.Add("again");
            await context.Invoke();
        }

        if (context.Result is string said)
            context.Result = said + " (heard)";
    }
}

/// <summary>Silos and a client with filters; a cluster of their own, since each call passes them.</summary>
public sealed class FilteredCluster : IAsyncLifetime
{
    public InProcessTestCluster Cluster { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo
            .AddIncomingGrainCallFilter<NotingFilter>()
            .AddIncomingGrainCallFilter(static async context =>
            {
                if (context.Grain is FilteredGrain)
                    Journal.Of(context.TargetId.Key.ToString()!).Add("delegate");
                await context.Invoke();
            }));
        builder.ConfigureClient(static client => client
            .AddOutgoingGrainCallFilter(static async context =>
            {
                if (context.InterfaceMethod?.DeclaringType == typeof(IFiltered))
                {
                    Journal.Of(context.TargetId.Key.ToString()!).Add($"out {context.MethodName} {context.InterfaceName}, "
                        + $"{context.SourceId?.Type.ToString() ?? "nobody"}, {context.SourceContext is null}");
                }

                await context.Invoke();
                if (context.Result is int number)
                    context.Result = number + 1;
            })
            .AddIncomingGrainCallFilter(static async context =>
            {
                if (context.Grain is Listener)
                    Journal.Of(context.Request.GetArgument(0)!.ToString()!).Add($"observer {context.MethodName}");
                await context.Invoke();
            }));
        Cluster = builder.Build();
        await Cluster.DeployAsync();
    }

    public async ValueTask DisposeAsync() => await Cluster.DisposeAsync();
}

/// <summary>Filters of silos, of clients and of classes, in their order.</summary>
public class FilterTests(FilteredCluster cluster) : IClassFixture<FilteredCluster>
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private IFiltered Grain => cluster.Cluster.Client.GetGrain<IFiltered>(_made.Name);

    [Fact]
    public async Task Filters_run_in_the_order_of_their_registration_and_the_class_last()
    {
        Assert.Equal("x (heard)", await Grain.Say("x"));
        Assert.Equal(["out Say DropIn.IFiltered, nobody, True", "silo Say of FilteredGrain, False, sys.client, True", "delegate",
            "grain Say"], _made.Journal.Lines);
    }

    [Fact]
    public async Task Filters_see_who_calls()
    {
        await cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IFiltered>(_made.Name).Number(1);
        var caller = cluster.Cluster.Client.GetGrain<IFiltered>(_made.Name + " caller");
        Assert.Equal(1, await caller.Ask(Grain));
        Assert.Equal(["silo Number of FilteredGrain, False, sys.client, True", "silo Number of FilteredGrain, False, filtered, True"],
            _made.Journal.Lines.Where(static line => line.StartsWith("silo", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_filter_changes_arguments_and_results()
    {
        Assert.Equal("replaced (heard)", await Grain.Say("replace"));
        Assert.Equal(8, await Grain.Number(7));
    }

    [Fact]
    public async Task A_filter_answers_in_place_of_the_grain()
    {
        Assert.Equal("short-circuited", await Grain.Say("short"));
        Assert.DoesNotContain("grain Say", _made.Journal.Lines);
    }

    [Fact]
    public async Task An_exception_of_a_filter_reaches_the_caller() =>
        Assert.Equal("The filter refuses.", (await Assert.ThrowsAsync<UnauthorizedAccessException>(() => Grain.Say("refuse"))).Message);

    [Fact]
    public async Task A_filter_that_neither_calls_nor_answers_fails_the_call() =>
        await Assert.ThrowsAsync<InvalidOperationException>(() => Grain.Say("nothing"));

    [Fact]
    public async Task A_result_of_the_wrong_type_fails_the_call() =>
        await Assert.ThrowsAsync<InvalidCastException>(() => Grain.Say("wrong"));

    [Fact]
    public async Task A_filter_may_call_again()
    {
        await Grain.Fail();
        Assert.Equal(2, _made.Journal.Lines.Count(static line => line == "grain Fail"));
        Assert.Contains("again", _made.Journal.Lines);
    }

    [Fact]
    public async Task A_generic_method_is_seen_with_its_types()
    {
        Assert.Equal("x (heard)", await Grain.Generic("x"));
        Assert.Contains("silo Generic of FilteredGrain, True, sys.client, True", _made.Journal.Lines);
    }

    [Fact]
    public async Task A_filter_of_a_client_sees_calls_to_its_observers()
    {
        var listener = new Listener(_made.Name);
        var publisher = cluster.Cluster.Client.GetGrain<IPublisher>(_made.Name);
        await publisher.Subscribe(cluster.Cluster.Client.CreateObjectReference<INews>(listener));
        Assert.Equal("answer to " + _made.Name, await publisher.AskFirst(_made.Name));
        Assert.Contains("observer Ask", _made.Journal.Lines);
        GC.KeepAlive(listener);
    }

    [Fact]
    public async Task The_calls_of_an_enumeration_are_calls_of_an_extension()
    {
        await foreach (var _ in Grain.Items())
        {
        }

        Assert.DoesNotContain(_made.Journal.Lines, static line => line.StartsWith("silo", StringComparison.Ordinal));
        Assert.Contains("delegate", _made.Journal.Lines);
    }
}
