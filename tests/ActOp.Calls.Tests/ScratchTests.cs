using System.Runtime.CompilerServices;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.TestClusters;
using ActOp.Wire;

namespace ActOp.Calls.Tests;

/// <summary>What a thread keeps of the message that it has written or read last.</summary>
public sealed class ScratchTests : IAsyncLifetime
{
    private const int Long = 2 << 20;

    private InProcessTestCluster _cluster = null!;

    private CallRuntime Runtime => _cluster.Silos[0].ServiceProvider.GetRequiredService<Node>().Calls;

    public async ValueTask InitializeAsync()
    {
        _cluster = new InProcessTestClusterBuilder(1).Build();
        await _cluster.DeployAsync();
    }

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public void A_long_message_that_was_written_is_given_up_with_its_objects()
    {
        Scratch scratch;
        var value = new object();
        using (scratch = Scratch.Rent(Runtime))
            Write(scratch, value, Long);
        Assert.Equal(0, scratch.Buffer.Length);
        Assert.InRange(scratch.Buffer.Array.Length, 1, Long / 2);
        Assert.True(scratch.Session.TryAddWritten(value, 1, out _));
    }

    [Fact]
    public void The_objects_of_a_long_message_that_was_read_are_given_up()
    {
        Scratch scratch;
        using (scratch = Scratch.Rent(Runtime, Long))
            scratch.Session.AddRead(1, new object());
        Assert.False(scratch.Session.TryGetRead(1, out _));
    }

    /// <summary>As when the reading of a request has run the turn, which has answered.</summary>
    [Fact]
    public void A_use_within_another_one_leaves_nothing_of_either()
    {
        Scratch inner, outer;
        var value = new object();
        using (outer = Scratch.Rent(Runtime, Long))
        {
            outer.Session.AddRead(1, value);
            using (inner = Scratch.Rent(Runtime))
                Write(inner, value, 10);
        }

        Assert.Same(outer, inner);
        Assert.False(outer.Session.TryGetRead(1, out _));
        Assert.InRange(outer.Buffer.Length, 0, 10);
    }

    /// <summary>Without an await: the caller's thread has made no other call when it looks.</summary>
    [Fact]
    public void Neither_caller_nor_silo_keep_what_a_local_call_has_copied()
    {
        var kept = Call(_cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IKeepsNothing>(1));
        Assert.Equal(4, kept.Count);
        // The silo's thread may not have ended its turn when the answer is here.
        Assert.True(PoolBatchTests.SpinUntil(() => AreGone(kept)));
    }

    private static bool AreGone(List<WeakReference> values)
    {
        GC.Collect();
        return !values.Exists(static one => one.IsAlive);
    }

    /// <summary>The arguments and the answer, on both sides.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static List<WeakReference> Call(IKeepsNothing grain)
    {
        var list = new List<string> { "one" };
        var answer = grain.Echo(list).GetAwaiter().GetResult();
        Assert.Equal(list, answer);
        return [new(list), new(answer), .. KeepsNothingGrain.Seen];
    }

    public interface IKeepsNothing : IGrainWithIntegerKey
    {
        Task<List<string>> Echo(List<string> list);
    }

    public sealed class KeepsNothingGrain : Grain, IKeepsNothing
    {
        internal static List<WeakReference> Seen { get; } = [];

        public Task<List<string>> Echo(List<string> list)
        {
            List<string> answer = [.. list];
            Seen.AddRange([new(list), new(answer)]);
            return Task.FromResult(answer);
        }
    }

    private static void Write(Scratch scratch, object value, int bytes)
    {
        var writer = new WireWriter(scratch.Buffer, scratch.Session);
        Assert.True(scratch.Session.TryAddWritten(value, 0, out _));
        writer.WriteRaw(new byte[bytes]);
        writer.Commit();
    }
}
