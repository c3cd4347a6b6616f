using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using FsCheck;
using FsCheck.Fluent;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

public sealed class DirectoryPartitionTests
{
    private static readonly GrainId Grain = GrainId.Create("game", "1");

    [Fact]
    public void Registration_is_a_compare_and_swap_like_a_dictionary()
    {
        var step = from grain in Gen.Choose(0, 5)
                   from silo in Gen.Choose(1, 3)
                   from activation in Gen.Choose(1, 4)
                   from previous in Gen.Choose(0, 4)
                   from kind in Gen.Choose(0, 4)
                   select new Step(grain, silo, activation, previous, kind);
        var check = Prop.ForAll(step.ArrayOf().ToArbitrary(), MatchesOracle);
        Check.One(Config.QuickThrowOnFailure.WithMaxTest(400), check);
    }

    [Fact]
    public void Epochs_rise_with_every_registration_of_a_grain()
    {
        var partition = Alone();
        var last = 0L;
        for (var i = 1; i <= 20; i++)
        {
            var reply = partition.Register(new RegisterRequest(Grain, Views.Silo(1), Activation(i), i == 1 ? default : Activation(i - 1)));
            Assert.Equal(DirectoryStatus.Ok, reply.Status);
            Assert.True(reply.Location.Epoch > last);
            last = reply.Location.Epoch;
            partition.OnView(Views.Of(i + 1, 1), i);
        }
    }

    [Fact]
    public void A_silo_outside_the_view_cannot_register()
    {
        var reply = Alone().Register(new RegisterRequest(Grain, Views.Silo(9), Activation(1)));

        Assert.Equal(DirectoryStatus.UnknownSilo, reply.Status);
    }

    [Fact]
    public void A_slot_of_another_silo_is_refused_with_the_view()
    {
        var partition = Alone();
        partition.OnView(new View(5, [Views.Active(2)]), 0);

        var reply = partition.Lookup(Grain);

        Assert.Equal((DirectoryStatus.WrongOwner, 5L), (reply.Status, reply.View));
    }

    [Fact]
    public void A_new_owner_does_not_serve_before_the_hand_over()
    {
        var partition = new DirectoryPartition(Views.Silo(2), new DirectoryLimits(), new NoActivations(), new RegistrationFence());
        partition.OnView(Views.Of(1, 1), 0);
        partition.OnView(Views.Of(2, 2, 1), 0);

        var request = partition.Actions.OfType<DirectoryAction.SendRequest>().Single().Request;

        Assert.False(request.Recovery);
        Assert.Equal(SlotState.Waiting, partition.StateOf(request.Slots.Next(-1)));
    }

    [Fact]
    public void A_lost_request_is_sent_again_and_a_repeated_part_counts_once()
    {
        var old = Alone(new DirectoryLimits { EntriesPerPart = 3 });
        for (var i = 0; i < 200; i++)
        {
            old.Register(new RegisterRequest(GrainId.Create("g", i.ToString()), Views.Silo(1), Activation(i + 1)));
        }

        var next = new DirectoryPartition(Views.Silo(2), new DirectoryLimits(), new NoActivations(), new RegistrationFence());
        next.OnView(Views.Of(1, 1), 0);
        next.OnView(Views.Of(2, 1, 2), 0);
        next.Actions.Clear();
        next.OnTick(10_000);
        old.OnView(Views.Of(2, 1, 2), 0);
        old.OnSlotRequest(next.Actions.OfType<DirectoryAction.SendRequest>().Single().Request, 0);
        var replies = old.Actions.OfType<DirectoryAction.SendReply>().Select(action => action.Reply).Reverse().ToArray();

        Assert.True(replies.Length > 10);
        foreach (var reply in replies.SelectMany(reply => new[] { reply, reply }))
        {
            next.OnSlotReply(reply, 0);
        }

        Assert.Equal(200, old.Count + next.Count);
        next.Actions.OfType<DirectoryAction.SendAck>().ToList().ForEach(ack => old.OnSlotAck(ack.Ack));
        Assert.DoesNotContain(Enumerable.Range(0, SlotMap.SlotCount), slot => old.StateOf(slot) == SlotState.Sealed);
    }

