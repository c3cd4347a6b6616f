using ActOp.Staging.Measuring;
using ActOp.Staging.Tracing;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Staging.Tests.Measuring;

/// <summary>Which source measures demand.</summary>
[Collection(nameof(Exclusive))]
public class DemandSourceTests
{
    private static readonly (string Name, bool NeverBlocks)[] Stages = [("work", false), ("send", true)];

    [Fact]
    public void The_best_source_is_the_scheduler_where_it_tells_ready_times()
    {
        using var source = Choose(DemandSourceKind.Best, null, out var reason);
        Assert.Equal(SchedulerSource.IsSupported ? "scheduler" : "ratio", source.Name);
        Assert.NotEmpty(reason);
    }

    [Fact]
    public void The_source_that_is_asked_for_is_used_though_another_is_better()
    {
        using var source = Choose(DemandSourceKind.Ratio, null, out _);
        Assert.Equal("ratio", source.Name);
    }

    [Fact]
    public void A_trace_without_its_package_is_an_obstacle_that_names_the_package_and_the_call()
    {
        Assert.Null(DemandSources.Choose(DemandSourceKind.Trace, null, Stages, out var reason));
        Assert.Equal(reason, DemandSources.Obstacle(DemandSourceKind.Trace, null));
        Assert.Contains("ActOp.Staging.Tracing", reason, StringComparison.Ordinal);
        Assert.Contains(nameof(StageTracingExtensions.AddStageTracing), reason, StringComparison.Ordinal);
    }

    [Fact]
    public void A_trace_that_cannot_be_opened_is_no_source_and_says_why()
    {
        Assert.Null(DemandSources.Choose(DemandSourceKind.Trace, new NoTracing(), Stages, out var reason));
        Assert.Equal("closed", reason);
    }

    [Fact]
    public void The_package_registers_the_trace_once()
    {
        var services = new ServiceCollection().AddStageTracing().AddStageTracing();
        var tracing = (IStageTracing)Activator.CreateInstance(Assert.Single(services).ImplementationType!)!;
        using var source = Choose(DemandSourceKind.Trace, tracing, out var reason);
        Assert.IsType<TraceSource>(source);
        Assert.NotEmpty(reason);
    }

    private static IDemandSource Choose(DemandSourceKind kind, IStageTracing? tracing, out string reason)
    {
        var source = DemandSources.Choose(kind, tracing, Stages, out reason);
        Assert.NotNull(source);
        return source;
    }

    private sealed class NoTracing : IStageTracing
    {
        public IDemandSource? Open(IReadOnlyList<string> stages, out string reason)
        {
            reason = "closed";
            return null;
        }
    }
}
