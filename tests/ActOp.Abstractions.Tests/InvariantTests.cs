using ActOp.Calls;

namespace ActOp.Abstractions.Tests;

/// <summary>A check that fails is told before anybody can hide it.</summary>
public sealed class InvariantTests : IDisposable
{
    private readonly List<string> _told = [];

    public InvariantTests() => AppContext.SetData(Invariant.Handler, (Action<string>)_told.Add);

    public void Dispose() => AppContext.SetData(Invariant.Handler, null);

    [Fact]
    public void Tests_run_with_checks() => Assert.True(Invariant.AreChecked);

    [Fact]
    public void A_check_that_fails_is_told_and_thrown_with_its_text_and_place()
    {
        var (one, two) = (1, 2);
        Invariant.Holds(one < two);
        Assert.Empty(_told);
        var failure = Assert.ThrowsAny<Exception>(() => Invariant.Holds(one == two));
        Assert.Equal([failure.Message], _told);
        Assert.Matches(@"one == two \(InvariantTests\.cs:\d+\)", failure.Message);
    }

    [Fact]
    public void A_lock_is_seen_only_by_the_thread_that_has_it()
    {
        Lock gate = new();
        object monitor = new();
        Invariant.NotHeld(gate);
        lock (gate)
            Invariant.Held(gate);
        lock (monitor)
            Invariant.Entered(monitor);
        Assert.Empty(_told);
        Assert.ThrowsAny<Exception>(() => Invariant.Held(gate));
        Assert.ThrowsAny<Exception>(() => Invariant.Entered(monitor));
        using (gate.EnterScope())
            Assert.ThrowsAny<Exception>(() => Invariant.NotHeld(gate));
        Assert.Equal(3, _told.Count);
    }

    /// <summary>A check of the runtime itself, behind a border that would log an exception.</summary>
    [Fact]
    public void A_border_that_catches_everything_does_not_hide_it()
    {
        var registry = new CallRegistry();
        try
        {
            // A ticket that nobody has taken.
            registry.Remove(7);
        }
        catch (Exception)
        {
            // As a border does.
        }

        Assert.Contains("ticket >= NextUse", Assert.Single(_told), StringComparison.Ordinal);
    }
}
