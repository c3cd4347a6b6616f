using System.Collections.Concurrent;
using ActOp.Calls;
using Orleans.CodeGeneration;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Serialization.Tests;

/// <summary>The table of the calls in flight.</summary>
public class CallRegistryTests
{
    private readonly DirectRuntime _runtime = new(new object());

    private CallRegistry Registry => _runtime.Registry;

    [Fact]
    public void An_answer_to_an_earlier_use_of_a_slot_or_an_object_claims_nothing()
    {
        var call = NewCall();
        Assert.True(Registry.TryAdd(call));
        var first = call.Ticket;
        Assert.True(call.TryClaim(first));
        Assert.Null(Registry.FindCall(first));
        call.Recycle();
        Prepare(call, 10);
        Assert.True(Registry.TryAdd(call));
        // The same slot and the same object.
        Assert.Same(call, Registry.FindCall(first));
        Assert.NotEqual(first, call.Ticket);
        Assert.False(call.TryClaim(first));
        Assert.Equal(1, Registry.InFlight);
        Assert.True(call.TryClaim());
        Assert.False(call.TryClaim());
        Assert.Equal(0, Registry.InFlight);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(-1)]
    [InlineData(long.MaxValue)]
    [InlineData(long.MinValue)]
    public void Whatever_a_peer_sends_as_a_ticket_claims_nothing(long ticket)
    {
        var call = NewCall();
        Assert.True(Registry.TryAdd(call));
        for (var offset = -2L; offset <= 2; offset++)
            Assert.False(Registry.FindCall(unchecked(ticket + offset)) is { } found && found.TryClaim(unchecked(ticket + offset)));
        Assert.True(call.TryClaim());
        Assert.False(Registry.FindCall(ticket) is { } claimed && claimed.TryClaim(ticket));
    }

    [Fact]
    public void Calls_whose_time_is_over_are_read_and_no_others()
    {
        var calls = new List<Call>();
        for (var index = 0; index < 5_000; index++)
        {
            // Also one of each thousand that ends before those around it, and one that never does.
            var call = NewCall((index % 1_000) switch { 998 => 1, 999 => CallRegistry.NoDeadline, _ => 100 + index });
            Assert.True(Registry.TryAdd(call));
            calls.Add(call);
        }

        Assert.Empty(Registry.ReadExpired(0));
        Assert.Equal(5, EndExpired(1));
        for (var now = 100; now <= 5_200; now += 300)
        {
            EndExpired(now);
            Assert.All(calls, call => Assert.Equal(call.Deadline <= now, call.IsClaimed));
        }

        Assert.Equal(5, Registry.InFlight);
        Assert.All(Registry.Read(), left => Assert.Equal(CallRegistry.NoDeadline, left.Call.Deadline));
    }

    [Fact]
    public void A_closed_registry_takes_no_call_and_shows_those_that_it_has()
    {
        var kept = NewCall();
        Assert.True(Registry.TryAdd(kept));
        Registry.Close();
        var refused = NewCall();
        Assert.False(Registry.TryAdd(refused));
        Assert.False(refused.IsClaimed);
        Assert.True(refused.TryClaim());
        Assert.Same(kept, Assert.Single(Registry.Read()).Call);
        Assert.True(kept.TryClaim());
        Assert.Empty(Registry.Read());
    }

    [Fact]
    public void A_call_added_while_the_registry_closes_is_refused_or_found()
    {
        for (var round = 0; round < 300; round++)
        {
            var runtime = new DirectRuntime(new object());
            var taken = 0;
            using var start = new Barrier(3);
            var threads = Run(2, () =>
            {
                var mine = 0;
                Call call;
                start.SignalAndWait();
                do
                {
                    call = NewCall(runtime, CallRegistry.NoDeadline);
                    mine++;
                }
                while (runtime.Registry.TryAdd(call));
                Interlocked.Add(ref taken, mine - 1);
            });
            start.SignalAndWait();
            runtime.Registry.Close();
            var found = runtime.Registry.Read().Count(one => one.Call.TryClaim(one.Ticket));
            Join(threads);
            // A call that was found while its sender learned of the end counts as taken: whoever closes has ended it.
            Assert.Equal(taken, found);
            Assert.Equal(0, runtime.Registry.InFlight);
        }
    }

