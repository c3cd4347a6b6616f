using Orleans.Providers;

namespace ActOp.Planted;

/// <summary>An account that is told what to add, and that clients tell again when they get no answer.</summary>
public interface IAccount : IGrainWithStringKey
{
    Task Deposit(int payment, int amount);

    Task<int> GetBalance();
}

/// <summary>Adds twice what is told twice.</summary>
public interface ICarelessAccount : IAccount;

/// <summary>Knows what it was told before.</summary>
public interface ICarefulAccount : IAccount;

[GenerateSerializer]
public sealed class AccountState
{
    [Id(0)]
    public int Balance { get; set; }

    [Id(1)]
    public HashSet<int> Payments { get; set; } = [];
}

/// <summary>An answer that is lost makes its caller pay again.</summary>
[StorageProvider(ProviderName = "bank")]
public sealed class CarelessAccount : Grain<AccountState>, ICarelessAccount
{
    public Task Deposit(int payment, int amount)
    {
        State.Balance += amount;
        return WriteStateAsync();
    }

    public Task<int> GetBalance() => Task.FromResult(State.Balance);
}

/// <summary>A payment has a number, and one that was made is not made again; a write in doubt ends the activation.</summary>
[StorageProvider(ProviderName = "bank")]
public sealed class CarefulAccount : CarefulGrain<AccountState>, ICarefulAccount
{
    public async Task Deposit(int payment, int amount)
    {
        if (!State.Payments.Add(payment))
            return;
        State.Balance += amount;
        await WriteOrReadAsync();
    }

    public Task<int> GetBalance() => Task.FromResult(State.Balance);
}

/// <summary>The first test of docs/verify.md.</summary>
internal static class AccountFaults
{
    internal static PlantedFault Fault { get; } = new(
        "account", "a payment is made again after an answer that was lost", PayAsync<ICarelessAccount>, PayAsync<ICarefulAccount>,
        "The balance is ", 1, 1);

    private static async Task PayAsync<TAccount>(SimulationWorld world)
        where TAccount : IAccount
    {
        world.Silos.Configure(silo => silo.AddMemoryGrainStorage("bank"));
        world.RandomFaults(crash: true, storage: true);
        await world.Start();
        var account = world.Grains.GetGrain<TAccount>("alice");
        var paid = 0;
        for (var payment = 1; payment <= 5; payment++)
        {
            var number = payment;
            await world.Command("pay " + number, async () =>
            {
                paid += 10;
                await PlantedFault.RetryAsync(world, () => account.Deposit(number, 10));
            });
        }

        await world.Settle();
        var balance = await account.GetBalance();
        world.Check(balance == paid, "The balance is " + balance + " after payments of " + paid + ".");
    }
}
