using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using ActOp.TestClusters;

namespace ActOp.Faults.Tests.Membership;

/// <summary>The end of a lease is noticed by whoever wants to run a turn, not only by the next tick.</summary>
public class LeaseGateTests
{
    [Fact]
    public void The_first_turns_after_a_pause_longer_than_the_lease_wait_although_no_tick_has_come()
    {
        var time = new FakeClock();
        using var node = new NodeTime(time, static _ => { });
        using var clock = new Clock(node, static _ => { });
        var gate = new LeaseGate(clock);
        gate.Renew(1_000);
        Assert.False(gate.Holds);

        time.Advance(TimeSpan.FromSeconds(2));

        Assert.True(gate.Holds);
        Assert.False(gate.IsClosed);
        gate.Renew(3_000);
        Assert.False(gate.Holds);
    }

    [Fact]
    public void Without_a_lease_no_pause_is_too_long()
    {
        var time = new FakeClock();
        using var node = new NodeTime(time, static _ => { });
        using var clock = new Clock(node, static _ => { });
        var gate = new LeaseGate(clock);
        gate.Renew(long.MaxValue);

        time.Advance(TimeSpan.FromDays(1));

        Assert.False(gate.Holds);
    }
}