    [Fact]
    public void A_dead_silos_grain_waits_for_the_lease_unless_its_successor_names_it()
    {
        var partition = Alone(peers: 2);
        partition.Register(new RegisterRequest(Grain, Views.Silo(2), Activation(1)));
        var moving = GrainId.Create("game", "2");
        partition.Register(new RegisterRequest(moving, Views.Silo(2), Activation(2)));
        partition.OnView(new View(9, [Views.Active(1), Views.Dead(2, DeathCause.Silent)]), 1_000);

        Assert.Equal(DirectoryStatus.Leased, partition.Register(new RegisterRequest(Grain, Views.Silo(1), Activation(3))).Status);
        Assert.Equal(
            DirectoryStatus.Ok, partition.Register(new RegisterRequest(moving, Views.Silo(1), Activation(4), Activation(2))).Status);
        partition.OnTick(31_001);
        Assert.Equal(DirectoryStatus.Ok, partition.Register(new RegisterRequest(Grain, Views.Silo(1), Activation(3))).Status);
    }

    /// <summary>Whoever names the registered activation knows that it runs no more, so it matters neither that it is dead nor how long.
    /// </summary>
    [Fact]
    public void The_successor_of_a_grain_whose_silo_has_crashed_registers_although_the_entry_would_be_removed()
    {
        var partition = Alone(peers: 2);
        partition.Register(new RegisterRequest(Grain, Views.Silo(2), Activation(1)));
        partition.OnView(new View(9, [Views.Active(1), Views.Dead(2, DeathCause.Refused)]), 1_000);

        Assert.Equal(
            DirectoryStatus.Ok, partition.Register(new RegisterRequest(Grain, Views.Silo(1), Activation(2), Activation(1))).Status);
    }

    [Fact]
    public void A_registration_that_is_given_back_is_that_of_the_one_before_again()
    {
        var partition = Alone(peers: 2);
        partition.Register(new RegisterRequest(Grain, Views.Silo(1), Activation(1)));
        partition.Register(new RegisterRequest(Grain, Views.Silo(2), Activation(2), Activation(1)));
        var back = new RegisterRequest(Grain, Views.Silo(1), Activation(1), Activation(2));

        Assert.Equal(DirectoryStatus.Ok, partition.Register(back).Status);
        Assert.Equal(DirectoryStatus.Ok, partition.Register(back).Status);
        Assert.Equal(Activation(1), partition.Lookup(Grain).Location.Activation);
        // Once another one has the grain, it stays there.
        partition.Register(new RegisterRequest(Grain, Views.Silo(1), Activation(3), Activation(1)));
        Assert.Equal(DirectoryStatus.Conflict, partition.Register(back).Status);
    }

    /// <summary>
    /// A migration under way is reported from both ends: the one that arrived has the state, and the one that leaves serves nothing any
    /// more.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Of_two_activations_found_in_recovery_the_newer_registration_stays(bool newerFirst)
    {
        var old = Alone(peers: 3);
        var partition = new DirectoryPartition(Views.Silo(1), new DirectoryLimits(), new NoActivations(), new RegistrationFence());
        partition.OnView(Views.Of(1, 1, 2, 3), 0);
        var request = partition.Actions.OfType<DirectoryAction.SendRequest>().First().Request;
        var grain = Enumerable.Range(0, 100).Select(i => GrainId.Create("g", i.ToString())).First(
            one => request.Slots.Contains(SlotMap.SlotOf(one)));
        var left = new Registration(grain, old.Register(new RegisterRequest(grain, Views.Silo(2), Activation(1))).Location);
        var arrived = new Registration(
            grain, old.Register(new RegisterRequest(grain, Views.Silo(3), Activation(2), Activation(1))).Location);
        foreach (var registration in newerFirst ? new[] { arrived, left } : [left, arrived])
        {
            partition.OnSlotReply(new SlotReply(request.Id, request.Attempt, registration.Location.Silo, 1, 0, 1, [registration]), 0);
        }

        Assert.Equal(arrived.Location, partition.Lookup(grain).Location);
        Assert.Equal(left, partition.Actions.OfType<DirectoryAction.Deactivate>().Single().Loser);
    }

