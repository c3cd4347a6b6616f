using Orleans.Concurrency;

namespace ActOp.Verify.Tests;

/// <summary>A wallet that asks another grain before it pays.</summary>
public interface IWallet : IGrainWithStringKey
{
    Task<bool> Pay(int amount);

    Task<int> GetRest();
}

/// <summary>Looks at its money before it asks.</summary>
public interface IForgetfulWallet : IWallet;

/// <summary>Looks at its money when it pays.</summary>
public interface IExactWallet : IWallet;

/// <summary>Permits payments.</summary>
public interface IBank : IGrainWithIntegerKey
{
    Task<bool> Permits(int amount);
}

public sealed class Bank : Grain, IBank
{
    public Task<bool> Permits(int amount) => Task.FromResult(amount < 1000);
}

/// <summary>Requests get between the look and the payment, because the grain is reentrant.</summary>
[Reentrant]
public sealed class ForgetfulWallet : Grain, IForgetfulWallet
{
    private int _rest = 100;

    public async Task<bool> Pay(int amount)
    {
        if (_rest < amount || !await GrainFactory.GetGrain<IBank>(0).Permits(amount))
            return false;
        _rest -= amount;
        return true;
    }

    public Task<int> GetRest() => Task.FromResult(_rest);
}

[Reentrant]
public sealed class ExactWallet : Grain, IExactWallet
{
    private int _rest = 100;

    public async Task<bool> Pay(int amount)
    {
        if (!await GrainFactory.GetGrain<IBank>(0).Permits(amount) || _rest < amount)
            return false;
        _rest -= amount;
        return true;
    }

    public Task<int> GetRest() => Task.FromResult(_rest);
}

/// <summary>Nothing goes wrong here: the order of turns is enough.</summary>
public sealed class WalletTests
{
    [Fact]
    public async Task An_invariant_that_reentrancy_breaks_is_found_and_reduced_to_two_commands()
    {
        var found = await Planted.FindAsync(PayAsync<IForgetfulWallet>, "The wallet has ");
        Planted.AssertReduced(found, faults: 0, commands: 2);
    }

    [Fact]
    public async Task A_wallet_that_looks_when_it_pays_passes() => await Simulation.Explore(Planted.Passed, PayAsync<IExactWallet>);

    private static async Task PayAsync<TWallet>(SimulationWorld world)
        where TWallet : IWallet
    {
        await world.Start();
        var wallet = world.Grains.GetGrain<TWallet>("w");
        await Task.WhenAll(Enumerable.Range(1, 8).Select(number => world.Run("buyer " + number, () =>
            world.Command("pay 60", () => wallet.Pay(60)))));
        var rest = await wallet.GetRest();
        world.Check(rest >= 0, "The wallet has " + rest + ".");
    }
}
