using System.Collections.Concurrent;
using ActOp.TestClusters;

namespace ActOp.Border.Tests;

/// <summary>A caller whose context does not take its continuation, or takes it twice, gets its answer, and nobody else notices.</summary>
public class CallerContextTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task An_answer_reaches_a_caller_whose_context_refuses_it_or_runs_it_twice(int times)
    {
        foreach (var factory in new IGrainFactory[] { cluster.Client, cluster.ClientOf(0) })
        {
            using var gate = new Gate();
            var context = new Context(times);
            var resumed = 0;
            var calling = context.Start(async () =>
            {
                var answer = await factory.GetGrain<ILate>(gate.Name).Answer(gate.Name);
                Interlocked.Increment(ref resumed);
                return answer;
            });
            await gate.ArrivedAsync();
            gate.Open();
            Assert.Equal(gate.Name, await calling.WaitAsync(Gate.Patience));
            Assert.Equal(1, resumed);
            Assert.All(context.Threads, Assert.True);
        }
    }

    [Fact]
    public async Task A_caller_whose_context_refuses_the_timeout_does_not_keep_it_from_others()
    {
        using var gate = new Gate();
        var factory = cluster.ClientOf(0);
        var calling = Enumerable.Range(0, 8).Select(index => new Context(index % 2).Start(
            async () => await factory.GetGrain<ILate>(gate.Name + index).AnswerSoon(gate.Name))).ToArray();
        foreach (var call in calling)
            await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
        gate.Open();
        await cluster.Cluster.NothingInFlightAsync();
    }

    [Fact]
    public async Task A_scheduler_that_refuses_the_continuation_does_not_lose_the_answer()
    {
        using var gate = new Gate();
        var factory = cluster.ClientOf(0);
        var calling = Task.Factory.StartNew(
            async () => await factory.GetGrain<ILate>(gate.Name).Answer(gate.Name), CancellationToken.None, TaskCreationOptions.None,
            new OnceScheduler()).Unwrap();
        await gate.ArrivedAsync();
        gate.Open();
        Assert.Equal(gate.Name, await calling.WaitAsync(Gate.Patience));
    }

    public interface ILate : IGrainWithStringKey
    {
        ValueTask<string> Answer(string gate);

        [ResponseTimeout("00:00:00.5")]
        ValueTask<string> AnswerSoon(string gate);
    }

    public sealed class BorderLate : Grain, ILate
    {
        public async ValueTask<string> Answer(string gate)
        {
            await Gate.PassAsync(gate);
            return gate;
        }

        public ValueTask<string> AnswerSoon(string gate) => Answer(gate);
    }

    /// <summary>Runs what is posted so many times; throws if that is none, or more than once.</summary>
    private sealed class Context(int times) : SynchronizationContext
    {
        /// <summary>Whether the posts came from threads of the thread pool.</summary>
        internal ConcurrentQueue<bool> Threads { get; } = [];

        internal Task<T> Start<T>(Func<Task<T>> caller)
        {
            var outer = Current;
            SetSynchronizationContext(this);
            try
            {
                return caller();
            }
            finally
            {
                SetSynchronizationContext(outer);
            }
        }

        public override void Post(SendOrPostCallback d, object? state)
        {
            Threads.Enqueue(Thread.CurrentThread.IsThreadPoolThread);
            for (var time = 0; time < times; time++)
                d(state);
            if (times != 1)
                throw new InvalidOperationException("context");
        }
    }

    /// <summary>Runs its first task and refuses all others.</summary>
    private sealed class OnceScheduler : TaskScheduler
    {
        private int _tasks;

        protected override void QueueTask(Task task)
        {
            if (Interlocked.Increment(ref _tasks) > 1)
                throw new InvalidOperationException("scheduler");
            TryExecuteTask(task);
        }

        protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

        protected override IEnumerable<Task> GetScheduledTasks() => [];
    }
}
