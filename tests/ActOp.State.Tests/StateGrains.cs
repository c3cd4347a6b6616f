using System.Reflection;
using ActOp.TestClusters;
using Orleans.Providers;
using Orleans.Storage;

namespace ActOp.State.Tests;

[GenerateSerializer]
public class Account
{
    [Id(0)]
    public int Balance { get; set; }

    [Id(1)]
    public List<string> Entries { get; set; } = [];
}

/// <summary>No constructor without parameters.</summary>
[GenerateSerializer]
public sealed record Card([property: Id(0)] string Holder, [property: Id(1)] int Number);

/// <summary>Not public.</summary>
[GenerateSerializer]
internal sealed class Hidden
{
    [Id(0)]
    internal int Seen { get; set; }

    [Id(1)]
    public int Shown { get; set; }
}

/// <summary>Without [GenerateSerializer].</summary>
public sealed class Unserializable
{
    public int Number { get; set; }
}

public interface IKeeper : IGrainWithGuidKey
{
    Task<int> Balance();

    Task Set(int balance);

    Task Write();

    Task<int> WriteTwice(int first, int second);

    Task Read();

    Task Clear();

    Task<(string? Etag, bool Exists, int Entries)> Version();

    Task<string> Life();

    Task Leave();

    Task End();

    Task WriteWithoutWaiting();

    Task WriteElsewhere();

    Task<SiloAddress> Place();
}

public interface IOtherKeeper : IGrainWithGuidKey
{
    Task WriteOf(Guid keeper, bool rethrow);

    Task<string> Life();
}

/// <summary>Four states of its own and services.</summary>
[GrainType("statekeeper")]
public sealed class KeeperGrain : Grain, IKeeper
{
    private readonly IPersistentState<Account> _account;
    private readonly IPersistentState<Card> _card;
    private readonly IGrainContext _context;

    public KeeperGrain(
        [PersistentState("account", "shelf")] IPersistentState<Account> account,
        ILocalSiloDetails silo,
        [PersistentState("card")] IPersistentState<Card> card,
        IGrainContext context)
    {
        (_account, _card, _context) = (account, card, context);
        Silo = silo.SiloAddress;
    }

    private SiloAddress Silo { get; }

    private int BalanceAtStart { get; set; }

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        BalanceAtStart = _account.State.Balance + (_card.RecordExists ? 1000 : 0);
        return Task.CompletedTask;
    }

    public Task<int> Balance() => Task.FromResult(_account.State.Balance);

    public Task Set(int balance)
    {
        _account.State.Balance = balance;
        return Task.CompletedTask;
    }

    public Task Write() => _account.WriteStateAsync();

    public async Task<int> WriteTwice(int first, int second)
    {
        _account.State.Balance = first;
        var one = _account.WriteStateAsync();
        _account.State.Balance = second;
        var two = _account.WriteStateAsync();
        var three = _account.WriteStateAsync();
        await Task.WhenAll(one, two, three);
        return _account.State.Balance;
    }

    public Task Read() => _account.ReadStateAsync();

    public Task Clear() => _account.ClearStateAsync();

    public Task<(string? Etag, bool Exists, int Entries)> Version() =>
        Task.FromResult((_account.Etag, _account.RecordExists, _account.State.Entries.Count));

    public Task<string> Life() => Task.FromResult(_context.ActivationId + "/" + BalanceAtStart);

    public Task Leave()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task WriteWithoutWaiting()
    {
        _account.State.Balance++;
        _ = _account.WriteStateAsync();
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public async Task WriteElsewhere()
    {
#pragma warning disable ORLEANS0014 // What it warns of is tested here.
        await Task.Delay(TimeSpan.FromMilliseconds(1), TimeProvider.System).ConfigureAwait(false);
#pragma warning restore ORLEANS0014
        await _account.WriteStateAsync();
    }

    public Task<SiloAddress> Place() => Task.FromResult(Silo);
}

public sealed class OtherKeeperGrain(IGrainContext context) : Grain, IOtherKeeper
{
    public async Task WriteOf(Guid keeper, bool rethrow)
    {
        try
        {
            await GrainFactory.GetGrain<IKeeper>(keeper).Write();
        }
        catch (InconsistentStateException) when (!rethrow)
        {
        }
    }

    public Task<string> Life() => Task.FromResult(context.ActivationId.ToString());
}

public interface ILedger : IGrainWithStringKey
{
    Task<int> Add(int amount);

    Task<int> Total();

    Task Clear();

    Task Leave();

    Task<string> Life();
}

public abstract class PersistentLedger<TState> : Grain<TState>
    where TState : Account
{
    public async Task<int> Add(int amount)
    {
        State.Balance += amount;
        await WriteStateAsync();
        return State.Balance;
    }

    public Task<int> Total() => Task.FromResult(State.Balance);

    public Task Clear() => ClearStateAsync();

    public Task Leave()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    public Task<string> Life() => Task.FromResult(GrainContext.ActivationId + " " + RuntimeIdentity);
}

