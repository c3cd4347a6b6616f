using ActOp.Harness.Load;
using HaloPresence.Bench.States;

namespace HaloPresence.Tests;

/// <summary>The check of the storage experiment finds what it looks for.</summary>
public sealed class LedgerTests
{
    private static readonly CancellationToken Cancellation = TestContext.Current.CancellationToken;

    [Fact]
    public async Task Values_that_rise_by_one_activation_after_the_other_are_right()
    {
        var load = await AddAsync((1, "a"), (2, "a"), (4, "b"), (5, "b"));
        Assert.Equal((4, 0, 0, 0), Numbers(load.Judge()));
    }

    [Fact]
    public async Task A_write_after_which_an_acknowledged_value_is_gone_is_a_loss()
    {
        var load = await AddAsync((1, "a"), (2, "a"), (2, "b"));
        Assert.Equal((3, 1, 1, 0), Numbers(load.Judge()));
    }

    [Fact]
    public async Task A_record_that_is_older_than_what_was_acknowledged_is_a_loss()
    {
        var ledger = new Fake((1, "a"), (2, "a"), (1, "b"));
        var load = Load(ledger);
        await load.AddAsync(0);
        await load.AddAsync(0);
        Assert.Equal(2, await load.ReloadAllAsync(Cancellation));
        Assert.Equal(1, load.Judge().Lost);
    }

    [Fact]
    public async Task Two_activations_that_write_in_turn_are_seen()
    {
        var load = await AddAsync((1, "a"), (2, "b"), (3, "a"));
        Assert.Equal((3, 0, 0, 1), Numbers(load.Judge()));
    }

    [Fact]
    public async Task An_error_is_noted_with_the_error_inside()
    {
        var load = Load(new Fake());
        await load.AddAsync(0);
        Assert.Equal("OrleansException(IOException)", Assert.Single(load.Take()).Error);
        Assert.Equal(0, load.Judge().Acknowledged);
    }

    [Theory]
    [InlineData("all", 7)]
    [InlineData("kill,fullFiles", 2)]
    [InlineData("kill,none", null)]
    public void Faults_are_chosen_by_their_names(string list, int? count) => Assert.Equal(count, LedgerReport.Parse(list)?.Length);

    private static async Task<LedgerLoad> AddAsync(params (long, string)[] entries)
    {
        var load = Load(new Fake(entries));
        foreach (var _ in entries)
            await load.AddAsync(0);
        return load;
    }

    private static LedgerLoad Load(Fake ledger) =>
        new((files, _) => files ? new Fake((0, "file")) : ledger, 1, 100, 1, new MonotonicClock());

    private static (long, long, long, long) Numbers(LedgerVerdict verdict) =>
        (verdict.Acknowledged, verdict.Lost, verdict.Twice, verdict.Interleaved);

    /// <summary>Answers what it is told to, and then errors.</summary>
    private sealed class Fake(params (long Value, string Activation)[] entries) : ILedger
    {
        private int _next;

        public Task<LedgerEntry> Add() => _next < entries.Length
            ? Task.FromResult(new LedgerEntry(entries[_next].Value, entries[_next++].Activation))
            : Task.FromException<LedgerEntry>(new Orleans.Runtime.OrleansException("No.", new IOException("Full.")));

        public Task<LedgerEntry> Reload() => Add();
    }
}
