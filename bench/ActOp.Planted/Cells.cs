using Orleans.Providers;

namespace ActOp.Planted;

/// <summary>A value.</summary>
public interface ICell : IGrainWithStringKey
{
    Task Set(int value);

    Task<int> Get();
}

/// <summary>Keeps what the storage has refused.</summary>
public interface ICredulousCell : ICell;

/// <summary>Ends its activation when a write is in doubt.</summary>
public interface IDoubtfulCell : ICell;

[GenerateSerializer]
public sealed class CellState
{
    [Id(0)]
    public int Value { get; set; }
}

[StorageProvider(ProviderName = "cells")]
public sealed class CredulousCell : Grain<CellState>, ICredulousCell
{
    public Task Set(int value)
    {
        State.Value = value;
        return WriteStateAsync();
    }

    public Task<int> Get() => Task.FromResult(State.Value);
}

[StorageProvider(ProviderName = "cells")]
public sealed class DoubtfulCell : Grain<CellState>, IDoubtfulCell
{
    private bool _isInDoubt;

    public async Task Set(int value)
    {
        Refuse();
        State.Value = value;
        try
        {
            await WriteStateAsync();
        }
        catch
        {
            _isInDoubt = true;
            DeactivateOnIdle();
            throw;
        }
    }

    public Task<int> Get()
    {
        Refuse();
        return Task.FromResult(State.Value);
    }

    private void Refuse()
    {
        if (_isInDoubt)
            throw new InvalidOperationException("What was written last is not known; the next activation reads it.");
    }
}

/// <summary>What a cell does when one caller at a time calls it.</summary>
public sealed class CellModel
{
    private int _value;

    public void Set(int value) => _value = value;

    public int Get() => _value;
}

/// <summary>No order of the calls explains their results when a value is read that was refused, and then lost.</summary>
internal static class CellFaults
{
    internal static PlantedFault Fault { get; } = new(
        "cell", "a value that the storage has refused is read, and then lost", CallAsync<ICredulousCell>, CallAsync<IDoubtfulCell>,
        "No order of the calls", 2, 5);

    private static async Task CallAsync<TCell>(SimulationWorld world)
        where TCell : ICell
    {
        world.Silos.Configure(silo => silo.AddMemoryGrainStorage("cells"));
        world.RandomFaults(crash: true, storage: true, moves: true);
        await world.Start();
        await world.CheckCommands<TCell, CellModel>(world.Grains.GetGrain<TCell>("one"), 20);
    }
}