[StorageProvider(ProviderName = "shelf")]
public class LedgerGrain : PersistentLedger<Account>, ILedger;

public interface IDefaultLedger : ILedger;

public sealed class DefaultLedgerGrain : PersistentLedger<Account>, IDefaultLedger;

public interface ILostLedger : ILedger;

[StorageProvider(ProviderName = "nowhere")]
public sealed class LostLedgerGrain : PersistentLedger<Account>, ILostLedger;

public interface IOdd : IGrainWithGuidKey
{
    Task<string> Do();
}

public sealed class LostFacetGrain([PersistentState("thing", "nowhere")] IPersistentState<Account> thing) : Grain, IOdd
{
    public Task<string> Do() => Task.FromResult(thing.State.ToString()!);
}

public interface IHiddenKeeper : IGrainWithGuidKey
{
    Task<int> Count();
}

internal sealed class HiddenKeeperGrain([PersistentState("")] IPersistentState<Hidden> seen) : Grain, IHiddenKeeper
{
    public async Task<int> Count()
    {
        seen.State.Shown++;
        await seen.WriteStateAsync();
        return seen.State.Shown;
    }
}

public interface ICarrier : IGrainWithGuidKey
{
    Task<SiloAddress> Set(int number);

    Task<int> Get();

    Task Write();

    Task Leave();
}

/// <summary>Nothing but a state that can be carried.</summary>
public sealed class CarrierGrain([PersistentState("n", "shelf")] IPersistentState<Account> state, ILocalSiloDetails silo)
    : Grain, ICarrier
{
    public Task<SiloAddress> Set(int number)
    {
        state.State.Balance = number;
        return Task.FromResult(silo.SiloAddress);
    }

    public Task<int> Get() => Task.FromResult(state.State.Balance);

    public Task Write() => state.WriteStateAsync();

    public Task Leave()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }
}

public interface IDoubtfulCarrier : ICarrier;

/// <summary>A state whose storage tells in the ETag what it is not sure of.</summary>
public sealed class DoubtfulCarrierGrain([PersistentState("n", "doubtful")] IPersistentState<Account> state, ILocalSiloDetails silo)
    : Grain, IDoubtfulCarrier
{
    public Task<SiloAddress> Set(int number)
    {
        state.State.Balance = number;
        return Task.FromResult(silo.SiloAddress);
    }

    public Task<int> Get() => Task.FromResult(state.State.Balance);

    public Task Write() => state.WriteStateAsync();

    public Task Leave()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }
}

public interface IHeavyCarrier : ICarrier;

/// <summary>Something beside the state that nobody carries.</summary>
public sealed class HeavyCarrierGrain([PersistentState("n", "shelf")] IPersistentState<Account> state, ILocalSiloDetails silo)
    : Grain, IHeavyCarrier
{
    private int _calls;

    public Task<SiloAddress> Set(int number)
    {
        _calls++;
        state.State.Balance = number;
        return Task.FromResult(silo.SiloAddress);
    }

    public Task<int> Get() => Task.FromResult(state.State.Balance + _calls - _calls);

    public Task Write() => state.WriteStateAsync();

    public Task Leave()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }
}

public interface IStiffCarrier : ICarrier;

/// <summary>A state that cannot be carried.</summary>
public sealed class StiffCarrierGrain([PersistentState("n", "shelf")] IPersistentState<Unserializable> state, ILocalSiloDetails silo)
    : Grain, IStiffCarrier
{
    public Task<SiloAddress> Set(int number)
    {
        state.State.Number = number;
        return Task.FromResult(silo.SiloAddress);
    }

    public Task<int> Get() => Task.FromResult(state.State.Number);

    public Task Write() => state.WriteStateAsync();

    public Task Leave()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }
}

/// <summary>A facet of the application.</summary>
[AttributeUsage(AttributeTargets.Parameter)]
public sealed class GreetingAttribute(string text) : Attribute, IFacetMetadata
{
    public string Text => text;
}

[AttributeUsage(AttributeTargets.Parameter)]
public sealed class UnmappedAttribute : Attribute, IFacetMetadata;

public sealed class GreetingMapper : IAttributeToFactoryMapper<GreetingAttribute>
{
    public Factory<IGrainContext, object> GetFactory(ParameterInfo parameter, GreetingAttribute metadata) =>
        context => metadata.Text + " " + parameter.Name + " of " + context.GrainId.Type;
}

public sealed class GreetedGrain([Greeting("Hello")] string first, IGrainFactory factory, [Greeting("Bye")] string second) : Grain, IOdd
{
    public Task<string> Do() => Task.FromResult(first + ", " + second + (factory is null ? "!" : "."));
}

public sealed class UnmappedGrain([Unmapped] string nothing) : Grain, IOdd
{
    public Task<string> Do() => Task.FromResult(nothing);
}
