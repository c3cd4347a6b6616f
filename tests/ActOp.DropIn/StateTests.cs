using Microsoft.Extensions.DependencyInjection;
using Orleans.Providers;
using Orleans.Storage;

namespace DropIn;

[GenerateSerializer]
public sealed class Account
{
    [Id(0)]
    public int Balance { get; set; }

    [Id(1)]
    public List<string> Notes { get; set; } = [];
}

public interface IAccount : IGrainWithStringKey
{
    Task<string> Look();

    Task Change(int balance, string note);

    Task Write();

    Task Clear();

    Task Read();

    Task End();

    Task<string> WriteWithForeignETag(bool catches);
}

/// <summary>Two states, in two storages.</summary>
public sealed class AccountGrain(
    [PersistentState("account")] IPersistentState<Account> account,
    [PersistentState("count", "second")] IPersistentState<int> count,
    IServiceProvider services) : Grain, IAccount
{
    private readonly Guid _activation = Guid.NewGuid();

    public Task<string> Look() => Task.FromResult(
        $"{account.State.Balance} [{string.Join(',', account.State.Notes)}] {account.RecordExists} {account.Etag is not null}; "
        + $"{count.State} {count.RecordExists}");

    public Task Change(int balance, string note)
    {
        account.State.Balance = balance;
        account.State.Notes.Add(note);
        count.State++;
        return Task.CompletedTask;
    }

    public async Task Write()
    {
        await account.WriteStateAsync();
        await count.WriteStateAsync();
    }

    public async Task Clear()
    {
        await account.ClearStateAsync();
        await count.ClearStateAsync();
    }

    public Task Read() => account.ReadStateAsync();

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public async Task<string> WriteWithForeignETag(bool catches)
    {
        await account.WriteStateAsync();
        var storage = services.GetRequiredKeyedService<IGrainStorage>(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME);
        var foreign = new GrainState<Account>(new Account { Balance = 99 }, account.Etag);
        await storage.WriteStateAsync("account", this.GetGrainId(), foreign);
        try
        {
            await account.WriteStateAsync();
            return "nothing";
        }
        catch (InconsistentStateException exception) when (catches)
        {
            await account.ReadStateAsync();
            return $"{exception.GetType().Name} {exception.CurrentEtag is not null} {account.State.Balance}";
        }
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        Journal.Of(this.GetPrimaryKeyString()).Add($"{reason.ReasonCode} {_activation != Guid.Empty}");
        return Task.CompletedTask;
    }
}

public interface ILedger : IGrainWithIntegerKey
{
    Task<string> Look();

    Task Add(int amount);

    Task AddInMemory(int amount);

    Task Clear();

    Task Reread();

    Task End();
}

[StorageProvider(ProviderName = "second")]
public sealed class LedgerGrain : Grain<Account>, ILedger
{
    public Task<string> Look() => Task.FromResult($"{State.Balance} [{string.Join(',', State.Notes)}]");

    public async Task Add(int amount)
    {
        await AddInMemory(amount);
        await WriteStateAsync();
    }

    public Task AddInMemory(int amount)
    {
        State.Balance += amount;
        State.Notes.Add("+" + amount);
        return Task.CompletedTask;
    }

    public Task Clear() => ClearStateAsync();

    public Task Reread() => ReadStateAsync();

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }
}

public interface IHomeless : IGrainWithStringKey
{
    Task Call();
}

public sealed class HomelessGrain([PersistentState("state", "nowhere")] IPersistentState<Account> state) : Grain, IHomeless
{
    public Task Call() => state.WriteStateAsync();
}

public interface IHomelessLedger : IGrainWithStringKey
{
    Task Call();
}

[StorageProvider(ProviderName = "nowhere")]
public sealed class HomelessLedgerGrain : Grain<Account>, IHomelessLedger
{
    public Task Call() => WriteStateAsync();
}

public interface IReadAtStart : IGrainWithStringKey
{
    Task<string> Call();
}

/// <summary>What a state is before and after it is read.</summary>
public sealed class ReadAtStartGrain : Grain, IReadAtStart
{
    private readonly IPersistentState<Account> _state;
    private readonly string _inConstructor;
    private string _inActivation = "";

    public ReadAtStartGrain([PersistentState("state")] IPersistentState<Account> state)
    {
        _state = state;
        _inConstructor = $"{state.State?.Balance.ToString() ?? "null"}";
    }

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _inActivation = $"{_state.State.Balance} {_state.RecordExists} {_state.Etag ?? "null"}";
        return Task.CompletedTask;
    }

    public Task<string> Call() => Task.FromResult($"{_inConstructor}; {_inActivation}");
}

/// <summary>States of grains in a storage in memory.</summary>
public class StateTests(CommonCluster cluster)
{
    private static int s_keys;

    private IAccount Account([System.Runtime.CompilerServices.CallerMemberName] string key = "") => cluster.Client.GetGrain<IAccount>(key);

