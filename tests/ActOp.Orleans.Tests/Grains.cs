using Orleans.Concurrency;
using Orleans.Placement;

namespace ActOp.Orleans.Tests;

/// <summary>A grain that calls a partner.</summary>
public interface ITalker : IGrainWithIntegerKey
{
    /// <summary>Calls the partner so many times, one after the other.</summary>
    Task Talk(long partner, int times);

    Task<string> Hear();

    Task<string> Where();
}

/// <summary>It holds nothing, so it may move.</summary>
public sealed class Talker(ILocalSiloDetails silo) : Grain, ITalker
{
    public async Task Talk(long partner, int times)
    {
        for (var i = 0; i < times; i++)
            await GrainFactory.GetGrain<ITalker>(partner).Hear();
    }

    public Task<string> Hear() => Where();

    public Task<string> Where() => Task.FromResult(silo.SiloAddress.ToString());
}

/// <summary>A grain that counts.</summary>
public interface ICounter : IGrainWithIntegerKey
{
    Task<int> Add();

    Task<string> Where();
}

/// <summary>It carries its count when it moves.</summary>
public sealed class CarriedCounter(ILocalSiloDetails silo) : Grain, ICounter, IGrainMigrationParticipant
{
    private int _count;

    public Task<int> Add() => Task.FromResult(++_count);

    public Task<string> Where() => Task.FromResult(silo.SiloAddress.ToString());

    public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue("count", _count);

    public void OnRehydrate(IRehydrationContext rehydrationContext) => rehydrationContext.TryGetValue("count", out _count);
}

/// <summary>A counter that a move would set to zero.</summary>
public interface IForgetfulCounter : IGrainWithIntegerKey
{
    Task<int> Add();

    Task<string> Where();
}

public sealed class ForgetfulCounter(ILocalSiloDetails silo) : Grain, IForgetfulCounter
{
    private int _count;

    public Task<int> Add() => Task.FromResult(++_count);

    public Task<string> Where() => Task.FromResult(silo.SiloAddress.ToString());
}

/// <summary>Calls a counter of either kind.</summary>
public interface ICaller : IGrainWithIntegerKey
{
    Task<int> Carried(long counter);

    Task<int> Forgetful(long counter);

    Task<string> Where();
}

/// <summary>It stays where it is.</summary>
[Immovable(ImmovableKind.Any)]
public sealed class Caller(ILocalSiloDetails silo) : Grain, ICaller
{
    public Task<int> Carried(long counter) => GrainFactory.GetGrain<ICounter>(counter).Add();

    public Task<int> Forgetful(long counter) => GrainFactory.GetGrain<IForgetfulCounter>(counter).Add();

    public Task<string> Where() => Task.FromResult(silo.SiloAddress.ToString());
}

/// <summary>The state of a grain with storage.</summary>
[GenerateSerializer]
public sealed class Total
{
    [Id(0)]
    public int Sum { get; set; }
}

/// <summary>A counter in a state that it never writes.</summary>
public interface IStoredCounter : IGrainWithIntegerKey
{
    Task<int> Add();

    Task<string> Where();
}

public sealed class StoredCounter(ILocalSiloDetails silo) : Grain<Total>, IStoredCounter
{
    public Task<int> Add() => Task.FromResult(++State.Sum);

    public Task<string> Where() => Task.FromResult(silo.SiloAddress.ToString());
}

/// <summary>A grain whose requests interleave.</summary>
public interface IReentrantGrain : IGrainWithIntegerKey
{
    /// <summary>Ends when <see cref="Release"/> is called.</summary>
    Task<string> Wait();

    Task Release();
}

[Reentrant]
public sealed class ReentrantGrain(ILocalSiloDetails silo) : Grain, IReentrantGrain
{
    private readonly TaskCompletionSource _released = new();

    public async Task<string> Wait()
    {
        await _released.Task;
        return silo.SiloAddress.ToString();
    }

    public Task Release()
    {
        _released.TrySetResult();
        return Task.CompletedTask;
    }
}