    /// <summary>Threads send, others answer, one ends what is late: each call is ended once, and none is forgotten.</summary>
    [Fact]
    public void Every_call_is_ended_once_whoever_ends_it()
    {
        const int Calls = 200_000;
        var clock = 0L;
        var sent = new ConcurrentQueue<(Call Call, long Ticket)>();
        var ended = 0;
        var senders = Run(2, () =>
        {
            for (var index = 0; index < Calls; index++)
            {
                var call = NewCall(Volatile.Read(ref clock) + (index % 7));
                Assert.True(Registry.TryAdd(call));
                if (index % 3 != 0)
                    sent.Enqueue((call, call.Ticket));
            }
        });
        var isOver = false;
        var answering = Run(1, () =>
        {
            while (!Volatile.Read(ref isOver))
            {
                while (sent.TryDequeue(out var one))
                {
                    if (one.Ticket != 0 && one.Call.TryClaim(one.Ticket))
                        Interlocked.Increment(ref ended);
                }
            }
        });
        while (senders.Any(thread => thread.IsAlive))
            Interlocked.Add(ref ended, EndExpired(Interlocked.Increment(ref clock)));
        Join(senders);
        Interlocked.Add(ref ended, EndExpired(clock + 10));
        Volatile.Write(ref isOver, true);
        Join(answering);
        Assert.Equal(2 * Calls, ended);
        Assert.Equal(0, Registry.InFlight);
    }

    [Fact]
    public void Threads_that_end_leave_their_slots_to_others()
    {
        for (var round = 0; round < 40; round++)
        {
            Join(Run(50, () =>
            {
                var call = NewCall();
                Assert.True(Registry.TryAdd(call));
                Assert.True(call.TryClaim());
            }));
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        // 2,000 threads had one magazine of 64 each.
        Assert.InRange(Registry.Capacity, 64, 500 * 64);
    }

    [Fact]
    public void A_thread_that_sends_for_several_nodes_in_turn_needs_no_more_slots()
    {
        var other = new DirectRuntime(new object());
        for (var round = 0; round < 10_000; round++)
        {
            foreach (var runtime in new[] { _runtime, other })
            {
                var call = NewCall(runtime, 1);
                Assert.True(runtime.Registry.TryAdd(call));
                Assert.True(call.TryClaim());
            }
        }

        Assert.InRange(Registry.Capacity, 64, 128);
        Assert.InRange(other.Registry.Capacity, 64, 128);
    }

    private static Thread[] Run(int count, Action body)
    {
        var threads = new Thread[count];
        for (var index = 0; index < count; index++)
        {
            threads[index] = new Thread(() => body());
            threads[index].Start();
        }

        return threads;
    }

    private static void Join(Thread[] threads)
    {
        foreach (var thread in threads)
            Assert.True(thread.Join(TimeSpan.FromMinutes(1)));
    }

    private int EndExpired(long now) => Registry.ReadExpired(now).Count(one => one.Call.TryClaim(one.Ticket));

    private PlainCall NewCall(long deadline = 1) => NewCall(_runtime, deadline);

    private static PlainCall NewCall(CallRuntime runtime, long deadline)
    {
        var call = new PlainCall { Runtime = runtime };
        call.Deadline = deadline;
        return call;
    }

    private void Prepare(Call call, long deadline)
    {
        call.Runtime = _runtime;
        call.Deadline = deadline;
    }

    private sealed class PlainCall : VoidRequest
    {
        private static readonly CallMethod Plain = new(
            typeof(IDisposable), "IPlain", "Plain", 0, InvokeMethodOptions.None, null, static () =>
                typeof(IDisposable).GetMethod("Dispose")!);

        public override CallMethod Method => Plain;

        public override object? GetTarget() => null;

        public override void SetTarget(ITargetHolder holder)
        {
        }

        public override void Recycle() => ResetForReuse();

        protected override void InvokeInner()
        {
        }
    }
}
