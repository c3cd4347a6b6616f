using Orleans.Concurrency;

namespace ActOp.Planted;

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
internal static class WalletFaults
{
    internal static PlantedFault Fault { get; } = new(
        "wallet", "reentrancy breaks an invariant", PayAsync<IForgetfulWallet>, PayAsync<IExactWallet>, "The wallet has ", 0, 2);

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