    [Fact]
    public void A_lookup_and_a_cached_lookup_allocate_nothing()
    {
        var partition = Alone();
        partition.Register(new RegisterRequest(Grain, Views.Silo(1), Activation(1)));
        var cache = new LocationCache(100);
        cache.SetLocation(Grain, partition.Lookup(Grain).Location);
        Look(partition, cache, 1_000);

        var before = GC.GetAllocatedBytesForCurrentThread();
        Look(partition, cache, 10_000);

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    private static void Look(DirectoryPartition partition, LocationCache cache, int times)
    {
        for (var i = 0; i < times; i++)
        {
            partition.Lookup(Grain);
            cache.TryGet(Grain, out _);
        }
    }

    private static DirectoryPartition Alone(DirectoryLimits? limits = null, int peers = 1)
    {
        var partition = new DirectoryPartition(
            Views.Silo(1), limits ?? new DirectoryLimits(), new NoActivations(), new RegistrationFence());
        partition.OnView(Views.Of(1, 1), 0);
        if (peers > 1)
        {
            // The others are there but own nothing: they are on their way out.
            var leaving = Enumerable.Range(2, peers - 1).Select(n => Views.Active(n) with { Status = SiloStatus.ShuttingDown });
            partition.OnView(new View(2, leaving.Append(Views.Active(1))), 0);
        }

        return partition;
    }

    private static ActivationId Activation(int n) => n == 0 ? default : new ActivationId(new Guid(n, 0, 0, new byte[8]));

    private static bool MatchesOracle(Step[] steps)
    {
        var partition = Alone(peers: 3);
        var oracle = new Dictionary<int, (int Silo, int Activation)>();
        foreach (var step in steps)
        {
            var grain = GrainId.Create("g", step.Grain.ToString());
            var known = oracle.TryGetValue(step.Grain, out var held);
            DirectoryReply reply;
            DirectoryStatus expected;
            switch (step.Kind)
            {
                case 0:
                    reply = partition.Lookup(grain);
                    expected = known ? DirectoryStatus.Ok : DirectoryStatus.NotFound;
                    break;
                case 1:
                    reply = partition.Unregister(grain, Activation(step.Activation));
                    expected = known && held.Activation == step.Activation ? DirectoryStatus.Ok : DirectoryStatus.NotFound;
                    if (expected == DirectoryStatus.Ok)
                    {
                        oracle.Remove(step.Grain);
                        known = false;
                    }

                    break;
                default:
                    var previous = step.Previous == 0 ? default : Activation(step.Previous);
                    reply = partition.Register(new RegisterRequest(grain, Views.Silo(step.Silo), Activation(step.Activation), previous));
                    var same = known && held == (step.Silo, step.Activation);
                    var swaps = known ? held.Activation == step.Previous : step.Previous == 0;
                    expected = same || swaps ? DirectoryStatus.Ok : known ? DirectoryStatus.Conflict : DirectoryStatus.NotFound;
                    if (expected == DirectoryStatus.Ok)
                    {
                        oracle[step.Grain] = (step.Silo, step.Activation);
                        known = true;
                    }

                    break;
            }

            if (reply.Status != expected)
            {
                return false;
            }

            if (known && step.Kind != 1)
            {
                var (silo, activation) = oracle[step.Grain];
                if (!reply.Location.Silo.Equals(Views.Silo(silo)) || !reply.Location.Activation.Equals(Activation(activation)))
                {
                    return false;
                }
            }
        }

        return partition.Count == oracle.Count;
    }

    private sealed record Step(int Grain, int Silo, int Activation, int Previous, int Kind);
}