    private ILedger Ledger() => cluster.Client.GetGrain<ILedger>(Interlocked.Increment(ref s_keys));

    private async Task EndAsync(IAccount grain)
    {
        var ended = cluster.Cluster.WaitForDeactivationAsync(grain);
        await grain.End();
        await ended;
    }

    [Fact]
    public async Task A_state_is_empty_until_it_is_written_and_survives_its_activation()
    {
        var grain = Account();
        Assert.Equal("0 [] False False; 0 False", await grain.Look());
        await grain.Change(5, "a");
        Assert.Equal("5 [a] False False; 1 False", await grain.Look());
        await grain.Write();
        Assert.Equal("5 [a] True True; 1 True", await grain.Look());
        await EndAsync(grain);
        Assert.Equal("5 [a] True True; 1 True", await grain.Look());
    }

    [Fact]
    public async Task What_was_not_written_is_lost_with_the_activation_or_by_a_read()
    {
        var grain = Account();
        await grain.Change(5, "a");
        await grain.Write();
        await grain.Change(6, "b");
        await grain.Read();
        Assert.Equal("5 [a] True True; 2 True", await grain.Look());
        await EndAsync(grain);
        Assert.Equal("5 [a] True True; 1 True", await grain.Look());
    }

    [Fact]
    public async Task A_state_that_is_cleared_is_empty_and_can_be_written_again()
    {
        var grain = Account();
        await grain.Change(5, "a");
        await grain.Write();
        await grain.Clear();
        Assert.StartsWith("0 [] False ", await grain.Look(), StringComparison.Ordinal);
        await grain.Change(6, "b");
        await grain.Write();
        await EndAsync(grain);
        Assert.Equal("6 [b] True True; 1 True", await grain.Look());
    }

    [Fact]
    public async Task A_grain_that_catches_a_conflict_and_reads_goes_on() =>
        Assert.Equal("InconsistentStateException True 99", await Account().WriteWithForeignETag(catches: true));

    [Fact]
    public async Task A_conflict_that_escapes_ends_the_activation()
    {
        var grain = Account();
        await grain.Look();
        var ended = cluster.Cluster.WaitForDeactivationAsync(grain);
        var exception = await Assert.ThrowsAsync<InconsistentStateException>(() => grain.WriteWithForeignETag(catches: false));
        Assert.NotNull(exception.CurrentEtag);
        await ended;
        Assert.Equal(["ApplicationError True"], Journal.Of(nameof(A_conflict_that_escapes_ends_the_activation)).Lines);
        Assert.StartsWith("99 [] True", await grain.Look(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_grain_with_a_state_of_its_class_reads_writes_and_clears_it()
    {
        var grain = Ledger();
        await grain.Add(3);
        await grain.Add(4);
        Assert.Equal("7 [+3,+4]", await grain.Look());
        await grain.AddInMemory(1);
        await grain.Reread();
        Assert.Equal("7 [+3,+4]", await grain.Look());
        var ended = cluster.Cluster.WaitForDeactivationAsync(grain);
        await grain.End();
        await ended;
        Assert.Equal("7 [+3,+4]", await grain.Look());
        await grain.Clear();
        Assert.Equal("0 []", await grain.Look());
    }

    [Fact]
    public async Task A_storage_that_does_not_exist_is_named()
    {
        var wrapped = await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.GetGrain<IHomeless>("x").Call());
        var exception = Assert.IsType<BadProviderConfigException>(wrapped.GetBaseException());
        Assert.Contains("nowhere", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_storage_of_a_class_that_does_not_exist_is_named()
    {
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => cluster.Client.GetGrain<IHomelessLedger>("x").Call());
        var inner = Assert.IsType<BadProviderConfigException>(exception as BadProviderConfigException ?? exception.InnerException);
        Assert.Contains("nowhere", inner.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_state_is_read_before_the_activation_begins() =>
        Assert.Equal("null; 0 False null", await cluster.Client.GetGrain<IReadAtStart>("fresh").Call());

    [Fact]
    public async Task Storages_are_services_by_their_names()
    {
        var storage = cluster.ServicesOf(0).GetRequiredKeyedService<IGrainStorage>("second");
        var id = GrainId.Create("somebody", "key");
        var state = new GrainState<Account>(new Account { Balance = 4, Notes = ["x"] });
        await storage.WriteStateAsync("name", id, state);
        Assert.True(state.RecordExists);
        Assert.NotNull(state.ETag);
        var read = new GrainState<Account>();
        await storage.ReadStateAsync("name", id, read);
        Assert.Equal((4, "x", state.ETag), (read.State!.Balance, read.State.Notes.Single(), read.ETag));
        await storage.WriteStateAsync("name", id, state);
        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.WriteStateAsync("name", id, read));
        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.ClearStateAsync("name", id, read));
        await storage.ClearStateAsync("name", id, state);
        await storage.ReadStateAsync("name", id, read);
        Assert.False(read.RecordExists);
    }
}
