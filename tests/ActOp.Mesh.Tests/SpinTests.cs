using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Tcp;
using ActOp.TestClusters;

namespace ActOp.Mesh.Tests;

/// <summary>When a poller looks instead of sleeping, counted in sleeps and looks; the clock moves by what each of them takes.</summary>
public class SpinTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMicroseconds(30);
    private static readonly TimeSpan Long = TimeSpan.FromMilliseconds(5);

    private readonly Ready[] _reports = new Ready[4];
    private readonly FakeClock _clock = new();
    private readonly Waited _waited;
    private readonly Spin _spin;

    public SpinTests()
    {
        _waited = new Waited(_clock);
        _spin = new Spin(_waited, _clock, TimeSpan.FromMicroseconds(50));
    }

    [Fact]
    public void A_poller_spins_after_short_sleeps_in_a_row()
    {
        Sleep(Short, Spin.ShortSleeps);
        Assert.Equal(0, _spin.Looks);

        Assert.Equal(1, FindAfter(looks: 7));

        Assert.Equal((Spin.ShortSleeps, 7, 1), (_spin.Sleeps, _spin.Looks, _spin.Found));
    }

    [Fact]
    public void A_poller_that_finds_something_goes_on_spinning()
    {
        Sleep(Short, Spin.ShortSleeps);

        for (var i = 0; i < 100; i++)
        {
            FindAfter(looks: 3);
        }

        Assert.Equal((Spin.ShortSleeps, 100), (_spin.Sleeps, _spin.Found));
    }

    [Fact]
    public void Long_sleeps_are_never_spun_for()
    {
        for (var i = 0; i < 100; i++)
        {
            Sleep(Short, Spin.ShortSleeps - 1);
            Sleep(Long, 1);
        }

        Assert.Equal(0, _spin.Looks);
    }

    [Fact]
    public void A_spin_ends_when_its_time_is_over_and_short_sleeps_must_come_before_the_next()
    {
        Sleep(Short, Spin.ShortSleeps);
        Sleep(Short, 1);
        // A microsecond each.
        Assert.Equal(50, _spin.Looks);

        Sleep(Short, Spin.ShortSleeps - 1);
        Assert.Equal(50, _spin.Looks);

        FindAfter(looks: 1);
        Assert.Equal(1, _spin.Found);
    }

    [Fact]
    public void A_node_that_is_called_now_and_then_spins_for_none_of_it()
    {
        Sleep(Short, Spin.ShortSleeps);
        Sleep(Long, 1);
        var looks = _spin.Looks;

        Sleep(Long, 1000);

        Assert.Equal(looks, _spin.Looks);
    }

    [Fact]
    public void A_spin_ends_when_another_thread_takes_the_processor_and_more_sleeps_come_first_each_time()
    {
        Sleep(Short, Spin.ShortSleeps);
        _waited.Look = Short;
        for (var sleeps = Spin.SleepsIfTaken; sleeps <= Spin.MostSleepsIfTaken; sleeps *= 2)
        {
            var looks = _spin.Looks;
            // One look, and its thread is back after the other's turn.
            Sleep(Short, sleeps);
            Assert.Equal(looks + 1, _spin.Looks);
        }
    }

    [Fact]
    public void A_clock_that_stands_still_does_not_keep_a_spin_going()
    {
        _waited.Look = TimeSpan.Zero;
        Sleep(TimeSpan.Zero, Spin.ShortSleeps + 1);

        Assert.Equal(Spin.MostLooks, _spin.Looks);
        Assert.Equal(Spin.ShortSleeps + 1, _spin.Sleeps);
    }

    [Fact]
    public void A_wake_ends_a_spin()
    {
        Sleep(Short, Spin.ShortSleeps);
        _waited.Finds = 0;

        Assert.Equal(0, FindAfter(looks: 2));

        Assert.Equal(Spin.ShortSleeps, _spin.Sleeps);
    }

    /// <summary>Else work that was posted while a poller spins would wait for the next bytes.</summary>
    [Fact]
    public void A_look_at_sockets_tells_a_wake_from_nothing()
    {
        using var sockets = new TcpTransport(new TcpOptions(), _clock).CreateReadiness();
        Assert.SkipUnless(sockets.CanLook, "Only with epoll.");
        Assert.False(sockets.TryLook(_reports, out _));

        sockets.Wake();

        Assert.True(sockets.TryLook(_reports, out var found));
        Assert.Equal(0, found);
        Assert.False(sockets.TryLook(_reports, out _));
    }

    [Fact]
    public void Looking_once_is_no_sleep()
    {
        for (var i = 0; i < 100; i++)
        {
            _waited.Sleep = TimeSpan.Zero;
            _spin.Wait(_reports, 0);
        }

        Assert.Equal((0, 0), (_spin.Sleeps, _spin.Looks));
    }

    [Fact]
    public void A_set_that_cannot_look_and_a_spin_without_length_always_sleep()
    {
        foreach (var spin in (Spin[])[new(new Waited(_clock) { MayLook = false }, _clock, Short), new(_waited, _clock, TimeSpan.Zero)])
        {
            for (var i = 0; i < 100; i++)
            {
                spin.Wait(_reports, -1);
            }

            Assert.Equal(0, spin.Looks);
        }
    }

    private void Sleep(TimeSpan length, int times)
    {
        _waited.Sleep = length;
        _waited.LooksUntilFound = int.MaxValue;
        for (var i = 0; i < times; i++)
        {
            Assert.Equal(1, _spin.Wait(_reports, -1));
        }
    }

    private int FindAfter(int looks)
    {
        _waited.LooksUntilFound = looks;
        return _spin.Wait(_reports, -1);
    }

    /// <summary>Sleeps and looks that take the time they are told.</summary>
    private sealed class Waited(FakeClock clock) : Readiness
    {
        public TimeSpan Sleep { get; set; }

        public TimeSpan Look { get; set; } = TimeSpan.FromMicroseconds(1);

        public int LooksUntilFound { get; set; }

        public int Finds { get; set; } = 1;

        public bool MayLook { get; init; } = true;

        public override bool CanLook => MayLook;

        public override int Wait(Span<Ready> reports, int timeoutMs)
        {
            clock.Advance(Sleep);
            return 1;
        }

        public override bool TryLook(Span<Ready> reports, out int found)
        {
            clock.Advance(Look);
            found = Finds;
            return --LooksUntilFound == 0;
        }

        public override void Add(ByteStream stream) => throw new NotSupportedException();

        public override void Remove(ByteStream stream) => throw new NotSupportedException();

        public override void Wake() => throw new NotSupportedException();

        public override void Dispose()
        {
        }
    }
}
