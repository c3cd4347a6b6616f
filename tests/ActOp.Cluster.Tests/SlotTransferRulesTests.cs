using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

/// <summary>The rules that rare schedules depend on, one by one.</summary>
public sealed class SlotTransferRulesTests
{
    private readonly RegistrationFence _fence = new();
    private readonly DirectoryPartition _first;
    private readonly SlotSet _toSecond = new();

    public SlotTransferRulesTests()
    {
        _first = new DirectoryPartition(Views.Silo(1), new DirectoryLimits(), new NoActivations(), _fence);
        _first.OnView(Views.Of(1, 1), 0);
        var map = new SlotMap(Views.Of(2, 1, 2));
        for (var slot = 0; slot < SlotMap.SlotCount; slot++)
        {
            if (Views.Silo(2).Equals(map.OwnerOf(slot)))
            {
                _toSecond.Add(slot);
            }
        }
    }

    [Fact]
    public void A_silo_in_another_view_reports_nothing_and_says_which()
    {
        _first.OnView(Views.Of(3, 1, 2), 0);

        var early = Ask(view: 2, recovery: true);
        var late = Ask(view: 4, recovery: true);

        Assert.Equal(3, early.View);
        Assert.Equal(3, late.View);
        Assert.Contains(_first.Actions, action => action is DirectoryAction.RefreshView { AtLeast: 4 });
        Assert.True(_fence.Accepts(_toSecond.Next(-1), 1));
        Assert.Equal(SlotState.Sealed, _first.StateOf(_toSecond.Next(-1)));
    }

    [Fact]
    public void A_report_fences_off_older_registrations_and_gives_up_what_was_sealed()
    {
        _first.OnView(Views.Of(2, 1, 2), 0);

        Ask(view: 2, recovery: true);

        var slot = _toSecond.Next(-1);
        Assert.False(_fence.Accepts(slot, 1));
        Assert.True(_fence.Accepts(slot, 2));
        Assert.Equal(_toSecond, Ask(view: 2, recovery: false).Missing);
    }

    [Fact]
    public void Sealed_slots_are_kept_while_their_new_owner_stays_the_same()
    {
        _first.OnView(Views.Of(2, 1, 2), 0);
        _first.OnView(new View(3, [Views.Active(1), Views.Active(2), Views.Dead(3, DeathCause.Graceful)]), 0);

        Assert.True(Ask(view: 3, recovery: false).Missing!.IsEmpty);
    }

    [Fact]
    public void Sealed_slots_are_given_to_nobody_else_and_dropped_when_another_becomes_the_owner()
    {
        _first.OnView(Views.Of(2, 1, 2), 0);
        Assert.Equal(_toSecond, Ask(view: 2, recovery: false, from: 4).Missing);

        _first.OnView(Views.Of(3, 1, 4), 0);

        Assert.DoesNotContain(Slots(), slot => _toSecond.Contains(slot) && _first.StateOf(slot) == SlotState.Sealed);
    }

    [Fact]
    public void A_slot_served_through_skipped_views_is_served_on()
    {
        _first.OnView(Views.Of(9, 1, 2), 0);

        Assert.All(Slots().Where(slot => !_toSecond.Contains(slot)), slot => Assert.Equal(SlotState.Ready, _first.StateOf(slot)));
    }

    [Fact]
    public void Sealed_slots_that_nobody_fetches_are_forgotten_in_the_end()
    {
        _first.OnView(Views.Of(2, 1, 2), 0);
        for (var now = 0L; now < 120_000; now += 1_000)
        {
            _first.OnTick(now);
        }

        _first.OnView(new View(3, [Views.Active(1), Views.Active(2), Views.Dead(3, DeathCause.Graceful)]), 120_000);
        for (var tick = 0; tick < 40; tick++)
        {
            _first.OnTick(120_001 + tick);
        }

        Assert.DoesNotContain(Slots(), slot => _first.StateOf(slot) == SlotState.Sealed);
    }

    [Fact]
    public void A_reply_of_an_older_view_or_a_stranger_opens_nothing()
    {
        var second = new DirectoryPartition(Views.Silo(2), new DirectoryLimits(), new NoActivations(), new RegistrationFence());
        second.OnView(Views.Of(1, 1), 0);
        second.OnView(Views.Of(2, 1, 2), 0);
        var request = second.Actions.OfType<DirectoryAction.SendRequest>().Single().Request;

        second.OnSlotReply(new SlotReply(request.Id, 1, Views.Silo(1), 1, 0, 1, []), 0);
        second.OnSlotReply(new SlotReply(request.Id, 1, Views.Silo(3), 2, 0, 1, []), 0);
        second.OnSlotReply(new SlotReply(request.Id + 1, 1, Views.Silo(1), 2, 0, 1, []), 0);
        Assert.Equal(SlotState.Waiting, second.StateOf(_toSecond.Next(-1)));

        second.OnSlotReply(new SlotReply(request.Id, 1, Views.Silo(1), 2, 0, 1, []), 0);
        Assert.Equal(SlotState.Ready, second.StateOf(_toSecond.Next(-1)));
    }

    [Fact]
    public void A_slot_lease_travels_with_the_slot()
    {
        var second = new DirectoryPartition(Views.Silo(2), new DirectoryLimits(), new NoActivations(), new RegistrationFence());
        second.OnView(Views.Of(1, 1), 0);
        second.OnView(Views.Of(2, 1, 2), 0);
        var request = second.Actions.OfType<DirectoryAction.SendRequest>().Single().Request;
        var grain = Enumerable.Range(0, 100).Select(i => GrainId.Create("g", i.ToString())).First(
            one => _toSecond.Contains(SlotMap.SlotOf(one)));

        var reply = new SlotReply(request.Id, 1, Views.Silo(1), 2, 0, 1, []) { Leases = [new SlotLease(SlotMap.SlotOf(grain), 700)] };
        second.OnSlotReply(reply, 100);

        Assert.Equal((DirectoryStatus.Leased, 700), (second.Lookup(grain).Status, second.Lookup(grain).RetryAfter));
        second.OnTick(800);
        Assert.Equal(DirectoryStatus.NotFound, second.Lookup(grain).Status);
    }

    private static IEnumerable<int> Slots() => Enumerable.Range(0, SlotMap.SlotCount);

    private SlotReply Ask(long view, bool recovery, int from = 2)
    {
        _first.OnSlotRequest(new SlotRequest(1, 1, Views.Silo(from), view, recovery, _toSecond), 0);
        return _first.Actions.OfType<DirectoryAction.SendReply>().Last().Reply;
    }
}
