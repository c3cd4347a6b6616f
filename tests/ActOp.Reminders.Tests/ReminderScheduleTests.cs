using System.Net;
using ActOp.Reminders;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;

namespace ActOp.Reminders.Tests;

/// <summary>When ticks are due, and who sends them: the parts without a cluster.</summary>
public class ReminderScheduleTests
{
    private static readonly DateTime Start = new(2030, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    [Fact]
    public void Ticks_are_due_at_the_start_and_after_whole_periods_from_it()
    {
        var entry = Entry("a", TimeSpan.Zero);
        Assert.Equal(At(0), ReminderSchedule.DueAfter(entry, At(0) - 1));
        Assert.Equal(At(1), ReminderSchedule.DueAfter(entry, At(0)));
        Assert.Equal(At(7), ReminderSchedule.DueAfter(entry, At(7) - 1));
        Assert.Equal(At(8), ReminderSchedule.DueAfter(entry, At(7)));
    }

    [Fact]
    public void Ticks_come_in_order_and_those_that_were_missed_are_not_made_up_for()
    {
        var schedule = new ReminderSchedule(TimeSpan.FromHours(1));
        schedule.Schedule(Entry("late", TimeSpan.FromSeconds(30)), At(0), At(0), 0);
        schedule.Schedule(Entry("early", TimeSpan.FromSeconds(10)), At(0), At(0), 0);
        Assert.Null(schedule.TakeDue(At(0), out _));
        Assert.Equal("early", schedule.TakeDue(At(5), out var due)!.Entry.ReminderName);
        Assert.Equal(At(0) + TimeSpan.FromSeconds(10).Ticks, due);
        Assert.Equal("late", schedule.TakeDue(At(5), out _)!.Entry.ReminderName);
        Assert.Null(schedule.TakeDue(At(5), out _));
        Assert.Equal(At(5) + TimeSpan.FromSeconds(10).Ticks, schedule.NextDue);
    }

    [Fact]
    public void What_is_due_after_the_window_is_not_kept()
    {
        var schedule = new ReminderSchedule(TimeSpan.FromMinutes(10));
        schedule.Schedule(Entry("far", TimeSpan.FromMinutes(11)), At(0), At(0), 0);
        schedule.Schedule(Entry("near", TimeSpan.FromMinutes(9), periodMinutes: 20), At(0), At(0), 0);
        Assert.Equal(1, schedule.Count);
        var near = schedule.TakeDue(At(9), out _)!;
        Assert.Equal("near", near.Entry.ReminderName);
        // Its next tick is too far away, too; but until the next read, what is not in memory counts as not sent.
        Assert.Equal(1, schedule.Count);
        schedule.Keep(near, isHeld: true, At(10), 1);
        Assert.Equal(1, schedule.Count);
        schedule.Keep(near, isHeld: false, At(10), 2);
        Assert.Equal(0, schedule.Count);
        Assert.Null(schedule.NextDue);
    }

    [Fact]
    public void A_replaced_reminder_has_one_place_and_the_queue_does_not_grow()
    {
        var schedule = new ReminderSchedule(TimeSpan.FromHours(1));
        for (var round = 0; round < 100_000; round++)
            schedule.Schedule(Entry("a", TimeSpan.FromSeconds(1 + (round % 7))), At(0), At(0), 0);
        Assert.Equal(1, schedule.Count);
        Assert.InRange(schedule.Queued, 1, 1100);
        Assert.NotNull(schedule.TakeDue(At(1) - 1, out _));
        Assert.Null(schedule.TakeDue(At(1) - 1, out _));
        schedule.Remove(
            GrainId.Create("test", "1"), "a", Orleans.Reminders.Diagnostics.ReminderEvents.LocalReminderStopReason.Unregistered);
        Assert.Null(schedule.TakeDue(At(30), out _));
    }

    /// <summary>
    /// Silos come, leave and die, and learn of it at different times. At each moment a slot's ticks are sent by one silo at most, and while
    /// nobody dies by exactly one.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_slot_passes_from_silo_to_silo_without_a_gap_and_without_an_overlap(int seed)
    {
        var play = new SlotPlay(new Random(seed));
        for (var round = 0; round < 60; round++)
            play.ChangeView();
        play.Check();
    }

    /// <summary>Views follow each other so quickly that an owner loses a slot before it knows when the one before it has stopped.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    public void A_slot_passes_over_silos_that_had_it_for_a_moment_only(int seed)
    {
        var play = new SlotPlay(new Random(seed));
        for (var round = 0; round < 40; round++)
            play.ChangeViews(2 + (round % 3));
        play.Check();
    }

    /// <summary>A silo that joins gets slots of one that says nothing, and then of another one.</summary>
    [Fact]
    public void The_wait_for_the_owner_before_ends_for_each_slot_when_its_time_is_over()
    {
        SiloAddress[] silos = [.. Enumerable.Range(1, 3).Select(static number => SiloAddress.New(IPAddress.Loopback, 1000 + number, number))];
        var slots = new ReminderSlots(silos[2]);
        var wait = ReminderSlots.LongestWait.Ticks;
        Assert.Null(slots.AwaitedUntil);
        slots.OnView(NewView(1, silos[..2]), 100);
        Assert.Null(slots.AwaitedUntil);
        slots.OnView(NewView(2, silos), 200);
        var first = Enumerable.Range(0, SlotMap.SlotCount).Where(slots.IsAwaited).ToArray();
        Assert.NotEmpty(first);
        Assert.Equal(200 + wait, slots.AwaitedUntil);
        // Of the second silo, which leaves in order, it gets more.
        slots.OnView(NewView(3, [silos[0], silos[2]], silos[1]), 300);
        Assert.Equal(200 + wait, slots.AwaitedUntil);
        slots.OnTick(200 + wait - 1);
        Assert.All(first, slot => Assert.True(slots.IsAwaited(slot)));
        slots.OnTick(200 + wait);
        Assert.DoesNotContain(first, slots.IsAwaited);
        Assert.Equal(300 + wait, slots.AwaitedUntil);
        slots.OnTick(300 + wait);
        Assert.Null(slots.AwaitedUntil);
        Assert.False(slots.IsAwaiting);
    }

    private static View NewView(int number, SiloAddress[] active, SiloAddress? leaving = null) => new(number,
        [.. active.Select(static silo => SlotPlay.NewMember(silo, SiloStatus.Active)),
            .. leaving is null ? [] : new[] { SlotPlay.NewMember(leaving, SiloStatus.ShuttingDown) }]);

    private static ReminderEntry Entry(string name, TimeSpan due, int periodMinutes = 1) => new()
    {
        GrainId = GrainId.Create("test", "1"),
        ReminderName = name,
        StartAt = Start + due,
        Period = TimeSpan.FromMinutes(periodMinutes),
        ETag = "1",
    };

    private static long At(int minutes) => (Start + TimeSpan.FromMinutes(minutes)).Ticks;

    /// <summary>
    /// Some silos and their messages. Each silo's ticks of a slot are a span of time that ends where the next one's begins.
    /// </summary>
    private sealed class SlotPlay(Random random)
    {
        private readonly Dictionary<SiloAddress, ReminderSlots> _silos = [];
        private readonly List<(int Slot, long From, long To)> _spans = [];
        private readonly Dictionary<(SiloAddress, int), long> _begun = [];
        private readonly int[] _slots = [.. Enumerable.Range(0, 40).Select(_ => random.Next(SlotMap.SlotCount))];
        private List<SiloAddress> _active = [];
        private View _view = View.Empty;
        private long _now = 1_000_000_000;
        private int _number;
        private int _generation;

        internal void ChangeView()
        {
            var leaving = _active.Count > 2 && random.Next(2) == 0 ? _active[random.Next(_active.Count)] : null;
            if (leaving is null)
                _active.Add(SiloAddress.New(IPAddress.Loopback, 1000 + _generation, ++_generation));
            _active = [.. _active.Where(silo => !silo.Equals(leaving))];
            var view = new View(++_number, [.. _active.Select(silo => NewMember(silo, SiloStatus.Active)),
                .. leaving is null ? [] : new[] { NewMember(leaving, SiloStatus.ShuttingDown) }]);
            foreach (var silo in _active.Where(silo => !_silos.ContainsKey(silo)).ToArray())
            {
                // While it joins, it sees the view of the others.
                _silos.Add(silo, new ReminderSlots(silo));
                _silos[silo].OnView(_view, _now);
            }

            _view = view;
            var messages = new List<(SiloAddress To, ReminderRelease Release)>();
            // In any order, with time between, and the messages before or after the view of their receiver.
            foreach (var silo in _silos.Keys.OrderBy(_ => random.Next()).ToArray())
            {
                _now += random.Next(1, 1000);
                var before = _slots.Where(_silos[silo].IsReady).ToArray();
                messages.AddRange(_silos[silo].OnView(view, _now));
                foreach (var slot in before.Where(slot => !_silos[silo].Owns(slot)))
                    End(silo, slot);
                if (random.Next(2) == 0)
                    Deliver(messages);
                Read(silo);
            }

            Deliver(messages);
            foreach (var silo in _active)
                Read(silo);
            if (leaving is not null)
                _silos.Remove(leaving);
        }

        /// <summary>Several views, of which each silo sees all in order, and at times of its own.</summary>
        internal void ChangeViews(int count)
        {
            var leaving = _active.Count > 3 && random.Next(2) == 0 ? _active[random.Next(_active.Count)] : null;
            List<View> views = [];
            for (var next = 0; next < count; next++)
            {
                if (next == 0 && leaving is not null)
                    _active = [.. _active.Where(silo => !silo.Equals(leaving))];
                else
                    _active = [.. _active, SiloAddress.New(IPAddress.Loopback, 1000 + _generation, ++_generation)];
                views.Add(new View(++_number, [.. _active.Select(silo => NewMember(silo, SiloStatus.Active)),
                    .. leaving is null ? [] : new[] { NewMember(leaving, SiloStatus.ShuttingDown) }]));
            }

            foreach (var silo in _active.Where(silo => !_silos.ContainsKey(silo)).ToArray())
            {
                _silos.Add(silo, new ReminderSlots(silo));
                _silos[silo].OnView(_view, _now);
            }

            _view = views[^1];
            var pending = _silos.Keys.ToDictionary(static silo => silo, _ => new Queue<View>(views));
            var messages = new List<(SiloAddress To, ReminderRelease Release)>();
            while (pending.Count > 0 || messages.Count > 0)
            {
                _now += random.Next(1, 1000);
                if (messages.Count > 0 && (pending.Count == 0 || random.Next(3) == 0))
                {
                    var (to, release) = messages[random.Next(messages.Count)];
                    messages.Remove((to, release));
                    messages.AddRange(_silos[to].OnRelease(release, _now));
                    Read(to);
                    continue;
                }

                var silo = pending.Keys.ElementAt(random.Next(pending.Count));
                var before = _slots.Where(_silos[silo].IsReady).ToArray();
                messages.AddRange(_silos[silo].OnView(pending[silo].Dequeue(), _now));
                foreach (var slot in before.Where(slot => !_silos[silo].Owns(slot)))
                    End(silo, slot);
                Read(silo);
                if (pending[silo].Count == 0)
                    pending.Remove(silo);
            }

            if (leaving is not null)
                _silos.Remove(leaving);
        }

        internal void Check()
        {
            foreach (var silo in _silos.Keys)
            {
                foreach (var slot in _slots.Where(_silos[silo].IsReady))
                    End(silo, slot);
            }

            foreach (var slot in _slots.Distinct())
            {
                var spans = _spans.Where(span => span.Slot == slot).OrderBy(static span => span.From).Distinct().ToArray();
                Assert.NotEmpty(spans);
                for (var next = 1; next < spans.Length; next++)
                    Assert.Equal(spans[next - 1].To, spans[next].From);
                Assert.Equal(_now, spans[^1].To);
            }
        }

        internal static Member NewMember(SiloAddress silo, SiloStatus status) => new(silo, "silo", status, null, default);

        private void Deliver(List<(SiloAddress To, ReminderRelease Release)> messages)
        {
            for (var next = 0; next < messages.Count; next++)
                messages.AddRange(_silos[messages[next].To].OnRelease(messages[next].Release, _now));
            messages.Clear();
        }

        private void Read(SiloAddress silo)
        {
            var slots = _silos[silo];
            var loading = _slots.Where(slot => slots.Owns(slot) && !slots.IsReady(slot)).ToArray();
            slots.OnRead(slots.Readable());
            foreach (var slot in loading.Where(slots.IsReady))
                _begun.TryAdd((silo, slot), slots.SinceOf(slot));
        }

        private void End(SiloAddress silo, int slot)
        {
            if (_begun.Remove((silo, slot), out var from))
                _spans.Add((slot, from, _now));
        }
    }
}
