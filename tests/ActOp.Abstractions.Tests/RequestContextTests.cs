using ActOp.Calls;
using Orleans.Core.Internal;
using Orleans.Runtime;

namespace ActOp.Abstractions.Tests;

public class RequestContextTests
{
    [Fact]
    public async Task Values_flow_down_and_never_back()
    {
        RequestContext.Set("a", 1);
        await Callee();
        Assert.Equal(1, RequestContext.Get("a"));
        Assert.Null(RequestContext.Get("b"));

        static async Task Callee()
        {
            await Task.Yield();
            Assert.Equal(1, RequestContext.Get("a"));
            RequestContext.Set("a", 2);
            RequestContext.Set("b", 3);
            Assert.Equal(["a", "b"], RequestContext.Keys.Order());
        }
    }

    [Fact]
    public void A_shared_set_of_values_is_never_changed()
    {
        RequestContext.Set("a", 1);
        var shared = RequestContext.Current!;
        RequestContext.Set("b", 2);
        RequestContext.Remove("a");
        Assert.Equal(1, shared.Values!["a"]);
        Assert.Single(shared.Values);
        Assert.Equal([new KeyValuePair<string, object>("b", 2)], RequestContext.Entries);
    }

    [Fact]
    public void Removing_the_last_value_leaves_nothing_to_carry()
    {
        RequestContext.Set("a", 1);
        Assert.True(RequestContext.Remove("a"));
        Assert.False(RequestContext.Remove("a"));
        Assert.Null(RequestContext.Current);
        RequestContext.Set("a", 1);
        RequestContext.Clear();
        Assert.Null(RequestContext.Current);
        Assert.Empty(RequestContext.Entries);
    }

    [Fact]
    public void Setting_nothing_over_nothing_allocates_nothing()
    {
        RequestContext.Set("a", 1);
        RequestContext.Clear();
        RequestContext.Current = null;
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 100; i++)
        {
            RequestContext.Current = null;
            _ = RequestContext.Current;
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    [Fact]
    public void A_reentrant_section_is_entered_and_left_on_the_activation()
    {
        var host = new Host();
        CallHost.Current = host;
        try
        {
            Guid outer;
            using (RequestContext.AllowCallChainReentrancy())
            {
                outer = RequestContext.ReentrancyId;
                Assert.NotEqual(Guid.Empty, outer);
                using (RequestContext.AllowCallChainReentrancy())
                    Assert.Equal(2, host.Open[outer]);
                using (RequestContext.SuppressCallChainReentrancy())
                    Assert.Equal(Guid.Empty, RequestContext.ReentrancyId);
                Assert.Equal(outer, RequestContext.ReentrancyId);
                CallHost.Current = null;
            }

            Assert.Equal(0, host.Open[outer]);
            Assert.Equal(Guid.Empty, RequestContext.ReentrancyId);
            Assert.Null(RequestContext.Current);
        }
        finally
        {
            CallHost.Current = null;
        }
    }

    private sealed class Host : CallHost, ICallChainReentrantGrainContext
    {
        internal Dictionary<Guid, int> Open { get; } = [];

        internal override GrainId HostId => default;

        public void OnEnterReentrantSection(Guid reentrancyId) => Open[reentrancyId] = Open.GetValueOrDefault(reentrancyId) + 1;

        public void OnExitReentrantSection(Guid reentrancyId) => Open[reentrancyId]--;

        internal override void Enqueue(MailboxItem item) => throw new InvalidOperationException();

        internal override void FinishInTurn(Call call) => throw new InvalidOperationException();

        internal override void CancelInTurn(CallCancellation cancellation) => throw new InvalidOperationException();

        protected override IEnumerable<Task>? GetScheduledTasks() => null;

        protected override void QueueTask(Task task) => throw new InvalidOperationException();

        protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => throw new InvalidOperationException();
    }
}
