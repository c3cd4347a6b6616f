using ActOp.Orleans.Locality;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;

namespace ActOp.Orleans.Tests;

/// <summary>The incoming filters of a silo with locality.</summary>
public class CallFilterTests
{
    [Fact]
    public async Task Calls_pass_no_filter_if_no_class_of_the_silo_interleaves()
    {
        await using var cluster = await Clusters.StartAsync(1, static silo =>
        {
            silo.AddActOpLocality(Clusters.Quickly);
            silo.Configure<GrainTypeOptions>(static types => types.Classes.RemoveWhere(GrainKinds.MayInterleave));
        });
        Assert.Empty(cluster.PartOf<IEnumerable<IIncomingGrainCallFilter>>(0));
        await cluster.Client.GetGrain<ITalker>(1).Talk(2, 1);
    }

    [Fact]
    public async Task Filters_of_the_application_see_each_call_and_end_with_the_silo()
    {
        var counts = new FilterCounts();
        await using (var cluster = await Clusters.StartAsync(1, silo =>
        {
            silo.AddActOpLocality(Clusters.Quickly);
            silo.Services.AddSingleton(counts);
            silo.AddIncomingGrainCallFilter<CountingFilter>();
            silo.AddIncomingGrainCallFilter(context =>
            {
                if (context.Grain is Talker)
                    Interlocked.Increment(ref counts.SeenByDelegate);
                return context.Invoke();
            });
        }))
        {
            await cluster.Client.GetGrain<ITalker>(1).Talk(2, 3);
            Assert.IsType<RunningRequestsFilter>(cluster.PartOf<IEnumerable<IIncomingGrainCallFilter>>(0).First());
        }

        Assert.Equal(4, counts.Seen);
        Assert.Equal(4, counts.SeenByDelegate);
        Assert.Equal(1, counts.Disposed);
    }

    private sealed class FilterCounts
    {
        internal int Seen;
        internal int SeenByDelegate;
        internal int Disposed;
    }

    private sealed class CountingFilter(FilterCounts counts) : IIncomingGrainCallFilter, IDisposable
    {
        public Task Invoke(IIncomingGrainCallContext context)
        {
            if (context.Grain is Talker)
                Interlocked.Increment(ref counts.Seen);
            return context.Invoke();
        }

        public void Dispose() => counts.Disposed++;
    }
}
