namespace ActOp.Upgrade;

/// <summary>What callers of this build do.</summary>
public static class Load
{
    private const int Accounts = 200;

    /// <summary>Calls accounts until told to end, and returns the number of rounds. The first failure ends it.</summary>
    public static async Task<int> RunAsync(IGrainFactory grains, int seed, CancellationToken ended)
    {
        var random = new Random(seed);
        var rounds = 0;
        // Without a pace, the callers take the processors from the silos that start.
        using var pace = new PeriodicTimer(TimeSpan.FromMilliseconds(5));
        for (; !ended.IsCancellationRequested; rounds++)
        {
            await RoundAsync(grains, random.Next(Accounts));
            await pace.WaitForNextTickAsync(CancellationToken.None);
        }

        return rounds;
    }

    /// <summary>All calls of this build on every account, and on every grain that only this build has.</summary>
    public static async Task SweepAsync(IGrainFactory grains)
    {
        for (var account = 0; account < Accounts; account++)
            await RoundAsync(grains, account);
    }

    private static async Task RoundAsync(IGrainFactory grains, long account)
    {
        var grain = grains.GetGrain<IAccountGrain>(account);
#if BUILD2
        var balance = await grain.Book(new Booking { Amount = 1, Kind = BookingKind.Gift, Note = "n" });
        Check(balance.Notes.Length == 2 && balance.Build == 2, "Book ran on the first build.");
        Check(await grain.BookAll([new Item { Amount = 1 }, new GiftItem { For = "me" }]) == 1, "BookAll lost the derived type.");
        Check(await grains.GetGrain<IAuditGrain>(account).Check(account) == 2, "Check found an account of the first build.");
#else
        var balance = await grain.Book(new Booking { Amount = 1, Kind = BookingKind.Refund });
        Check(balance.Port > 0, "Book lost a field.");
        balance = await grain.Read();
        // A member of the second build arrives as its number.
        Check(
            balance.Last is BookingKind.Plain or BookingKind.Refund || (balance.Build == 2 && (int)balance.Last == 2),
            "Read lost a field.");
#endif
    }

    private static void Check(bool condition, string failure)
    {
        if (!condition)
            throw new InvalidOperationException(failure);
    }
}
